"""The page of statements is generated, and leaves none out."""

import pytest

from docs.theory import generate

# The checklist: what the theory consists of, section by section.
EXPECTED = {
    "Databases and neighbours": """
        rows-to-histogram histogram-to-rows add-remove change-one relation-named doubling-pure
        doubling-approximate doubling-rho no-converse units
    """,
    "Sensitivity": """
        count fraction linear-sum linear-average sum mean maximum minimum histogram k-counts
        unbounded-sum unbounded-mean median median-found k-rows-add k-rows-change
        k-rows-change-grouped k-rows-count g-groups mean-age mean-age-density l1-norm
    """,
    "Mechanisms": """
        laplace-density laplace-moments laplace-private laplace-quotient upper-bound geometric
        geometric-private gaussian machine
    """,
    "Accuracy": """
        laplace-tail laplace-tail-k mean-error rms-error tail l1-error largest-tail largest-mean
        counties-change-one counties-add-remove geometric-tail n-central n-local n-local-ln3
        n-population halving-alpha halving-epsilon one-over-n epsilon-for-error
    """,
    "Randomized response": "two-coins expected-yes estimate truth local root-n worse",
    "Properties": """
        composition adaptive tighter exact-composition parallel parallel-change-one disjoint-rows
        group group-delta post-processing deterministic side-information subsample
        subsample-independent subsample-delta
    """,
    "The definition, several ways": """
        max-divergence hockey-stick kl outputs-and-events wrong-yardstick distance-bound simulation
        simulation-half bayes bayes-incomparable bayes-incomparable-back bayes-independent
        bayes-joint bayes-distance bayes-distance-textbook linkage-raw linkage-private
    """,
}

# Worked numbers, typed from the theory and not from the page.
NUMBERS = {
    "rows-to-histogram": ["(3, 1)"],
    "mean-age": ["3/2"],
    "counties-change-one": ["20", "≈ 181.059"],
    "counties-add-remove": ["10", "≈ 90.5293"],
    "n-local-ln3": ["7500"],
    "two-coins": ["ln(3) = 1.09861"],
    "one-over-n": ["≈ 1.41421"],
    "l1-norm": ["5"],
    "fraction": ["*refused*: NoSensitivity", "1/50"],
    "unbounded-sum": ["*refused*: UnboundedSensitivity"] * 2,
    "wrong-yardstick": ["1/50", "∞"],
    "histogram": ["1", "2"],
    "subsample-delta": ["1/4", "∞"],
}


def test_the_page_is_the_one_that_is_generated():
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page()


def test_no_statement_is_missing():
    found = {title: [each.key for each in group] for title, group in generate.SECTIONS.items()}
    assert found == {title: keys.split() for title, keys in EXPECTED.items()}
    assert all(each.calls for group in generate.SECTIONS.values() for each in group)


@pytest.mark.parametrize("key", NUMBERS)
def test_worked_numbers(key):
    (statement,) = (
        each for group in generate.SECTIONS.values() for each in group if each.key == key
    )
    assert [generate.evaluate(call) for call in statement.calls] == NUMBERS[key]
