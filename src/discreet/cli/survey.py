"""``discreet survey``: ask people who trust nobody, from design to estimate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from discreet.errors import InvalidValue
from discreet.exact import rational

if TYPE_CHECKING:
    from discreet.local import Randomizer, Survey, Tally

app = typer.Typer(
    no_args_is_help=True,
    help="Surveys without a curator: every device randomizes its own answer.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
File = Annotated[Path, typer.Argument(help="The survey, as `discreet survey new` wrote it.")]
State = Annotated[Path, typer.Option(help="The collector's state.")]


@app.callback()
def survey() -> None:
    """Surveys without a curator: every device randomizes its own answer."""


@app.command(
    epilog='Example:  discreet survey new --question "Have you ever ...?" --epsilon "ln 3" '
    "--out survey.json"
)
def new(
    *,
    question: Annotated[str, typer.Option(help="What to ask.")],
    epsilon: Annotated[str, typer.Option(help='The loss of each person: 1, 0.5, "ln 3".')],
    out: Annotated[Path, typer.Option(help="Where to write the survey.")] = Path("survey.json"),
    options: Annotated[str, typer.Option(help="The answers, with commas between.")] = "yes,no",
    low: Annotated[str | None, typer.Option(help="For numbers: the least.")] = None,
    high: Annotated[str | None, typer.Option(help="For numbers: the largest.")] = None,
    step: Annotated[str, typer.Option(help="For numbers: how finely they are asked for.")] = "1",
    n: Annotated[int, typer.Option(min=1, help="About how many people will answer.")] = 1000,
    randomizer: Annotated[
        str | None, typer.Option(help="Instead of the best: two_coins, kary, unary, ...")
    ] = None,
    once: Annotated[
        str | None, typer.Option(help="Asked again and again: the loss of one report alone.")
    ] = None,
    most_values: Annotated[
        int, typer.Option(min=1, help="How many true answers a device may ever have.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Design a survey: a question, its answers, an epsilon; the best randomizer is chosen."""
    from discreet.local import Memoized, Scale, Survey

    scale = None
    choices: list[str] | None = None
    if low is not None or high is not None:
        if low is None or high is None:
            raise InvalidValue("a number needs both bounds.", hint="--low 0 --high 100")
        scale = Scale.of(low, high, step)
    else:
        choices = [option.strip() for option in options.split(",")]
    size = scale.size if scale is not None else len(choices or [])
    if once is not None:
        if scale is not None:
            raise InvalidValue("numbers cannot be memoized.", hint="leave out --once")
        encoding = randomizer or "kary"
        made: Randomizer = Memoized(
            size=size, epsilon=epsilon, once=once, most_values=most_values, encoding=encoding
        )
        reason = f"memoized {encoding}: all reports about one true answer lose epsilon together."
    else:
        made, reason = _chosen(randomizer, size, epsilon, n, numbers=scale is not None)
    survey = Survey(question, randomizer=made, options=choices, scale=scale)
    survey.save(out)
    if as_json:
        typer.echo(json.dumps({"survey": survey.to_json(), "reason": reason, "file": str(out)}))
        return
    typer.echo(f"{reason}\n\nwritten: {out}")
    _show(_expected(survey, n))


@app.command(epilog="Example:  discreet survey simulate survey.json --n 10000 --shares 0.3,0.7")
def simulate(
    file: File,
    *,
    n: Annotated[int, typer.Option(min=1, help="How many people answer.")],
    shares: Annotated[
        str | None, typer.Option(help="Suppose these shares of the answers; else all equal.")
    ] = None,
    reports: Annotated[
        Path | None, typer.Option(help="Write the simulated reports: .jsonl, .arrow, .parquet.")
    ] = None,
    as_json: Json = False,
) -> None:
    """See the error to expect for n people before asking anyone, and one made-up outcome."""
    from discreet.local import Survey, Tally

    survey = Survey.load(file)
    tally = Tally(survey)
    values = _made_up(survey, n, shares)
    made = survey.randomizer.simulate(values)
    tally.add_reports(made)
    if reports is not None:
        _write_reports(survey, made, reports)
    result = {"expected": _expected(survey, n), "simulated": _estimated(tally, Fraction(95, 100))}
    if as_json:
        typer.echo(json.dumps(result))
        return
    _show(result["expected"])
    _show_estimate(result["simulated"], title="One made-up outcome")


@app.command(epilog="Example:  discreet survey collect survey.json incoming/ --state tally.json")
def collect(
    file: File,
    sources: Annotated[list[Path], typer.Argument(help="Files of reports, or folders of them.")],
    *,
    state: State = Path("tally.json"),
    as_json: Json = False,
) -> None:
    """Count reports from files; what is malformed, foreign, out of domain or double is dropped.

    A file that was counted before is skipped. The state is written after each file.
    """
    from discreet.local import Survey, Tally
    from discreet.local.tally import SUFFIXES

    survey = Survey.load(file)
    tally = Tally.load(survey, state) if state.exists() else Tally(survey)
    before = tally.n
    files: list[Path] = []
    for source in sources:
        inside = sorted(path for path in source.rglob("*") if path.suffix in SUFFIXES)
        files += inside if source.is_dir() else [source]
    counted = 0
    console = Console(stderr=True, quiet=as_json)
    for path in track(files, "collecting", console=console, transient=True):
        if tally.add_file(path):
            counted += 1
            tally.save(state)
    result = {
        "files": counted,
        "skipped": len(files) - counted,
        "added": tally.n - before,
        "reports": tally.n,
        "dropped": dict(sorted(tally.dropped.items())),
        "state": str(state),
    }
    if as_json:
        typer.echo(json.dumps(result))
        return
    typer.echo(f"{result['added']:,} reports added, {tally.n:,} in all ({state})")
    for why, many in sorted(tally.dropped.items()):
        typer.echo(f"  {many:,} dropped: {why.replace('_', ' ')}")


@app.command(
    epilog="Example:  discreet survey estimate survey.json --state tally.json --picture out.svg"
)
def estimate(
    file: File,
    *,
    state: State = Path("tally.json"),
    confidence: Annotated[str, typer.Option(help="Of the intervals.")] = "0.95",
    target: Annotated[
        str, typer.Option(help="people (those who answered) or population (drawn from).")
    ] = "people",
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture: .svg, .png, .html or .json.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The shares, or the mean, with honest intervals, and what a trusted curator would have got."""
    from discreet.local import Survey, Tally

    survey = Survey.load(file)
    tally = Tally.load(survey, state)
    level = rational(confidence, name="confidence")
    result = _estimated(tally, level, target=target)
    if picture is not None:
        _draw(result, picture)
        result["picture"] = str(picture)
    if as_json:
        typer.echo(json.dumps(result))
        return
    _show_estimate(result, title=survey.question)


# What is shown ---------------------------------------------------------------------------------


def _chosen(
    kind: str | None, size: int, epsilon: str, n: int, *, numbers: bool
) -> tuple[Randomizer, str]:
    from discreet.local import TwoCoins, advise
    from discreet.local.stored import KINDS

    advice = advise(size=size, epsilon=epsilon, n=n, numbers=numbers)
    if kind is None:
        return advice.randomizer, advice.reason
    if kind not in KINDS:
        raise InvalidValue(
            f"--randomizer {kind} is not known.", hint=f"one of: {', '.join(sorted(KINDS))}."
        )
    if kind == "two_coins":
        coins = TwoCoins()
        if size != 2 or epsilon.replace(" ", "") not in {"ln3", "ln(3)"}:
            raise InvalidValue(
                "two coins are for a yes-or-no question, and their epsilon is ln 3.",
                hint='--epsilon "ln 3", or leave out --randomizer',
            )
        return coins, "two_coins: truth on tails, else a second coin answers."
    made = KINDS[kind](size=size, epsilon=epsilon)  # type: ignore[call-arg]
    return made, f"{kind}, as asked for. The adviser says: {advice.reason}"


def _expected(survey: Survey, n: int) -> dict[str, Any]:
    from discreet.local import Scale, compare, expected_error

    unit = float(survey.answers.step) if isinstance(survey.answers, Scale) else 1.0
    found = compare(survey.randomizer, n)
    return {
        "n": n,
        "epsilon": float(survey.epsilon),
        "randomizer": survey.randomizer.kind,
        "standard_error": unit * found.local,
        "standard_error_population": unit
        * expected_error(survey.randomizer, n, target="population"),
        "central_standard_error": unit * found.central,
        "times_worse_than_central": found.times_worse,
    }


def _made_up(survey: Survey, n: int, shares: str | None) -> Any:
    import numpy as np

    size = survey.randomizer.size
    parts = [Fraction(1, size)] * size
    if shares is not None:
        parts = [rational(part.strip(), name="a share") for part in shares.split(",")]
    if len(parts) != size or min(parts) < 0 or sum(parts) != 1:
        raise InvalidValue(
            f"the shares must be {size} numbers, none below 0, that sum to 1.",
            hint="--shares " + ",".join([f"1/{size}"] * min(size, 8)),
        )
    edges = [0]
    for place in range(size):
        edges.append(round(n * sum(parts[: place + 1])))
    return np.repeat(np.arange(size), np.diff(edges))


def _write_reports(survey: Survey, made: Any, path: Path) -> None:
    from discreet.local import reports
    from discreet.local.arrow import write_file

    if path.suffix in {".arrow", ".parquet"}:
        write_file(survey, made, path)
        return
    randomizer = survey.randomizer
    with path.open("w", encoding="utf-8") as opened:
        for row in made:
            opened.write(reports.write(survey, randomizer.unrow(row)) + "\n")


def _estimated(tally: Tally, confidence: Fraction, *, target: str = "people") -> dict[str, Any]:
    from discreet.local import FrequencyRandomizer, Scale, compare, mean, shares
    from discreet.local.numbers import NumberRandomizer

    survey, randomizer = tally.survey, tally.survey.randomizer
    result: dict[str, Any] = {
        "question": survey.question,
        "n": tally.n,
        "confidence": float(confidence),
        "target": target,
        "epsilon": float(survey.epsilon),
        "dropped": dict(sorted(tally.dropped.items())),
    }
    if isinstance(randomizer, NumberRandomizer) and isinstance(survey.answers, Scale):
        found = mean(randomizer, tally.counters, tally.n, confidence=confidence, target=target)
        step, low = float(survey.answers.step), float(survey.answers.low)
        result["mean"] = {
            "value": float(survey.answers.number(found.value)),
            "low": low + step * found.low,
            "high": low + step * found.high,
            "standard_error": step * found.standard_error,
        }
        result["central_standard_error"] = step * compare(randomizer, tally.n).central
    elif isinstance(randomizer, FrequencyRandomizer) and not isinstance(survey.answers, Scale):
        all_shares = shares(
            randomizer, tally.counters, tally.n, confidence=confidence, target=target
        )
        projected = all_shares.projected()
        result["shares"] = [
            {
                "answer": option,
                "value": float(share),
                "low": share.low,
                "high": share.high,
                "standard_error": share.standard_error,
                "consistent": projected[place],
            }
            for place, (option, share) in enumerate(
                zip(survey.answers, all_shares.shares, strict=True)
            )
        ]
        result["central_standard_error"] = compare(randomizer, tally.n).central
    return result


def _draw(result: Mapping[str, Any], picture: Path) -> None:
    from discreet.pictures import error_bars

    percent = "shares" in result
    rows = result["shares"] if percent else [{"answer": "mean", **result["mean"]}]
    error_bars(
        rows,
        key="answer",
        value="value",
        low="low",
        high="high",
        title=result["question"],
        subtitle=f"{result['n']:,} randomized reports; lines are intervals at "
        f"{result['confidence']:.4g}",
        percent=percent,
    ).save(picture)


def _show(expected: Mapping[str, Any]) -> None:
    typer.echo(
        f"{expected['n']:,} people, epsilon {expected['epsilon']:.4g}, "
        f"{expected['randomizer']}: standard error {expected['standard_error']:.4g} "
        f"({expected['standard_error_population']:.4g} for the population they are drawn from). "
        f"A trusted curator would have {expected['central_standard_error']:.2g}, "
        f"{expected['times_worse_than_central']:.3g} times less."
    )


def _show_estimate(result: Mapping[str, Any], *, title: str) -> None:
    level = f"{result['confidence']:.4g}"
    table = Table(title=title)
    for heading in ("", "estimate", f"from (at {level})", "to", "consistent"):
        table.add_column(heading, justify="right" if heading else "left")
    rows: Sequence[Mapping[str, Any]] = result.get("shares", [])
    for row in rows:
        figures = (f"{row[name]:.4f}" for name in ("value", "low", "high", "consistent"))
        table.add_row(row["answer"], *figures)
    if "mean" in result:
        figures = (f"{result['mean'][name]:.4g}" for name in ("value", "low", "high"))
        table.add_row("mean", *figures, "")
    Console().print(table)
    typer.echo(
        f"{result['n']:,} reports. From the same answers a trusted curator's standard error would "
        f"have been {result['central_standard_error']:.2g}."
    )
