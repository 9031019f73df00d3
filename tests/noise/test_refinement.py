"""How often balls are asked: the page's table has the right order of magnitude.

Counts are held against the Poisson law; each bound is crossed by chance less than once in 10^6.
"""

import pytest
from scipy.special import pdtr, pdtrc

from bench.refinement import BEGIN, DECADES, END, PAGE, lines, rate, written
from discreet.noise import RoundedGaussian, TwoSidedGeometric

DRAWS = 1 << 22
TABLE = written(PAGE.read_text())


def test_the_page_has_a_row_for_every_decade():
    assert list(TABLE) == list(DECADES)
    rows = [(decade, *shares) for decade, shares in TABLE.items()]
    assert BEGIN + lines(rows) + END in PAGE.read_text()


@pytest.mark.parametrize("decade", [3, 6, 9, 12, 15])
@pytest.mark.parametrize(("kind", "column"), [(TwoSidedGeometric, 0), (RoundedGaussian, 1)])
def test_the_share_of_draws_that_balls_settle_is_of_the_order_written_down(decade, kind, column):
    claimed = TABLE[decade][column]
    seen = round(rate(kind(10**decade), DRAWS) * DRAWS)
    # As many, or as few, as a share between half and twice the one written down would give.
    assert seen == 0 or pdtrc(seen - 1, 2 * claimed * DRAWS) > 1e-6
    assert pdtr(seen, claimed * DRAWS / 2) > 1e-6


@pytest.mark.parametrize("decade", [-6, -1, 0, 1, 2])
def test_the_share_of_a_table_is_the_one_written_down(decade):
    for kind, claimed in zip((TwoSidedGeometric, RoundedGaussian), TABLE[decade], strict=True):
        assert f"{rate(kind(f'1e{decade}'), 0):.1e}" == f"{claimed:.1e}"


def test_balls_settle_few_draws_below_ten_to_the_twelfth():
    for decade, shares in TABLE.items():
        assert max(shares) < (2e-5 if decade <= 12 else 1e-2)
