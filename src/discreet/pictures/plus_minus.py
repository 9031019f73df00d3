"""A number and its interval in a few characters, rounded so that they hold all of it."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

_SKEWED = Decimal("1.5")
"""How much longer one side of an interval may be than the other and still be told as ±."""
_EXACT = Context(prec=400)
_MOST_PLACES = 12


def plus_minus(value: float, low: float, high: float, *, whole: bool = False) -> str:
    """The number ± the longer side of its interval, or from where to where if that is skewed.

    Two digits of the interval are shown, and rounding only ever makes it longer: what is between
    the ends is within what is shown. ``whole`` numbers have no decimals.

    >>> plus_minus(841, 837, 844, whole=True), plus_minus(57.613, 57.39, 57.84)
    ('841 ± 4', '57.61 ± 0.23')
    >>> plus_minus(230.8, -151.6, 874.6)
    '231 (-152 to 875)'
    """
    exact, least, most = (
        Decimal(each) if isinstance(each, int) else Decimal(repr(float(each)))
        for each in (value, low, high)
    )
    sides = sorted([_EXACT.subtract(exact, least), _EXACT.subtract(most, exact)])
    if sides[0] == sides[1] == 0:
        return f"{number(value)} ± 0"
    places = 0 if whole else digits_after_point(float(max(sides)))
    shown = _rounded(exact, places, ROUND_HALF_EVEN)
    # Of whole numbers one side may be a step longer however short both are.
    if sides[1] <= max(_SKEWED * sides[0], sides[0] + whole):
        reach = max(_EXACT.subtract(most, shown), _EXACT.subtract(shown, least))
        return f"{shown:,f} ± {_rounded(reach, places, ROUND_CEILING):,f}"
    ends = _rounded(least, places, ROUND_FLOOR), _rounded(most, places, ROUND_CEILING)
    return f"{shown:,f} ({ends[0]:,f} to {ends[1]:,f})"


def number(value: float, half_width: float | None = None) -> str:
    """A number with as many digits as its interval leaves meaningful: two of the interval's.

    >>> number(1234.5678, 20.0), number(0.123456, 0.015), number(1.9349, 1.05)
    ('1,235', '0.123', '1.9')
    """
    if half_width is None or half_width == 0:
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,.{digits_after_point(half_width)}f}"


def digits_after_point(half_width: float) -> int:
    """How many decimals make the interval two digits long."""
    places = 0
    while places < _MOST_PLACES and half_width * 10**places < 10:
        places += 1
    return places


def _rounded(exact: Decimal, places: int, direction: str) -> Decimal:
    rounded = exact.quantize(Decimal(1).scaleb(-places), rounding=direction, context=_EXACT)
    return abs(rounded) if rounded == 0 else rounded  # there is no -0
