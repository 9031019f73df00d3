"""From the plan to an engine's SQL, written here word by word: no analyst's text passes through."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from discreet.errors import TooLarge
from discreet.plan.expressions import Call, Column, Expression, Literal, Type, Value
from discreet.sql.dialects import Dialect

_TYPES: dict[Type, str] = {
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}

# Operations whose arguments are doubles as soon as their result is.
_ARITHMETIC = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "negate",
        "abs",
        "clamp",
        "least",
        "greatest",
        "case",
        "coalesce",
    }
)
_ALWAYS_REAL = frozenset({"divide", "sqrt", "round"})
_CHAIN = frozenset({"add", "subtract", "multiply", "divide", "negate", "abs"})
# Operations that an engine would compute in 32 bits, and overflow, if its constants are that short.
_WHOLE = frozenset({"add", "subtract", "multiply", "modulo", "negate", "abs"})
# Operations whose arguments are written more than once.
_REPEATED = frozenset({"sqrt", "clamp"})
_LONGEST_REPEATED = 10_000


def identifier(name: str) -> str:
    """A name in quotes; quotes inside it are doubled."""
    return '"' + name.replace('"', '""') + '"'


def constant(value: Value) -> str:
    """A constant.

    >>> constant("it's"), constant(Fraction(1, 2)), constant(-3)
    ("'it''s'", '0.5e0', '(-3)')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Fraction):
        text = real(value)
    elif -(2**63) < value < 2**63:
        text = str(value)
    else:
        text = real(Fraction(value))
    return f"({text})" if text.startswith("-") else text


def real(value: Fraction) -> str:
    """A double: the nearest one to the number, in a form that no engine takes for a decimal."""
    text = repr(float(value))
    return text if "e" in text else text + "e0"


def expression(node: Expression, dialect: Dialect, *, inside: bool = False) -> str:
    """An expression over the columns of one row.

    Doubles that nothing bounds may overflow. Where they leave arithmetic, what is not finite
    becomes NULL; ``inside`` a chain of arithmetic the check waits for its end.
    """
    if isinstance(node, Column):
        return _column(node)
    if isinstance(node, Literal):
        return constant(node.value)
    text = _call(node, dialect)
    if (
        not inside
        and node.operation in _CHAIN
        and node.meaning.type == "real"
        and node.meaning.bounds.bounded is None
    ):
        _check_repeated(text)
        return f"CASE WHEN {dialect.is_finite.format(text)} THEN {text} END"
    return text


def _column(node: Column) -> str:
    name = identifier(node.name)
    if node.step is None:
        return name
    # Stored as whole steps: dividing by the denominator gives the double nearest to the decimal.
    scaled = name if node.step.numerator == 1 else f"{name} * {real(Fraction(node.step.numerator))}"
    return f"({scaled} / {real(Fraction(node.step.denominator))})"


def _call(node: Call, dialect: Dialect) -> str:
    operation, arguments = node.operation, node.arguments
    if operation in ("extract", "date_trunc"):
        template = dialect.extract if operation == "extract" else dialect.date_trunc
        part = arguments[0]
        assert isinstance(part, Literal)  # noqa: S101  # the operation's rule says so
        return template.format(expression(arguments[1], dialect), part=part.value)
    if operation in ("to_real", "to_integer"):
        return _cast(node, dialect)
    if operation == "divide":
        # An infinite divisor would make a number of what is to be NULL.
        inside = [True, False]
    else:
        # What is bounded is not checked later, so its parts are checked where they are.
        inside = [operation in _CHAIN and node.meaning.bounds.bounded is None] * len(arguments)
    as_real = operation in _ALWAYS_REAL or (
        operation in _ARITHMETIC and node.meaning.type == "real"
    )
    whole = operation in _WHOLE and not as_real
    texts = [
        _argument(argument, dialect, as_real=as_real, whole=whole, inside=each)
        for argument, each in zip(arguments, inside, strict=True)
    ]
    if operation in _REPEATED:
        _check_repeated(texts[0])
    if operation == "case":
        return _case(texts)
    if operation in ("and", "or"):
        return "(" + f" {operation.upper()} ".join(texts) + ")"
    if operation == "concat":
        return "(" + " || ".join(texts) + ")"
    if operation in ("least", "greatest", "coalesce"):
        return f"{operation.upper()}({', '.join(texts)})"
    if operation == "in":
        return f"({texts[0]} IN ({', '.join(texts[1:])}))"
    text = dialect.templates[operation].format(*texts)
    if operation in ("floor", "ceil", "round") and node.meaning.type == "integer":
        return f"CAST({text} AS {dialect.whole})"
    return text


def _argument(
    node: Expression, dialect: Dialect, *, as_real: bool, whole: bool, inside: bool
) -> str:
    text = expression(node, dialect, inside=inside)
    if as_real and node.meaning.type == "integer":
        return f"CAST({text} AS {dialect.real})"
    if whole and not isinstance(node, Column):
        return f"CAST({text} AS {dialect.whole})"
    return text


def _check_repeated(text: str) -> None:
    """Repeated in each other, short texts would grow beyond any memory."""
    if len(text) > _LONGEST_REPEATED:
        raise TooLarge(
            "the expression is too long once it is written out.",
            hint="nest CLAMP, SQRT and CAST less deeply.",
        )


def _case(texts: list[str]) -> str:
    *pairs, default = texts
    branches = [
        f"WHEN {condition} THEN {value}"
        for condition, value in zip(pairs[0::2], pairs[1::2], strict=True)
    ]
    return f"CASE {' '.join(branches)} ELSE {default} END"


def _cast(node: Call, dialect: Dialect) -> str:
    inner = node.arguments[0]
    text = expression(inner, dialect)
    if inner.meaning.type == "boolean":
        _check_repeated(text)
        text = f"CASE WHEN {text} THEN 1 WHEN NOT {text} THEN 0 END"
    elif node.operation == "to_integer" and inner.meaning.type == "real":
        return f"CAST(FLOOR({text} + 0.5e0) AS {dialect.whole})"
    target = dialect.real if node.operation == "to_real" else dialect.whole
    return f"CAST({text} AS {target})"


def sql_type(kind: Type, dialect: Dialect) -> str:
    """An engine's name for a type."""
    return {"integer": dialect.whole, "real": dialect.real}.get(kind) or _TYPES[kind]
