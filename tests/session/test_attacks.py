"""What an analyst may try on a session: other names, other policies, other people's questions."""

from __future__ import annotations

import threading

import pytest

import discreet
from discreet.errors import DiscreetError, InvalidEpsilon
from tests.session.made import EXACT, ROWS, ward, write

COUNT = "SELECT COUNT(*) AS n FROM visits"
POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 2
columns.who = {{ type = "integer" }}
columns.age = {{ type = "integer", bounds = [0, {most}] }}
budget.epsilon = 4000000
analysts = {{ ann = {{ epsilon = 4000000 }}, bob = {{ epsilon = 4000000 }} }}

[dataset.others]
source = "others.parquet"
unit = "who"
rows_per_unit = 2
columns.who = {{ type = "integer" }}
budget.epsilon = 1
analysts.bob = {{ epsilon = 1 }}
"""


@pytest.fixture
def opened(tmp_path):
    """Open the policy for an analyst; ages are clamped to a most."""
    write(tmp_path)
    write(tmp_path, name="others")

    def open_(analyst: str, most: int = 110):
        # A policy of one's own, beside the same ledger.
        policy = tmp_path / f"policy{most}.toml"
        policy.write_text(POLICY.format(most=most))
        return discreet.open(policy, analyst=analyst)

    return open_


def test_the_question_of_another_analyst_has_the_same_answer_and_is_paid_once_by_the_people(opened):
    with opened("ann") as ann, opened("bob") as bob:
        first = ann.sql(COUNT, epsilon=1)
        again = bob.sql(COUNT, epsilon=1)
        assert first["n"] == again["n"]
        assert ann.balance().spent == bob.balance().spent  # of each one's own cap
        assert ann.ledger.balance("visits").spent["epsilon"] == 1
        assert bob.sql(COUNT, epsilon=1).stored


def test_whoever_gets_what_another_bought_is_told_what_it_took_of_their_own_cap(opened):
    with opened("ann") as ann, opened("bob") as bob:
        first = ann.sql(COUNT, epsilon=1)
        assert (first.stored, first.shared) == (False, False)
        shared = bob.sql(COUNT, epsilon=1)
        assert (shared.stored, shared.shared, shared.cost) == (True, True, first.cost)
        assert shared.cost_line().startswith("cost: epsilon 1 of your own cap; another analyst had")
        assert "the data set's budget was not charged again" in shared.cost_line()
        for session in (ann, bob):
            again = session.sql(COUNT, epsilon=1)
            assert (again.stored, again.shared, again.cost.epsilon) == (True, False, 0)
            assert again.cost_line().startswith("free: this answer was bought before.")
        assert bob.balance().spent["epsilon"] == 1
        assert ann.ledger.balance("visits").spent["epsilon"] == 1


def test_a_charge_that_another_left_without_an_answer_is_answered_for_ones_own_cap(opened):
    with opened("ann") as ann, opened("bob") as bob:
        request = ann.plan(COUNT, epsilon=1)
        ann.ledger.reserve(
            dataset="visits",
            analyst="ann",
            key=None,
            request_sha256=request.sha256,
            events=request.events,
        )
        shared = bob.sql(COUNT, epsilon=1)
        assert (shared.stored, shared.shared, float(shared.cost.epsilon)) == (False, True, 1)
        assert ann.ledger.balance("visits").spent["epsilon"] == 1


def test_whoever_may_ask_about_one_data_set_may_not_ask_about_another(opened):
    with opened("ann") as ann:
        with pytest.raises(DiscreetError):
            ann.sql("SELECT COUNT(*) FROM others", epsilon=1)
        assert ann.ledger.balance("others").spent["epsilon"] == 0


def test_a_policy_that_is_edited_meanwhile_never_lends_its_bounds_to_a_query(opened, tmp_path):
    """Each query is answered by rows that were clamped as its own noise supposes."""
    write(tmp_path, [ROWS[0] | {"who": i, "age": 1000} for i in range(50)])
    wrong: list[float] = []

    def ask(most: int) -> None:
        with opened("ann", most) as session:
            for turn in range(8):
                text = f"SELECT SUM(age) AS s FROM visits WHERE age > -{turn + 1}"
                (total,) = session.sql(text, epsilon=EXACT)["s"]
                if total != 50 * most:
                    wrong.append(total / 50)

    asking = [threading.Thread(target=ask, args=(most,)) for most in (10, 500)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        (
            "SELECT COUNT(*) AS n, SUM(age) AS n, SUM(cost) AS n_2 FROM visits",
            ["n", "n_2", "n_2_2"],
            [5, 200, 160.5],
        ),
        (
            "SELECT n, n, n_2 FROM (SELECT COUNT(*) AS n, SUM(age) AS n_2 FROM visits)",
            ["n", "n_2", "n_2_2"],
            [5, 5, 200],
        ),
        ("SELECT COUNT(*) AS a0, SUM(age) AS k0 FROM visits", ["a0", "k0"], [5, 200]),
        ("SELECT COUNT(*) AS N, SUM(age) AS n FROM visits", ["N", "n_2"], [5, 200]),
    ],
    ids=["thrice", "of an inner one", "as we name them", "in capitals"],
)
def test_no_column_of_an_answer_hides_another(text, names, values, tmp_path):
    with ward(tmp_path) as session:
        answer = session.sql(text, epsilon=EXACT)
        assert [column.name for column in answer.columns] == names
        assert [column.values[0] for column in answer.columns] == values


@pytest.mark.parametrize("epsilon", [10**400, "1e400", 10**10])
def test_an_epsilon_that_protects_nobody_is_refused(epsilon, tmp_path):
    with ward(tmp_path) as session, pytest.raises(InvalidEpsilon, match="protects nobody"):
        session.sql(COUNT, epsilon=epsilon)


@pytest.mark.parametrize("within", [10**30, "1e300"])
def test_an_error_that_everything_meets_costs_next_to_nothing(within, tmp_path):
    with ward(tmp_path, epsilon=1, delta=0, delta_per_query=None) as session:
        assert float(session.explain(COUNT, within=within).epsilon) == 1e-6


def test_limits_and_conditions_that_leave_nothing_leave_an_empty_table(tmp_path):
    with ward(tmp_path) as session:
        by_ward = "SELECT ward, COUNT(*) AS n, COUNT(*) / 2 AS h FROM visits GROUP BY ward"
        for text in (
            f"{by_ward} LIMIT 0",
            f"{by_ward} LIMIT 2 OFFSET 100",
            f"{by_ward} HAVING COUNT(*) > 100000",
            "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost HAVING cost > 5",
        ):
            answer = session.sql(text, epsilon=1)
            assert len(answer) == 0
            assert answer.to_arrow().num_rows == 0
            assert "<table>" in answer._repr_html_()
            assert str(answer)
