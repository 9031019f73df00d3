"""Numbers that mean what they say: parameters read as exact rationals."""

from __future__ import annotations

import numbers
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidInput, InvalidNumber

Rational: TypeAlias = int | float | str | Fraction | Decimal
"""What is accepted wherever an exact parameter is expected."""

# A string such as "1e-999999999" is short to write and would fill the memory as a fraction.
_LARGEST_EXPONENT = 20_000


def rational(
    value: Rational, *, name: str = "value", error: type[InvalidInput] = InvalidNumber
) -> Fraction:
    """Read ``value`` as the exact rational it shows.

    A float stands for the shortest decimal that prints it, because that is what its writer
    meant; use ``Fraction(x)`` for the binary number behind it.

    >>> rational(0.1)
    Fraction(1, 10)
    >>> rational("1/3"), rational("2.5e-3"), rational(7)
    (Fraction(1, 3), Fraction(1, 400), Fraction(7, 1))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal | str) or (
        isinstance(value, numbers.Real) and not isinstance(value, bool)
    ):
        # str() of any binary float, NumPy's narrow ones included, is its shortest decimal.
        parsed = _parse(str(value))
        if parsed is not None:
            return parsed
    raise error(
        f"{name} = {value!r} is not a finite number that can be taken exactly.",
        hint=f'give an int, a Fraction, or text such as {name}="1/10" or {name}="0.1".',
    )


def _parse(text: str) -> Fraction | None:
    _, _, exponent = text.lower().partition("e")
    try:
        if exponent and abs(int(exponent)) > _LARGEST_EXPONENT:
            return None
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
