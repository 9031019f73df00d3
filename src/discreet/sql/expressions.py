"""Reading expressions: sqlglot's nodes become the plan's operations, one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from discreet.errors import InvalidQuery, TooLarge, UnknownName
from discreet.exact import rational
from discreet.plan.expressions import LARGEST, Expression, Literal, Value, literal
from discreet.plan.lengths import LONGEST_TEXT
from discreet.plan.operations import call
from discreet.sql.syntax import excerpt, only, part, terms, unsupported

Resolve: TypeAlias = Callable[[exp.Expression], Expression | None]
"""What a scope knows: an expression for the nodes that it owns, such as columns, else None."""

_BINARY: dict[type[exp.Expression], str] = {
    exp.Add: "add",
    exp.Sub: "subtract",
    exp.Mul: "multiply",
    exp.Div: "divide",
    exp.Mod: "modulo",
    exp.EQ: "equal",
    exp.NEQ: "differs",
    exp.LT: "less",
    exp.LTE: "less_equal",
    exp.GT: "greater",
    exp.GTE: "greater_equal",
    exp.And: "and",
    exp.Or: "or",
    exp.DPipe: "concat",
    exp.Nullif: "nullif",
}

_UNARY: dict[type[exp.Expression], str] = {
    exp.Neg: "negate",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Sqrt: "sqrt",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Trim: "trim",
    exp.Length: "length",
}

_CASTS: dict[str, str] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "to_integer"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "to_real"),
    **dict.fromkeys(("VARCHAR", "TEXT"), "to_text"),
    "DATE": "to_date",
}


def read(node: exp.Expression, resolve: Resolve) -> Expression:
    """The expression that a node means in a scope."""
    if not isinstance(node, exp.Expr):  # sqlglot leaves None where an argument is missing
        raise InvalidQuery("an argument is missing.", hint="ABS(x), not ABS()")
    known = resolve(node)
    if known is not None:
        return known

    def inner(child: exp.Expression) -> Expression:
        return read(child, resolve)

    if isinstance(node, exp.And | exp.Or):
        return call(_BINARY[type(node)], *(inner(term) for term in terms(node)))
    operation = _BINARY.get(type(node))
    if operation is not None:
        only(node, "this", "expression")
        return call(operation, inner(node.this), inner(node.expression))
    operation = _UNARY.get(type(node))
    if operation is not None:
        only(node, "this")
        value = inner(node.this)
        if operation == "negate" and isinstance(value, Literal) and _is_number(value.value):
            return literal(-value.value)  # type: ignore[operator]
        return call(operation, value)
    reader = _READERS.get(type(node))
    if reader is None:
        raise unsupported(node)
    return reader(node, inner)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _paren(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this")
    return inner(node.this)


def _literal(node: exp.Expression, inner: object) -> Expression:  # noqa: ARG001
    only(node, "this")
    if node.args.get("is_string"):
        return literal(_short(str(node.this)))
    number = rational(str(node.this), name="a number", error=InvalidQuery)
    if number and not 1 / LARGEST <= abs(number) <= LARGEST:
        raise InvalidQuery(
            f"{excerpt(node, 40)} is beyond what engines can compute with.", hint="1e100 or 1e-100"
        )
    # Whole numbers have 64 bits; what is larger is a double to every engine.
    whole = str(node.this).isdigit() and number < 2**63
    return literal(int(number) if whole else number)


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise TooLarge(
            f"a text of the query has {len(text):,} characters; {LONGEST_TEXT:,} are the most.",
            hint="cells are cut off there too, so a longer one would equal none.",
        )
    return text


def _boolean(node: exp.Expression, inner: object) -> Expression:  # noqa: ARG001
    return literal(bool(node.this))


def _null(node: exp.Expression, inner: object) -> Expression:  # noqa: ARG001
    only(node)
    return literal(None)


def _like(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "expression", "negate")
    found = call("like", inner(node.this), inner(node.expression))
    return call("not", found) if node.args.get("negate") else found


def _between(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "low", "high")
    value = inner(node.this)
    return call(
        "and",
        call("greater_equal", value, inner(part(node, "low"))),
        call("less_equal", value, inner(part(node, "high"))),
    )


def _in(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "expressions")
    return call("in", inner(node.this), *(inner(value) for value in node.expressions))


def _is(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "expression")
    value, other = inner(node.this), node.expression
    if isinstance(other, exp.Null):
        return call("is_null", value)
    if isinstance(other, exp.Boolean):
        # IS TRUE and IS FALSE are never NULL.
        same = value if other.this else call("not", value)
        return call("coalesce", same, literal(value=False))
    raise unsupported(node, "x IS NULL, x IS NOT NULL, x IS TRUE")


def _case(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "ifs", "default")
    subject = node.args.get("this")
    arguments: list[Expression] = []
    for branch in part(node, "ifs"):
        only(branch, "this", "true")
        condition = inner(branch.this)
        if subject is not None:
            condition = call("equal", inner(subject), condition)
        arguments += [condition, inner(part(branch, "true"))]
    default = node.args.get("default")
    arguments.append(literal(None) if default is None else inner(default))
    return call("case", *arguments)


def _if(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    return call(
        "case",
        inner(node.this),
        inner(part(node, "true")),
        literal(None) if otherwise is None else inner(otherwise),
    )


def _several(name: str) -> Callable[..., Expression]:
    def reader(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
        only(node, "this", "expressions")
        return call(name, inner(node.this), *(inner(value) for value in node.expressions))

    return reader


def _substring(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "start", "length")
    length = node.args.get("length")
    return call(
        "substring",
        inner(node.this),
        inner(part(node, "start")),
        literal(2**31 - 1) if length is None else inner(length),
    )


def _round(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "decimals")
    value, decimals = inner(node.this), node.args.get("decimals")
    if decimals is None:
        return call("round", value)
    if not isinstance(decimals, exp.Literal) or not str(decimals.this).isdigit():
        raise unsupported(node, "ROUND(x) or ROUND(x, 2)")
    places = int(str(decimals.this))
    if places > 12:
        raise unsupported(node, "ROUND(x, 2), with at most 12 places")
    factor = literal(Fraction(10**places))
    return call("divide", call("round", call("multiply", value, factor)), factor)


def _extract(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "expression")
    return call("extract", literal(str(node.this.name).lower()), inner(node.expression))


def _part(name: str) -> Callable[..., Expression]:
    def reader(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
        only(node, "this")
        return call("extract", literal(name), inner(node.this))

    return reader


def _date_trunc(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "unit")
    unit = part(node, "unit")
    return call("date_trunc", literal(str(unit.name).lower()), inner(node.this))


def _cast(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "to")
    target = part(node, "to")
    only(target, "this")
    name = target.this.name if hasattr(target.this, "name") else str(target.this)
    value = inner(node.this)
    if isinstance(node.this, exp.Literal) and node.this.args.get("is_string"):
        return _dated(str(node.this.this), name, node)
    operation = _CASTS.get(name)
    if operation is None:
        raise unsupported(node, "CAST to INTEGER, DOUBLE, VARCHAR or DATE, where it cannot fail")
    return call(operation, value)


def _dated(text: str, name: str, node: exp.Expression) -> Expression:
    """``DATE '2026-01-31'`` and ``TIMESTAMP '2026-01-31 12:00:00'``."""
    try:
        if name == "DATE":
            return literal(date.fromisoformat(text))
        if name in ("TIMESTAMP", "TIMESTAMPNTZ"):
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                return literal(moment)
    except ValueError:
        raise InvalidQuery(f"{excerpt(node)} is not a date.", hint="DATE '2026-01-31'") from None
    raise unsupported(node, "DATE '2026-01-31' or TIMESTAMP '2026-01-31 12:00:00'")


def _anonymous(node: exp.Expression, inner: Callable[[exp.Expression], Expression]) -> Expression:
    only(node, "this", "expressions")
    name = str(node.this).lower()
    if name == "clamp":
        return call("clamp", *(inner(argument) for argument in node.expressions))
    raise UnknownName(
        f"{str(node.this).upper()} is not a function that is known here.",
        hint="`discreet help sql` lists the functions.",
    )


_READERS: dict[type[exp.Expression], Callable[..., Expression]] = {
    exp.Paren: _paren,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Like: _like,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _several("coalesce"),
    exp.Least: _several("least"),
    exp.Greatest: _several("greatest"),
    exp.Substring: _substring,
    exp.Round: _round,
    exp.Extract: _extract,
    exp.Year: _part("year"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.Quarter: _part("quarter"),
    exp.TimestampTrunc: _date_trunc,
    exp.DateTrunc: _date_trunc,
    exp.Cast: _cast,
    exp.Anonymous: _anonymous,
}
