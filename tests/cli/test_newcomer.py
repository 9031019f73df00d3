"""From one's own CSV file to a private answer: each mistake on the way has a hint that works."""

from __future__ import annotations

import csv
import shlex
from concurrent.futures import ThreadPoolExecutor
from subprocess import run
from sys import executable

import pytest

FILE = "Patient visits (2026).csv"
TABLE = "Patient_visits_2026"
WHO = ("--data", FILE, "--unit", "Patient ID", "--rows-per-unit", "5")
COUNT = f"SELECT COUNT(*) AS n FROM {TABLE}"
PRICE = ("--epsilon", "0.1")


@pytest.fixture
def messy(tmp_path, monkeypatch):
    """A file as people have them, and we are beside it."""
    monkeypatch.chdir(tmp_path)
    with (tmp_path / FILE).open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(["Patient ID", "Ward Name", "Age", "order", "Cost €", "visit date", "Größe"])
        for person in range(300):
            for visit in range(1 + person % 5):
                ward = ["North", "south ", "SOUTH", 'East "A"', "", "O'Neill"][(person + visit) % 6]
                age = [str(18 + person % 80), "n/a", "", "forty"][visit % 4]
                cost = [f"{person}.50", f"{person},50", "-", "1e400", "nan"][person % 5]
                day = ["2026-03-01", "01/03/2026", "3.1.2026", ""][visit % 4]
                rows.writerow([f"P-{person:03}", ward, age, visit, cost, day, 150 + person % 50])
    return tmp_path / FILE


def test_one_command_is_enough(discreet, messy):
    done = discreet("ask", COUNT, *WHO, *PRICE)
    assert done.status == 0
    assert "Left: epsilon 2.9" in done.out


OPTIONS = {
    "no unit": (("ask", COUNT, "--data", FILE, *PRICE), "--unit 'Patient ID'"),
    "a unit that is not there": (
        ("ask", COUNT, "--data", FILE, "--unit", "patient_id", *PRICE),
        "--unit 'Patient ID'",
    ),
    "no price": (("ask", COUNT, *WHO), "--epsilon 0.5"),
    "a price below nothing": (("ask", COUNT, *WHO, "--epsilon", "-1"), "--epsilon 0.5"),
    "a price beyond the budget": (("ask", COUNT, *WHO, "--epsilon", "5"), "--epsilon 3"),
    "a confidence in percent": (
        ("ask", COUNT, *WHO, *PRICE, "--confidence", "95"),
        "--confidence 0.95",
    ),
    "another file": (("ask", COUNT, *WHO[2:], "--data", "visits.csv", *PRICE), f"--data '{FILE}'"),
    "bounds in another spelling": (
        ("ask", f"SELECT AVG(Age) FROM {TABLE}", *WHO, *PRICE, "--bounds", "age=0:110"),
        "--bounds Age=0:110",
    ),
    "bounds of a name with spaces, turned round": (
        ("ask", COUNT, *WHO, *PRICE, "--bounds", "Cost €=300:0"),
        "--bounds 'Cost €=0:300'",
    ),
    "no bounds at all": (
        ("ask", f"SELECT AVG(order) FROM {TABLE}", *WHO, *PRICE, "--types", "order=integer"),
        "--bounds order=0:100",
    ),
    "private groups without a delta": (
        ("ask", f'SELECT "Ward Name", COUNT(*) FROM {TABLE} GROUP BY 1', *WHO, *PRICE),
        "--delta 1e-9",
    ),
}


@pytest.mark.parametrize("mistake", OPTIONS)
def test_an_option_that_is_hinted_at_can_be_typed(mistake, discreet, messy):
    words, option = OPTIONS[mistake]
    refused = discreet(*words)
    assert refused.status in (2, 3, 4)
    assert option in refused.hint
    name, value = shlex.split(option)
    # Later words win, so the hint is simply typed at the end.
    rest = () if "--rows-per-unit" in words else ("--rows-per-unit", "5")
    again = discreet(*_without(words, name), name, value, *rest)
    assert again.status == 0, again.err


def test_a_data_file_is_no_policy(discreet, messy):
    refused = discreet("ask", COUNT, *WHO[2:], "--policy", FILE, *PRICE)
    assert (refused.status, f"--data '{FILE}'" in refused.hint) == (2, True)


def _without(words: tuple[str, ...], option: str) -> list[str]:
    kept = list(words)
    if option in kept:
        at = kept.index(option)
        del kept[at : at + 2]
    return kept


QUESTIONS = {
    "another table": "SELECT COUNT(*) FROM visits",
    "a misspelt keyword": f"SELECT COUNT(*) FORM {TABLE}",
    "a name with a space": f"SELECT Ward Name, COUNT(*) FROM {TABLE} GROUP BY Ward Name",
    "a name with a sign": f"SELECT COUNT(Cost €) FROM {TABLE}",
    "single rows": f"SELECT * FROM {TABLE}",
    "a raw column": f"SELECT Age FROM {TABLE}",
    "nothing": " ",
}


@pytest.mark.parametrize("mistake", QUESTIONS)
def test_a_question_that_is_hinted_at_can_be_asked(mistake, discreet, messy):
    terms = (*WHO, *PRICE, "--delta", "1e-9")
    refused = discreet("ask", QUESTIONS[mistake], *terms)
    assert refused.status in (2, 3)
    hint = refused.hint.partition(" (names")[0]
    better = shlex.split(hint)[0] if hint.startswith("'") else hint
    assert discreet("ask", better, *terms).status == 0, better


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT MEDIAN(Age) FROM {TABLE}",
        f"SELECT COUNT(*) FROM {TABLE} a JOIN {TABLE} b ON a.order = b.order",
    ],
)
def test_what_is_not_allowed_comes_with_something_that_is(sql, discreet, messy):
    refused = discreet("ask", sql, *WHO, *PRICE)
    assert refused.status == 3
    works = refused.hint.split("this works: ")[-1]
    assert discreet("ask", works, *WHO, *PRICE).status == 0


def test_a_text_without_quotes_is_told_how_to_write_it(discreet, messy):
    text = f'{COUNT} WHERE "Ward Name" = North'
    assert "single quotes: 'North'" in discreet("ask", text, *WHO, *PRICE).hint


def test_two_terminals_at_once_share_one_budget(messy):
    code = "from discreet.cli import main; main()"

    def ask(number: int) -> tuple[int, str]:
        sql = f"{COUNT} WHERE \"order\" <> '{number}'"
        done = run(
            [executable, "-c", code, "ask", sql, *WHO, "--epsilon", "1"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        done = sorted(pool.map(ask, range(4)))
    assert [status for status, _ in done] == [0, 0, 0, 4], done
