"""From the plan to an engine's SQL, written here word by word: no analyst's text passes through."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from discreet.errors import InvalidInput, TooLarge
from discreet.plan.expressions import LARGEST, Call, Column, Expression, Literal, Type, Value
from discreet.plan.operations import common_type
from discreet.sql.dialects import Dialect

_LONGEST_REPEATED = 20_000

# What an operation works on, where it is not what it makes.
_WORKS_ON: dict[str, Type] = {
    **dict.fromkeys(("divide", "sqrt", "floor", "ceil", "round", "limit", "flush"), "real"),
    **dict.fromkeys(("lower", "upper", "trim", "length", "like", "concat"), "text"),
    **dict.fromkeys(("and", "or", "not"), "boolean"),
    "modulo": "integer",
}
_COMPARED = frozenset(
    {"equal", "differs", "less", "less_equal", "greater", "greater_equal", "in", "nullif"}
)
_OWN = frozenset({"is_null", "to_text", "to_real", "to_integer"})


def identifier(name: str, dialect: Dialect) -> str:
    """A name in quotes; quotes inside it are doubled."""
    if dialect.name == "spark" and "${" in name:
        raise InvalidInput(
            f"Spark would replace a part of the name {name!r}.",
            hint="rename the column in a view of the source.",
        )
    return dialect.quote + name.replace(dialect.quote, dialect.quote * 2) + dialect.quote


def constant(value: Value, dialect: Dialect) -> str:
    """A constant of the type that it has in the plan.

    >>> from discreet.sql.dialects import DUCKDB, POSTGRES, SPARK
    >>> constant("it's", DUCKDB), constant(Fraction(1, 2), POSTGRES), constant(-3, SPARK)
    ("'it''s'", "FLOAT8 '0.5'", '(-3L)')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return dialect.text(value)
    if isinstance(value, datetime):
        return dialect.moment.format(value.isoformat(sep=" "))
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, int) and -(2**63) < value < 2**63:
        return dialect.integer(value)
    return real(Fraction(value), dialect)


def real(value: Fraction, dialect: Dialect) -> str:
    """A double: the nearest one to the number, in a form that no engine takes for a decimal."""
    return dialect.real(repr(float(value)))


def cast(text: str, kind: Type, dialect: Dialect) -> str:
    """A value as another type."""
    return f"CAST({text} AS {dialect.types[kind]})"


def expression(node: Expression, dialect: Dialect) -> str:
    """An expression over the columns of one row."""
    if isinstance(node, Column):
        return _column(node, dialect)
    if isinstance(node, Literal):
        return constant(node.value, dialect)
    return _call(node, dialect)


def _column(node: Column, dialect: Dialect) -> str:
    name = identifier(node.name, dialect)
    if node.step is None:
        return name
    # Stored as whole steps: dividing by the denominator gives the double nearest to the decimal.
    steps = cast(name, "real", dialect)
    if node.step.numerator != 1:
        steps = f"{steps} * {real(Fraction(node.step.numerator), dialect)}"
    return f"({steps} / {real(Fraction(node.step.denominator), dialect)})"


def _call(node: Call, dialect: Dialect) -> str:
    operation, arguments = node.operation, node.arguments
    if operation in ("extract", "date_trunc"):
        part = arguments[0]
        assert isinstance(part, Literal)  # noqa: S101  # the operation's rule says so
        templates = dialect.extract if operation == "extract" else dialect.date_trunc
        return templates[str(part.value)].format(expression(arguments[1], dialect))
    if operation == "substring":
        return _substring(arguments, dialect)
    if operation == "case":
        return _case(node, dialect)
    if operation.startswith("to_"):
        return _cast(node, dialect)
    kind = _works_on(node)
    texts = [_as(argument, kind, dialect) for argument in arguments]
    match operation:
        case "and" | "or":
            # Spark takes the (f) of "FROM t WHERE (f)" for the columns of a table called WHERE.
            return texts[0] if len(texts) == 1 else _joined(f" {operation.upper()} ", texts)
        case "concat":
            return _joined(" || ", texts)
        case "least" | "greatest" | "coalesce":
            return f"{operation.upper()}({', '.join(texts)})"
        case "in":
            return f"({texts[0]} IN ({', '.join(texts[1:])}))"
        case "floor" | "ceil" | "round":
            return _to_whole(node, texts[0], dialect)
        case "limit":
            return apply("limit", texts[0], real(LARGEST, dialect), dialect=dialect)
        case "flush":
            bounds = real(1 / LARGEST, dialect), real(Fraction(0), dialect)
            return apply("flush", texts[0], *bounds, dialect=dialect)
        case "nullif" if arguments[0].meaning.type not in (kind, "null"):
            # Compared as one type and returned as another.
            own = expression(arguments[0], dialect)
            return f"CASE WHEN {texts[0]} = {texts[1]} THEN NULL ELSE {own} END"
    return apply(operation, *texts, dialect=dialect)


def _joined(word: str, texts: list[str]) -> str:
    return "(" + word.join(texts) + ")"


def apply(operation: str, *texts: str, dialect: Dialect) -> str:
    """An operation on arguments that are written already."""
    template = dialect.templates[operation]
    for place, text in enumerate(texts):
        if template.count(f"{{{place}}}") > 1 and len(text) > _LONGEST_REPEATED:
            # Repeated in each other, short texts would grow beyond any memory.
            raise TooLarge(
                "the expression is too long once it is written out.",
                hint="nest CLAMP, SQRT, LOWER and products of columns without bounds less deeply.",
            )
    return template.format(*texts)


def _works_on(node: Call) -> Type:
    kind = _WORKS_ON.get(node.operation)
    if kind is None:
        kind = node.meaning.type
        if node.operation in _COMPARED:
            kind = common_type(node.arguments, node.operation)
        elif node.operation in _OWN:
            kind = node.arguments[0].meaning.type
    # Any type will do where there is nothing but NULL.
    return "integer" if kind == "null" else kind


def _as(node: Expression, kind: Type, dialect: Dialect) -> str:
    """An argument as the type that an operation works on."""
    own = node.meaning.type
    if own == kind:
        return expression(node, dialect)
    if own == "null":
        return cast("NULL", kind, dialect)  # whatever it is made of
    if kind == "real" and isinstance(node, Literal) and isinstance(node.value, int):
        return real(Fraction(node.value), dialect)
    return cast(expression(node, dialect), kind, dialect)


def _substring(arguments: tuple[Expression, ...], dialect: Dialect) -> str:
    text, *places = arguments
    start, length = (int(place.value) for place in places)  # type: ignore[union-attr, arg-type]
    if start == 0:
        # What stands before the first character is nothing, and is counted all the same.
        start, length = 1, max(length - 1, 0)
    length = min(length, 2**31 - 1 - start)
    return apply("substring", _as(text, "text", dialect), str(start), str(length), dialect=dialect)


def _to_whole(node: Call, text: str, dialect: Dialect) -> str:
    operation = node.operation
    if operation == "round":
        operation, text = "floor", f"({text} + {real(Fraction(1, 2), dialect)})"
    if node.meaning.type == "integer":
        return _whole(node, operation, text, dialect)
    return apply(operation, text, dialect=dialect)


def _whole(node: Call, operation: str, text: str, dialect: Dialect) -> str:
    """A double as a whole number.

    First it is cut off at the bounds of the result, which doubles that cancel can leave by any
    amount: converting what does not fit would fail, and with it the whole query, for one row.
    """
    both = node.meaning.bounds.bounded
    assert both is not None  # noqa: S101  # the operation's rule says so
    low, high = (real(end, dialect) for end in both)
    kept = apply("kept", text, low, high, dialect=dialect)
    return apply(f"{operation}_to_integer", kept, dialect=dialect)


def _case(node: Call, dialect: Dialect) -> str:
    kind = _works_on(node)
    *pairs, default = node.arguments
    branches = [
        f"WHEN {_as(condition, 'boolean', dialect)} THEN {_as(value, kind, dialect)}"
        for condition, value in zip(pairs[0::2], pairs[1::2], strict=True)
    ]
    return f"CASE {' '.join(branches)} ELSE {_as(default, kind, dialect)} END"


def _cast(node: Call, dialect: Dialect) -> str:
    inner = node.arguments[0]
    target, own = node.meaning.type, inner.meaning.type
    if own == "null":
        return _as(inner, target, dialect)
    text = expression(inner, dialect)
    if own == "boolean" and target != "text":
        text, own = apply("boolean_to_integer", text, dialect=dialect), "integer"
    if own == target:
        return text
    if own == "real" and target == "integer":
        half = real(Fraction(1, 2), dialect)
        return _whole(node, "floor", f"({text} + {half})", dialect)
    if target == "text":
        return apply("date_to_text" if own == "date" else "to_text", text, dialect=dialect)
    return cast(text, target, dialect)
