"""Writes `statements.md`: every statement of the theory, the call that computes it, the number.

Run it after changing a statement: `python docs/theory/generate.py`. A test keeps the page equal to
what this gives, so no number on it is typed by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import discreet.theory
from discreet.errors import DiscreetError
from discreet.exact import Real
from discreet.theory import INFINITY, Log, Relation

PAGE = Path(__file__).with_name("statements.md")

HEADER = """\
# The theory, statement by statement

Every statement that this system rests on, the call that computes it, and what the call gives. The
page is written by `python docs/theory/generate.py`, and a test keeps it so. The calls need

```python
from fractions import Fraction
from discreet.theory import *
```

Where a number is rational it is shown as one; a logarithm is shown with its decimals after "=";
other reals are shown to six digits after "≈". *refused* means that the call raises the error named.
"""


@dataclass(frozen=True)
class Statement:
    """One statement in words, and the calls that show it."""

    key: str
    words: str
    calls: tuple[str, ...]


def s(key: str, words: str, *calls: str) -> Statement:
    """Shorthand for the long list below."""
    return Statement(key, words, calls)


RELATIONS = ("add_remove", "change_one")


def both(query: str) -> tuple[str, ...]:
    """A query's l1 sensitivity under each relation."""
    return tuple(f'{query}.l1("{relation}")' for relation in RELATIONS)


ROWS = "RowBounded(rows_per_unit=20, bounds=(-10, 110)"
LINE = "[(n, n + 1) for n in range(9)]"
COUNTIES = 'table_errors(counts=3143, epsilon="0.1"'
CURVE = "scale=Fraction(1), sensitivity=Fraction(1)"

SECTIONS: dict[str, tuple[Statement, ...]] = {
    "Databases and neighbours": (
        s(
            "rows-to-histogram",
            "Rows become a count per type.",
            'to_histogram(["Y", "Y", "N", "Y"], ("Y", "N")).counts',
        ),
        s(
            "histogram-to-rows",
            "A count per type becomes rows.",
            'to_rows(Histogram(("Y", "N"), (3, 1)))',
        ),
        s(
            "add-remove",
            "Add/remove: neighbours are histograms at l1 distance 1; the size is private.",
            'distance(("a", "b"), ("a",), "add_remove")',
            'distance(("a", "b"), ("a", "c"), "add_remove")',
        ),
        s(
            "change-one",
            "Change-one: neighbours differ in one row; the size is public and fixed.",
            'distance(("a", "b"), ("a", "c"), "change_one")',
            'distance(("a", "b"), ("a",), "change_one")',
        ),
        s(
            "relation-named",
            "Every guarantee names its relation.",
            'Guarantee(1, relation="change_one").relation',
        ),
        s(
            "doubling-pure",
            "epsilon under add/remove is at most 2 epsilon under change-one.",
            'Guarantee("1/10").under_change_one().epsilon',
        ),
        s(
            "doubling-approximate",
            "(epsilon, delta) becomes (2 epsilon, (1 + e^epsilon) delta).",
            'Guarantee("ln 3", "1/100").under_change_one().epsilon',
            'Guarantee("ln 3", "1/100").under_change_one().delta',
        ),
        s("doubling-rho", "rho becomes 4 rho.", 'rho_for_group("1/10", 2)'),
        s(
            "no-converse",
            "There is no way back: the size may be printed under change-one only.",
            'deterministic(len, [(), ("a",), ("b",)]).epsilon("change_one")',
            'deterministic(len, [(), ("a",), ("b",)]).epsilon("add_remove")',
        ),
        s(
            "units",
            "The unit is a person, who may own many rows.",
            'by_unit([("ann", 3), ("bob", 5), ("ann", 4)], unit=lambda row: row[0])',
            'len(unit_universe(("tea", "milk"), rows_per_unit=2))',
        ),
    ),
    "Sensitivity": (
        s("count", "A count with a predicate: 1 and 1.", *both("Count()")),
        s("fraction", "A fraction of n rows: not defined, and 1/n.", *both("Proportion(size=50)")),
        s("linear-sum", "A linear query with weights in [0, 1]: 1 and 1.", *both("Linear()")),
        s("linear-average", "Its average: not defined, and 1/n.", *both("LinearAverage(size=50)")),
        s(
            "sum",
            "A sum of values in [a, b]: max(abs a, abs b), and b - a.",
            *both("Sum(bounds=(-2, 5))"),
        ),
        s(
            "mean",
            "A mean of values in [a, b] over at least n rows: not defined, and (b - a)/n.",
            *both("Mean(size=50, bounds=(-2, 5))"),
        ),
        s("maximum", "A maximum: b - a and b - a.", *both("Maximum(bounds=(-2, 5))")),
        s("minimum", "A minimum: b - a and b - a.", *both("Minimum(bounds=(-2, 5))")),
        s(
            "histogram",
            "A histogram, whatever the number of disjoint bins: 1 and 2.",
            *both("Bins(range(50))"),
        ),
        s(
            "k-counts",
            "k arbitrary counts at once: k and k.",
            *both("Together(*[Count()] * 7)"),
        ),
        s("unbounded-sum", "A sum of unbounded values: infinite.", *both("Sum()")),
        s("unbounded-mean", "A mean of unbounded values: infinite.", *both("Mean(size=50)")),
        s("median", "The plain median: as bad as the range.", *both("Median(bounds=(0, 10))")),
        s(
            "median-found",
            "Brute force finds the median moving by the whole range.",
            'brute_force(Median(bounds=(0, 10)), (0, 10), "change_one", size=3).l1',
        ),
        s(
            "k-rows-add",
            "A unit with at most K kept rows in [a, b], add/remove: l1 = l2 = K M, grouped or not.",
            f'{ROWS}).l1("add_remove")',
            f'{ROWS}, groups=range(9)).l1("add_remove")',
            f'{ROWS}, groups=range(9)).l2("add_remove")',
        ),
        s("k-rows-change", "Change-one, ungrouped: K R.", f'{ROWS}).l1("change_one")'),
        s(
            "k-rows-change-grouped",
            "Change-one, grouped: l1 = 2 K M, l2 = max(sqrt(2) K M, K R).",
            f'{ROWS}, groups=range(9)).l1("change_one")',
            f'{ROWS}, groups=range(9)).l2("change_one")',
            'RowBounded(rows_per_unit=3, bounds=(-5, 5), groups=range(9)).l2("change_one")',
        ),
        s(
            "k-rows-count",
            "Counts are the case a = b = 1.",
            'RowBounded(rows_per_unit=20, bounds=(1, 1)).l1("add_remove")',
        ),
        s(
            "g-groups",
            "At most G groups, clipped to C in each (add/remove): l1 = G C, l2 = sqrt(G) C.",
            'GroupBounded(groups_per_unit=4, clip=10, groups=range(50)).l1("add_remove")',
            'GroupBounded(groups_per_unit=4, clip=10, groups=range(50)).l2("add_remove")',
        ),
        s(
            "mean-age",
            "Mean age, ages in [0, 150], at least 100 people: 1.5.",
            'Mean(size=100, bounds=(0, 150)).l1("change_one")',
        ),
        s(
            "mean-age-density",
            "So at epsilon = 1 the answer's density is (1/3) exp(-abs(z - y)/1.5): 1/3 at 0.",
            'LaplaceNoise.for_privacy(sensitivity="1.5", epsilon=1).density(0)',
            'LaplaceNoise.for_privacy(sensitivity="1.5", epsilon=1).density("1.5")',
        ),
        s(
            "l1-norm",
            "The l1 norm of (1, 1, 1, 1, 1) is 5: five counts that one person is in.",
            'Together(*[Count()] * 5).l1("add_remove")',
        ),
    ),
    "Mechanisms": (
        s(
            "laplace-density",
            "Laplace noise of scale b: density exp(-abs(y)/b)/(2b).",
            "LaplaceNoise(2).density(0)",
            "LaplaceNoise(2).density(2)",
        ),
        s(
            "laplace-moments",
            "Mean 0, variance 2 b^2.",
            "LaplaceNoise(2).mean()",
            "LaplaceNoise(2).variance()",
        ),
        s(
            "laplace-private",
            "Scale D/epsilon gives (epsilon, 0), and no less epsilon would do.",
            f"laplace_delta({CURVE}, epsilon=Fraction(1))",
            f'laplace_delta({CURVE}, epsilon=Fraction("0.9"))',
        ),
        s(
            "laplace-quotient",
            "The quotient of two densities 10 apart, beyond both, at epsilon 1: e.",
            "LaplaceNoise(10).density(10) / LaplaceNoise(10).density(20)",
        ),
        s(
            "upper-bound",
            "Any upper bound on the sensitivity serves.",
            "laplace_delta(scale=Fraction(3), sensitivity=Fraction(2), epsilon=Fraction(1))",
        ),
        s(
            "geometric",
            "Geometric noise: P(z) = (1 - a)/(1 + a) a^abs(z), a = exp(-epsilon/D).",
            'GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 2").probability(0)',
            'GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 2").probability(-3)',
        ),
        s(
            "geometric-private",
            "It is epsilon-private, also when clamped to a range.",
            f'truncated_geometric(9, "ln 2").epsilon({LINE})',
        ),
        s(
            "gaussian",
            "Gaussian noise has a delta above 0 at every epsilon.",
            "gaussian_delta(sigma=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(1))",
            "gaussian_delta(sigma=Fraction(4), sensitivity=Fraction(1), epsilon=Fraction(1))",
        ),
        s(
            "machine",
            "The guarantee must hold for what the machine prints: careless floats give none.",
            "machine_laplace([0, 1]).epsilon()",
        ),
    ),
    "Accuracy": (
        s(
            "laplace-tail",
            "P(abs(error) >= ln(1/beta) D/epsilon) = beta.",
            'LaplaceNoise(10).error("1/20")',
            'LaplaceNoise(10).tail(LaplaceNoise(10).error("1/20"))',
        ),
        s(
            "laplace-tail-k",
            "k coordinates: ln(k/beta) D/epsilon by the union bound; exactly, a little less.",
            'LaplaceNoise(10).error_bound("1/20", k=100)',
            'LaplaceNoise(10).error("1/20", k=100)',
        ),
        s("mean-error", "E abs(Z) = L.", "LaplaceNoise(10).mean_error()"),
        s("rms-error", "The rms is sqrt(2) L.", "LaplaceNoise(10).rms_error()"),
        s("tail", "P(abs(Z) > t L) = exp(-t).", "LaplaceNoise(10).tail(30)"),
        s(
            "l1-error",
            "d of them: the expected l1 error is d L.",
            "LaplaceNoise(10).expected_l1(7)",
        ),
        s(
            "largest-tail",
            "P(the largest > L (ln d + t)) <= exp(-t): d = 100, t = 1.",
            "LaplaceNoise(1).largest_tail(Log(100) + 1, 100)",
            "LaplaceNoise(1).largest_tail_bound(Log(100) + 1, 100)",
        ),
        s(
            "largest-mean",
            "The expected largest is at most L (ln d + 1); exactly, L times 1 + 1/2 + ... + 1/d.",
            "LaplaceNoise(1).expected_largest_bound(4)",
            "LaplaceNoise(1).expected_largest(4)",
        ),
        s(
            "counties-change-one",
            "3,143 counties, epsilon 0.1, change-one: 20 for one, at most 181.06 for the largest.",
            f'{COUNTIES}, relation="change_one").expected',
            f'{COUNTIES}, relation="change_one").expected_largest_bound',
        ),
        s(
            "counties-add-remove",
            "Add/remove: 10 and 90.53.",
            f'{COUNTIES}, relation="add_remove").expected',
            f'{COUNTIES}, relation="add_remove").expected_largest_bound',
        ),
        s(
            "geometric-tail",
            "Geometric and Gaussian tails, exact and by the textbook.",
            "GeometricNoise(10).tail(30)",
            "GeometricNoise(10).tail_bound(30)",
            "GaussianNoise(10).tail(30)",
            "GaussianNoise(10).tail_bound(30)",
        ),
        s(
            "n-central",
            "Laplace needs n = sqrt(2)/(alpha epsilon) for rms alpha on a fraction.",
            'central_sample_size(error="1/100", epsilon=1).formula',
            'central_sample_size(error="1/100", epsilon=1).people',
        ),
        s(
            "n-local",
            "Randomized response needs e^epsilon/((e^epsilon - 1)^2 alpha^2).",
            'local_sample_size(error="1/100", epsilon=1).formula',
        ),
        s(
            "n-local-ln3",
            "At ln 3 that is 0.75/alpha^2.",
            'local_sample_size(error="1/100", epsilon="ln 3").people',
        ),
        s(
            "n-population",
            "Against a population's fraction, at most 1/(4 alpha^2) more.",
            'local_sample_size(error="1/100", epsilon="ln 3", population=True).people',
        ),
        s(
            "halving-alpha",
            "Halving alpha: twice as many people against four times.",
            'central_sample_size(error="1/200", epsilon=1).formula'
            ' / central_sample_size(error="1/100", epsilon=1).formula',
            'local_sample_size(error="1/200", epsilon="ln 3").formula'
            ' / local_sample_size(error="1/100", epsilon="ln 3").formula',
        ),
        s(
            "halving-epsilon",
            "Halving a small epsilon: twice against (nearly) four times.",
            'central_sample_size(error="1/100", epsilon="1/200").formula'
            ' / central_sample_size(error="1/100", epsilon="1/100").formula',
            'local_sample_size(error="1/100", epsilon="1/200").formula'
            ' / local_sample_size(error="1/100", epsilon="1/100").formula',
        ),
        s(
            "one-over-n",
            "At epsilon = 1/n a fraction's noise has deviation sqrt(2): nothing is learnt.",
            'central_rms_error(people=1000, epsilon="1/1000")',
        ),
        s(
            "epsilon-for-error",
            "The epsilon for an error: within 50 with probability 95 %.",
            'epsilon_for_error(error=50, beta="0.05")',
        ),
    ),
    "Randomized response": (
        s("two-coins", "Two fair coins are ln 3-private.", "two_coins().epsilon()"),
        s(
            "expected-yes",
            "n/4 + n p/2 yeses are expected: n = 100, p = 1/5.",
            'Response("ln 3").expected_yes(people=100, fraction="1/5")',
        ),
        s(
            "estimate",
            "The estimate is 2 (yes/n - 1/4).",
            'Response("ln 3").estimate(yes=35, people=100)',
        ),
        s(
            "truth",
            "At any epsilon the truth is told with probability e^epsilon/(1 + e^epsilon).",
            "Response(1).truth",
            "randomized_response(1).epsilon()",
        ),
        s(
            "local",
            "The respondent's own device adds the noise: the vector of all answers is private.",
            'two_coins().each(2).epsilon("change_one")',
        ),
        s(
            "root-n",
            "Its error falls as 1/sqrt(n) against 1/n: 100 times the people.",
            "Response(1).rms_error(people=100) / Response(1).rms_error(people=10_000)",
            "central_rms_error(people=100, epsilon=1)"
            " / central_rms_error(people=10_000, epsilon=1)",
        ),
        s(
            "worse",
            "For the same epsilon it is worse: 10,000 people at epsilon 1.",
            "Response(1).rms_error(people=10_000)",
            "central_rms_error(people=10_000, epsilon=1)",
        ),
    ),
    "Properties": (
        s(
            "composition",
            "Losses add up, and deltas too.",
            'compose(Guarantee("ln 3", "1/10"), Guarantee("ln 2", "1/20")).epsilon',
            'compose(Guarantee("ln 3", "1/10"), Guarantee("ln 2", "1/20")).delta',
        ),
        s(
            "adaptive",
            "Also when the second question depends on the first answer.",
            'two_coins().with_adaptive(lambda y: randomized_response("ln 2" if y == "yes"'
            ' else "ln 5")).epsilon()',
        ),
        s(
            "tighter",
            "Tighter for many: advanced and zCDP, 100 losses of 0.1, delta 1e-6; the sum is 10.",
            'compose_advanced(Guarantee("1/10"), 100, delta="1e-6").epsilon',
            'guarantee_of_rho(100 * rho_of_pure("1/10"), delta="1e-6").epsilon',
        ),
        s(
            "exact-composition",
            "And exactly, from the product itself: two answers at delta 1/8.",
            'two_coins().with_(two_coins()).epsilon_at("1/8")',
        ),
        s(
            "parallel",
            "Parts that partition the units: the largest loss under add/remove.",
            "compose_parts(Guarantee(1), Guarantee(3), Guarantee(2)).epsilon",
        ),
        s(
            "parallel-change-one",
            "Under change-one the two largest.",
            'compose_parts(*[Guarantee(e, relation="change_one") for e in (1, 3, 2)]).epsilon',
        ),
        s(
            "disjoint-rows",
            "Disjoint rows are not enough: one person in both parts costs the sum.",
            'truncated_geometric(1, "ln 2").beside(truncated_geometric(1, "ln 3"))'
            ".epsilon([((1, 1), (0, 0))])",
        ),
        s("group", "k people: k epsilon.", 'Guarantee("1/10").for_group(4).epsilon'),
        s(
            "group-delta",
            "(epsilon, delta) gives (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)).",
            'Guarantee("ln 2", "1/100").for_group(3).epsilon',
            'Guarantee("ln 2", "1/100").for_group(3).delta',
        ),
        s(
            "post-processing",
            "Post-processing costs nothing.",
            f'truncated_geometric(9, "ln 2").then(lambda z: z > 4).epsilon({LINE})',
        ),
        s(
            "deterministic",
            "Without randomness only a map constant on connected components is private.",
            'deterministic(lambda rows: "same", [("a",), ("b",)]).epsilon("change_one")',
            'deterministic(lambda rows: rows, [("a",), ("b",)]).is_private(99,'
            ' neighbours="change_one").witness.event',
        ),
        s(
            "side-information",
            "Side information does not matter: it acts on the output alone.",
            'two_coins().then(Channel([["9/10", "1/10"], ["1/3", "2/3"]],'
            ' inputs=["yes", "no"])).epsilon()',
        ),
        s(
            "subsample",
            "Releasing a fraction k of the rows is (0, k)-private: k = 1/4, exactly so many rows.",
            'subsample_release("ab", 4, fraction="1/4").delta(0, "change_one")',
        ),
        s(
            "subsample-independent",
            "Or each row independently.",
            'subsample_release("ab", 3, fraction="1/4", independent=True).delta(0, "change_one")',
        ),
        s(
            "subsample-delta",
            "Its delta stays k at every epsilon: why delta must be tiny.",
            'subsample_release("ab", 4, fraction="1/4").delta(20, "change_one")',
            'subsample_release("ab", 4, fraction="1/4").epsilon("change_one")',
        ),
    ),
    "The definition, several ways": (
        s(
            "max-divergence",
            "The max-divergence is the largest ln(P(y)/Q(y)); epsilon is its worst case.",
            'max_divergence(["3/4", "1/4"], ["1/4", "3/4"])',
            'Channel([["3/4", "1/4"], ["1/4", "3/4"]]).epsilon()',
        ),
        s(
            "hockey-stick",
            "The hockey-stick divergence gives delta(epsilon).",
            'hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], "ln 2")',
            'two_coins().delta("ln 2")',
        ),
        s(
            "kl",
            "KL divergence is the average case.",
            'kl_divergence(["3/4", "1/4"], ["1/4", "3/4"])',
        ),
        s(
            "outputs-and-events",
            "Outputs and events agree at delta = 0, and not above it.",
            'two_coins().pointwise_delta("ln 3"), two_coins().delta("ln 3")',
            'Channel([["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"]]).pointwise_delta(5)',
            'Channel([["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"]]).delta(5)',
        ),
        s(
            "wrong-yardstick",
            "Printing a random row with probability 1/10: distance 1/(10 n), infinite divergence.",
            'prints_random_row("ab", 5).statistical_difference("change_one")',
            'prints_random_row("ab", 5).epsilon("change_one")',
        ),
        s(
            "distance-bound",
            "epsilon-privacy implies a distance of at most (e^epsilon - 1)/(e^epsilon + 1).",
            "two_coins().statistical_difference()",
            "(Log(3).exp() - 1) / (Log(3).exp() + 1)",
        ),
        s(
            "simulation",
            "Simulation: epsilon_sim <= epsilon <= 2 epsilon_sim; the best simulator is found.",
            "simulate(two_coins()).epsilon",
            "simulate(two_coins()).simulators[0, ()]",
        ),
        s(
            "simulation-half",
            "Where the ratio decides, epsilon is twice epsilon_sim.",
            'simulate(Channel([["1/10", "1/10", "8/10"], ["2/10", "1/20", "15/20"]])).epsilon',
            'Channel([["1/10", "1/10", "8/10"], ["2/10", "1/20", "15/20"]]).epsilon()',
        ),
        s(
            "bayes",
            "Given the other rows, posterior/prior is within e^epsilon; a supremum, approached.",
            "conditional_supremum(two_coins())",
            'posterior(two_coins(), approaching_prior("yes", "no", "1/1000"), "yes")["yes"] * 1000',
        ),
        s(
            "bayes-incomparable",
            "Without conditioning, one fixed joint prior: private, yet beyond e^epsilon = 3...",
            'belief_change(two_coins().each(2), alike_prior(("yes", "no"), 2, "1/100"), 0,'
            ' ("yes", "yes"))',
        ),
        s(
            "bayes-incomparable-back",
            "...and not private at all, yet nothing learnt (the exclusive or, fair rows).",
            "belief_change(deterministic(lambda x: x[0] ^ x[1], list(all_rows((0, 1), 2))),"
            " independent_prior([{0: Fraction(1, 2), 1: Fraction(1, 2)}] * 2), 0, 1)",
            "deterministic(lambda x: x[0] ^ x[1], list(all_rows((0, 1), 2))).epsilon('change_one')",
        ),
        s(
            "bayes-independent",
            "Over independent priors the two are equivalent: others sure, one row rare.",
            'belief_change(two_coins().each(2), independent_prior([{"yes": Fraction(1, 1000), "no":'
            ' Fraction(999, 1000)}, {"no": 1}]), 0, ("yes", "no"))',
        ),
        s(
            "bayes-joint",
            "Over all joint priors it is strictly stronger: three people alike.",
            "joint_supremum(two_coins().each(3), 0)",
        ),
        s(
            "bayes-distance",
            "Beliefs move by at most t for every prior iff 2 ln((1 + t)/(1 - t))-private: t = 1/4.",
            'epsilon_of_belief_distance("1/4")',
            'largest_belief_distance(epsilon_of_belief_distance("1/4"))',
        ),
        s(
            "bayes-distance-textbook",
            "The usual argument gives ln((1 + 2t)/(1 - 2t)), for t < 1/2 only, and looser.",
            'textbook_epsilon_of_belief_distance("1/4")',
            'textbook_epsilon_of_belief_distance("1/2")',
        ),
        s(
            "linkage-raw",
            "Linkage: counts and averages before and after a visit reveal the diagnosis exactly...",
            "deduce(averages((Patient(40, 70),)), averages((Patient(40, 70), Patient(62, 91))),"
            ' Patient(62, 91), prior="1/100")',
        ),
        s(
            "linkage-private",
            "...and private ones do not, whatever they say.",
            'PrivateHospital(epsilon="1/2", oldest=100, heaviest=200).posterior('
            "totals((Patient(40, 70),)), totals((Patient(40, 70), Patient(62, 91))),"
            ' Patient(62, 91), prior="1/100")',
            'PrivateHospital(epsilon="1/2", oldest=100, heaviest=200)'
            '.largest_posterior(prior="1/100")',
        ),
    ),
}


def evaluate(call: str) -> str:
    """What a call gives, as the page shows it."""
    names: dict[str, Any] = {
        name: getattr(discreet.theory, name) for name in discreet.theory.__all__
    }
    try:
        return shown(eval(call, {**names, "Fraction": Fraction}))  # noqa: S307 - the calls above
    except DiscreetError as error:
        return f"*refused*: {type(error).__name__}"


def shown(value: Any) -> str:
    """A value in the page's own notation.

    >>> shown(Log(3)), shown(Fraction(3, 2)), shown(Real(2).sqrt()), shown(INFINITY)
    ('ln(3) = 1.09861', '3/2', '≈ 1.41421', '∞')
    """
    if isinstance(value, Relation):
        return str(value)
    if value == INFINITY or value == float("inf"):
        return "∞"
    if isinstance(value, Log) and value.exact is None:
        return f"{value!r} = {float(value):.6g}"
    if isinstance(value, Real):
        return f"≈ {float(value):.6g}" if value.exact is None else shown(value.exact)
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    return str(value)


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield HEADER
    for title, statements in SECTIONS.items():
        yield f"## {title}\n"
        yield "| Statement | Call | Gives |"
        yield "|---|---|---|"
        for statement in statements:
            for place, call in enumerate(statement.calls):
                words = statement.words if place == 0 else ""
                yield f"| {words} | `{call}` | {evaluate(call)} |"
        yield ""


def page() -> str:
    """The whole page."""
    return "\n".join(lines())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
