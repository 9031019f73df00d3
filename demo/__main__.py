"""Six questions to a hospital, answered without telling on any patient."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import duckdb
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

import discreet
from demo.hospital import DAYS, PATIENTS, WARDS, write
from discreet.answer import Answer
from discreet.cli.shown import show
from discreet.session import Session

WARD_COUNTS = """\
SELECT ward, COUNT(*) AS visits, COUNT(DISTINCT patient_id) AS patients
FROM visits GROUP BY ward ORDER BY visits DESC"""

AVERAGES = """\
SELECT ward, AVG(cost) AS cost, AVG(stay) AS nights, AVG(cost) / AVG(stay) AS per_night
FROM visits WHERE age >= 65 GROUP BY ward ORDER BY cost DESC LIMIT 4"""

DIAGNOSES = """\
SELECT diagnosis, COUNT(*) AS visits
FROM visits GROUP BY diagnosis ORDER BY visits DESC"""

DONATIONS = "SELECT SUM(donation) FROM visits"

SUMMER = """\
SELECT EXTRACT(month FROM admitted) AS month, COUNT(*) AS visits
FROM visits WHERE ward = 'Emergency' GROUP BY month HAVING month BETWEEN 6 AND 8"""

out = Console(highlight=False)


def question(number: int, title: str, sql: str, about: str) -> None:
    """Announce what is asked, and how."""
    out.print()
    out.print(Rule(f"[bold]{number}. {title}", align="left", style="blue"))
    out.print(Syntax(sql, "sql", theme="ansi_dark", background_color="default", word_wrap=True))
    out.print(Text(about, style="dim"))


def first(session: Session) -> Answer:
    """Counts over groups that everybody knows; empty ones would be shown too."""
    question(1, "How many visits and patients has each ward?", WARD_COUNTS, "epsilon 0.5")
    answer = session.sql(WARD_COUNTS, epsilon=0.5)
    show(answer, out)
    return answer


def averages(session: Session) -> None:
    """Averages, and a ratio of two of them with an interval of its own."""
    question(2, "What does a night cost, for those of 65 and more?", AVERAGES, "epsilon 0.5")
    show(session.sql(AVERAGES, epsilon=0.5), out)


def private_keys(session: Session) -> None:
    """Groups that nobody has listed: the rare ones stay hidden."""
    question(
        3,
        "Which diagnoses are there?",
        DIAGNOSES,
        "nobody has listed them, and rare ones point at people; epsilon 0.5, delta 1e-9",
    )
    explained = session.explain(DIAGNOSES, epsilon=0.5, delta=1e-9)
    out.print(
        f"before anything is spent: diagnoses with a noisy count of "
        f"{explained.facts['threshold']} or more are shown.",
        style="dim",
    )
    show(session.sql(DIAGNOSES, epsilon=0.5, delta=1e-9), out)


def refused(session: Session) -> None:
    """A question that no noise could make private."""
    question(4, "How much was donated in all?", DONATIONS, "epsilon 0.5")
    try:
        session.sql(DONATIONS, epsilon=0.5)
    except discreet.DiscreetError as error:
        out.print()
        out.print(Text("refused: ", style="bold red") + Text(error.message))
        out.print(Text("Hint: ", style="bold green") + Text(error.hint or ""))


def by_error(session: Session) -> None:
    """A question with a wish for its error instead of a price."""
    question(
        5,
        "How busy is the emergency ward in summer, within 200 visits?",
        SUMMER,
        "within 200 at 95 % confidence, for at most epsilon 1",
    )
    answer = session.sql(SUMMER, within=200, epsilon=1)
    show(answer, out)


def again(session: Session, before: Answer) -> None:
    """What was bought once is free, and the same."""
    question(6, "The first question again", WARD_COUNTS, "epsilon 0.5")
    answer = session.sql(WARD_COUNTS, epsilon=0.5)
    show(answer, out)
    same = answer["visits"] == before["visits"]
    out.print(
        "the same numbers as before: asking again averages no noise away."
        if same
        else "the numbers differ: this must not happen."
    )


def truth(path: Path, answer: Answer) -> None:
    """What only a demo may show: how far off the first answer is."""
    with duckdb.connect() as engine:
        counted = dict(
            engine.execute(
                "SELECT ward, COUNT(*) FROM read_parquet(?) GROUP BY 1", [str(path)]
            ).fetchall()
        )
    off = max(
        abs(n - counted[ward]) for ward, n in zip(answer["ward"], answer["visits"], strict=True)
    )
    out.print(
        f"only a demo may tell: the worst of these counts of visits is {off:,} away from what is "
        "in the file, bounding included.",
        style="dim",
    )


def main() -> None:
    """Write the hospital's data, open it, ask."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="discreet-demo-") as folder:
        with out.status("writing a hospital's year ..."):
            path = write(Path(folder))
        with discreet.open(
            path,
            unit="patient_id",
            rows_per_unit=20,
            bounds={
                "age": (0, 110),
                "stay": (0, 30),
                "cost": (0, 10_000),
                "admitted": DAYS,
            },
            keys={"ward": list(WARDS)},
            epsilon=3,
            delta=1e-6,
            people=PATIENTS,
        ) as session:
            with out.status("cleaning it, once ..."):
                session.prepare()
            out.print(
                f"A year of a hospital: {PATIENTS:,} patients with about six visits each. At most "
                "20 of each are used; all answers together may cost epsilon 3, delta 1e-6."
            )
            answer = first(session)
            truth(path, answer)
            averages(session)
            private_keys(session)
            refused(session)
            by_error(session)
            again(session, answer)
            out.print()
            out.print(Rule("[bold]What can be published beside the first table", align="left"))
            out.print(Text(answer.statement()))
    out.print(f"\n{time.monotonic() - began:.1f} seconds in all.", style="dim")


if __name__ == "__main__":
    main()
