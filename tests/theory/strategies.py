"""Random distributions, channels and priors, with rational probabilities and zeros among them."""

from collections.abc import Hashable, Sequence
from fractions import Fraction

from hypothesis import strategies as st

from discreet.theory import Channel, all_rows

WEIGHTS = st.integers(min_value=0, max_value=12)


def normalized(weights: Sequence[int]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]


def distributions(outputs: int, *, positive: bool = False) -> st.SearchStrategy[list[Fraction]]:
    weights = st.integers(1, 12) if positive else WEIGHTS
    return st.lists(weights, min_size=outputs, max_size=outputs).filter(any).map(normalized)


@st.composite
def channels(
    draw: st.DrawFn,
    *,
    inputs: tuple[Hashable, ...] | None = None,
    outputs: int | None = None,
    positive: bool = False,
) -> Channel:
    many = len(inputs) if inputs is not None else draw(st.integers(2, 4))
    columns = outputs or draw(st.integers(2, 4))
    rows = [draw(distributions(columns, positive=positive)) for _ in range(many)]
    return Channel(rows, inputs=inputs)


@st.composite
def database_channels(draw: st.DrawFn, *, positive: bool = False) -> Channel:
    """Channels over all databases of one to three rows with two or three types."""
    types = draw(st.integers(2, 3))
    size = draw(st.integers(1, 3 if types == 2 else 2))
    inputs = tuple(all_rows(range(types), size))
    return draw(channels(inputs=inputs, outputs=3, positive=positive))


def losses() -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=0, max_value=3, max_denominator=8)


def deltas() -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=0, max_value=1, max_denominator=12)
