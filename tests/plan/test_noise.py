"""How much noise, from public facts alone: what is measured, what moves it, what it costs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.measures import measure
from discreet.errors import InvalidDelta, InvalidScale
from discreet.events import Event
from discreet.plan.bounding import GroupBounding
from discreet.plan.noise import NoisePlan, plan_noise
from discreet.plan.primitives import Primitive, lower, step_of
from discreet.plan.schema import Schema
from discreet.policy import single
from discreet.sql.queries import read_query

HALF = Fraction(1, 2)


def planned(
    text: str,
    *,
    epsilon: Fraction = Fraction(1),
    delta: Fraction | None = None,
    total_delta: Fraction = Fraction(0),
    **settings: object,
) -> NoisePlan:
    policy = single(
        Path("t.parquet"),
        types={
            "u": "integer",
            "n": "integer",
            "x": "real",
            "w": "text",
            "f": "boolean",
            "v": "text",
        },
        **{  # type: ignore[arg-type]
            "unit": "u",
            "rows_per_unit": 4,
            "bounds": {"n": (-10, 30), "x": (0, 5)},
            "grids": {"x": 0.25},
            "keys": {"w": ["a", "b"]},
            "epsilon": 9,
            "delta": total_delta,
        }
        | settings,
    )
    dataset = policy.datasets["t"]
    query = read_query(text, {"t": Schema.of(dataset)})
    return plan_noise(query.core, lower(query.core), dataset, epsilon=epsilon, delta=delta)


def l1(text: str, **settings: object) -> list[Fraction]:
    return [each.l1 for each in planned(text, **settings).sensitivities]  # type: ignore[arg-type]


def test_counts_move_by_the_rows_of_one_person():
    assert l1("SELECT COUNT(*) FROM t") == [4]
    assert l1("SELECT w, COUNT(*) FROM t GROUP BY w") == [4]
    assert l1("SELECT COUNT(*) FROM t", relation="change_one") == [4]
    assert l1("SELECT w, COUNT(*) FROM t GROUP BY w", relation="change_one") == [8]


def test_people_are_counted_once_in_each_group():
    assert l1("SELECT COUNT(DISTINCT u) FROM t") == [1]
    assert l1("SELECT w, COUNT(DISTINCT u) FROM t GROUP BY w") == [2]
    assert l1("SELECT n, COUNT(DISTINCT u) FROM t GROUP BY n") == [4]
    assert l1("SELECT w, COUNT(DISTINCT u) FROM t GROUP BY w", relation="change_one") == [4]


def test_sums_move_by_the_larger_bound_of_each_row():
    assert l1("SELECT SUM(n) FROM t") == [120]
    assert l1("SELECT SUM(x) FROM t") == [4 * 20]  # steps of a quarter
    assert l1("SELECT SUM(n) FROM t", relation="change_one") == [160]
    assert l1("SELECT w, SUM(n) FROM t GROUP BY w", relation="change_one") == [240]


def test_an_average_is_centred():
    primitive = planned("SELECT AVG(n) FROM t").lowered.primitives[0]
    assert (primitive.centre, primitive.bounds) == (10, (-20, 20))
    assert l1("SELECT AVG(n) FROM t") == [80, 4]


def test_groups_of_a_person_can_be_bounded_too():
    settings = {"groups_per_unit": 1, "rows_in_group": 2}
    assert l1("SELECT w, COUNT(*) FROM t GROUP BY w", **settings) == [2]
    assert l1("SELECT w, SUM(n) FROM t GROUP BY w", **settings) == [60]
    assert l1("SELECT COUNT(*) FROM t", **settings) == [4]


def test_bounding_is_chosen_for_the_smaller_noise():
    counts, people = "SELECT w, COUNT(*) FROM t GROUP BY w", "COUNT(DISTINCT u)"
    tight, loose = {"groups_per_unit": 1, "rows_in_group": 2}, {"groups_per_unit": 4}
    assert planned(counts, **tight).bounding == GroupBounding(1, 2)  # type: ignore[arg-type]
    # Where all four rows may stay, bounding groups too would only drop rows.
    assert planned(counts, **loose).bounding is None  # type: ignore[arg-type]
    assert planned(counts, **loose, bounding="groups").bounding == GroupBounding(4, 4)  # type: ignore[arg-type]
    assert planned(counts, **tight, bounding="rows").bounding is None  # type: ignore[arg-type]
    assert planned("SELECT COUNT(*) FROM t", **tight).bounding is None  # type: ignore[arg-type]
    # People are counted once in each group, so fewer groups are less noise; two wards are only two.
    by_n, by_w = (f"SELECT {key}, {people} FROM t GROUP BY {key}" for key in "nw")
    three = {"groups_per_unit": 3}
    assert planned(by_n, **three).bounding == GroupBounding(3, 4)  # type: ignore[arg-type]
    assert planned(by_w, **three).bounding is None  # type: ignore[arg-type]


def test_bounding_by_groups_is_not_taken_where_it_needs_more_noise():
    """Values of both signs, one unit changed: sqrt(2) K M in two groups, 2 K M if groups are."""
    delta = Fraction(1, 10**6)
    text = "SELECT w, " + ", ".join(f"SUM(n + {i})" for i in range(20)) + " FROM t GROUP BY w"
    settings: dict[str, Any] = {"total_delta": delta, "delta_per_query": delta, "delta": delta}
    settings |= {"relation": "change_one", "groups_per_unit": 4}
    by_rows, by_groups, auto = (
        planned(text, bounding=bounding, **settings) for bounding in ("rows", "groups", "auto")
    )
    assert by_rows.kind == by_groups.kind == "gaussian"
    assert by_rows.scales[0] < by_groups.scales[0]
    assert (auto.bounding, auto.scales) == (None, by_rows.scales)


COUNT, MANY = "SELECT COUNT(*) FROM t", "SELECT w, SUM(n), AVG(x) FROM t GROUP BY w"


@pytest.mark.parametrize(
    ("accountant", "text", "epsilon", "kind"),
    [
        ("zcdp", COUNT, Fraction(1, 10), "gaussian"),
        ("zcdp", COUNT, Fraction(1), "gaussian"),
        ("zcdp", MANY, Fraction(1), "gaussian"),
        ("zcdp", COUNT, Fraction(1000), "laplace"),
        ("rdp:16", COUNT, Fraction(1, 100), "gaussian"),
        ("rdp:16", COUNT, Fraction(1), "laplace"),
        ("rdp:16", MANY, Fraction(1, 10), "gaussian"),
    ],
)
def test_the_kind_of_noise_has_less_error_for_what_the_ledger_sums(accountant, text, epsilon, kind):
    settings = {"total_delta": Fraction(1, 10**6), "accountant": accountant, "epsilon": epsilon}
    delta = Fraction(1, 10**9)
    plan = planned(text, delta=delta, **settings)
    assert (plan.kind, plan.epsilon) == (kind, epsilon)
    assert plan.delta == (delta if kind == "gaussian" else 0)
    # The other kind at the very same cost, where a Gaussian's variance is inverse to its cost.
    laplace = planned(text, **settings)
    assert laplace.kind == "laplace"
    cost = sum(measure(accountant).cost(event)[0] for event in laplace.events)
    unit = measure(accountant).cost(Event("gaussian", {"sigma": 1, "grid": 1}, 1, "add_remove"))
    variance = len(laplace.scales) * unit[0] / cost
    ratios = [
        s.l2**2 * variance / (2 * b * b)
        for b, s in zip(laplace.scales, laplace.sensitivities, strict=True)
    ]
    assert (sum(ratios) < len(ratios)) == (kind == "gaussian")


def test_without_a_delta_there_is_no_gaussian_noise_under_any_accountant():
    settings = {"total_delta": Fraction(1, 10**6), "accountant": "zcdp"}
    assert planned(COUNT, **settings).kind == "laplace"  # type: ignore[arg-type]


def test_one_epsilon_is_shared_by_what_is_measured():
    plan = planned("SELECT COUNT(*), SUM(n), AVG(x) FROM t")
    assert len(plan.lowered.primitives) == 4
    assert plan.scales == tuple(each.l1 / Fraction(1, 4) for each in plan.sensitivities)
    assert plan.delta == 0


def test_the_events_cost_what_was_asked():
    plan = planned("SELECT COUNT(*), SUM(x) FROM t", epsilon=HALF)
    spent = sum(event.sensitivity / event.parameters["scale"] for event in plan.events)
    assert spent == HALF


def test_private_keys_are_selected_by_the_plain_count():
    with pytest.raises(InvalidDelta):
        planned("SELECT v, COUNT(*) FROM t GROUP BY v")
    plan = planned("SELECT v, SUM(n) FROM t GROUP BY v", delta=Fraction(1, 10**9))
    assert plan.selection is not None
    assert plan.selector is not None
    assert plan.lowered.primitives[plan.selector] == Primitive("rows", None, None)
    assert plan.selection.rows_per_unit == 4
    assert plan.delta == Fraction(1, 10**9)


def test_gaussian_noise_is_taken_where_it_is_smaller_and_can_be_paid():
    many = "SELECT " + ", ".join(f"SUM(CLAMP(n, 0, {i}))" for i in range(2, 30)) + " FROM t"
    delta = Fraction(1, 10**6)
    assert planned(many, delta=delta).kind == "laplace"  # a pure budget cannot pay for it
    paying = {"total_delta": delta, "delta_per_query": delta}
    assert planned(many, delta=delta, **paying).kind == "gaussian"
    # The ledger charges a Gaussian the delta of the policy, so with another it is not taken.
    assert planned(many, delta=delta / 2, **paying).kind == "laplace"
    few = planned("SELECT COUNT(*) FROM t", delta=delta, **paying)
    assert few.kind == "laplace"


def test_scales_that_cannot_be_drawn_are_refused_with_the_price():
    plan = planned("SELECT SUM(CASE WHEN f THEN 1000000000000000 END) FROM t")
    with pytest.raises(InvalidScale):
        _ = plan.events


@pytest.mark.parametrize(
    ("expression", "step"),
    [
        ("x", Fraction(1, 4)),
        ("n", Fraction(1)),
        ("n + 1", Fraction(1)),
        ("CLAMP(x, 0, 2)", Fraction(1, 4)),
        ("-x", Fraction(1, 4)),
        ("COALESCE(x, 1)", Fraction(1, 4)),
        ("COALESCE(x, 0.1)", Fraction(1, 2**18)),
        ("x * 2", Fraction(1, 2**17)),
    ],
)
def test_the_grid_of_a_sum(expression, step):
    (primitive,) = planned(f"SELECT SUM({expression}) FROM t").lowered.primitives
    assert primitive.argument is not None
    assert step_of(primitive.argument) == primitive.step == step


def test_private_keys_get_gaussian_noise_where_a_person_is_in_few_rows_of_many_groups():
    text, delta = "SELECT v, COUNT(*), AVG(n) FROM t GROUP BY v", Fraction(1, 10**9)
    settings = {"rows_per_unit": 20, "total_delta": Fraction(1, 10**6), "delta": delta}
    by_rows = planned(text, **settings)  # type: ignore[arg-type]
    by_groups = planned(text, groups_per_unit=10, rows_in_group=2, **settings)  # type: ignore[arg-type]
    assert (by_rows.kind, by_groups.kind) == ("laplace", "gaussian")
    assert by_rows.selection is not None
    assert by_groups.selection is not None
    assert by_groups.selection.threshold < by_rows.selection.threshold / 2
    assert by_groups.selection.noise == by_groups.noises[0]
    (event,) = by_groups.events
    assert event.parameters["epsilon"] == 1
    assert event.parameters["delta"] == delta
    assert by_groups.delta == delta


def test_accountants_that_do_not_sum_deltas_keep_laplace_noise_for_private_keys():
    plan = planned(
        "SELECT v, COUNT(*) FROM t GROUP BY v",
        rows_per_unit=20,
        groups_per_unit=10,
        rows_in_group=2,
        delta=Fraction(1, 10**9),
        total_delta=Fraction(1, 10**6),
        accountant="zcdp",
    )
    assert plan.kind == "laplace"
