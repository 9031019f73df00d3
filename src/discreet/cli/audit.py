"""``discreet audit``: put a claim of privacy to the test."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.shown import console
from discreet.cli.source import Source, with_source
from discreet.cli.typed import typed
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.audit import Report
    from discreet.audit.blackbox import Progress
    from discreet.session.terms import Terms

app = typer.Typer(no_args_is_help=True, help="Put a claim of privacy to the test.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Epsilon = Annotated[str, typer.Option(help="The epsilon that is claimed.")]
Delta = Annotated[str, typer.Option(help="The delta that is claimed.")]
Group = Annotated[int, typer.Option(min=1, help="How many people lie between the two inputs.")]
Samples = Annotated[int, typer.Option(min=1000, help="The most samples of each input.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="When to stop.")]
Confidence = Annotated[str, typer.Option(help="How sure a refutation must be.")]


@app.callback()
def audit() -> None:
    """Put a claim of privacy to the test."""


@app.command(
    epilog="Examples:  discreet audit mechanism mine:noisy_count --inputs 10 11 --epsilon 1  |  "
    "discreet audit mechanism mine:noisy_mean --inputs '[1, 2]' '[1, 3]' --epsilon 0.5 "
    "--delta 1e-6 --seconds 20 --json"
)
@typed
def mechanism(
    function: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="Called as function(input, n); returns n independent outputs.",
        ),
    ],
    *,
    inputs: Annotated[
        tuple[str, str],
        typer.Option(metavar="A B", help="Two neighbours: numbers, JSON, or else text."),
    ],
    epsilon: Epsilon,
    delta: Delta = "0",
    group: Group = 1,
    samples: Samples = 10_000_000,
    seconds: Seconds = 60.0,
    confidence: Confidence = "0.999",
    as_json: Json = False,
) -> None:
    """Try to refute that a function keeps its claim between two neighbouring inputs.

    Your code runs as it is: audit only what you trust to run. Exit status: 0 if the claim is not
    refuted (which is no proof), 1 if it is.
    """
    from discreet.audit import Claim
    from discreet.audit import audit as put_to_the_test

    with progress() as bar:
        report = put_to_the_test(
            load(function),
            (_input(inputs[0]), _input(inputs[1])),
            Claim(epsilon, delta=delta, group=group),
            samples=samples,
            seconds=seconds,
            confidence=confidence,
            progress=bar,
        )
    show(report, as_json=as_json)


@app.command(
    epilog='Example:  discreet audit command "./noisy_count {input} {n}" --inputs 10 11 --epsilon 1'
)
@typed
def command(
    words: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND",
            help="With {input} and {n} in it, or an http address with both; gives n independent "
            "outputs, one a line.",
        ),
    ],
    *,
    inputs: Annotated[tuple[str, str], typer.Option(metavar="A B", help="Two neighbours.")],
    epsilon: Epsilon,
    delta: Delta = "0",
    group: Group = 1,
    samples: Samples = 1_000_000,
    seconds: Seconds = 60.0,
    confidence: Confidence = "0.999",
    as_json: Json = False,
) -> None:
    """Try to refute that a program in any language keeps its claim.

    Exit status: 0 if the claim is not refuted (which is no proof), 1 if it is.
    """
    from discreet.audit import Claim
    from discreet.audit import audit as put_to_the_test
    from discreet.audit.programs import Command, Endpoint

    with progress() as bar:
        report = put_to_the_test(
            Endpoint(words) if words.startswith("http") else Command(words),
            inputs,
            Claim(epsilon, delta=delta, group=group),
            samples=samples,
            seconds=seconds,
            confidence=confidence,
            progress=bar,
        )
    show(report, as_json=as_json)


class Sampler(StrEnum):
    """Noise whose every bit tape can be enumerated."""

    GEOMETRIC = "geometric"
    HALF_GEOMETRIC = "half-geometric"
    GAUSSIAN = "gaussian"


@app.command(
    epilog="Examples:  discreet audit exact geometric --scale 2 --depth 16  |  "
    "discreet audit exact gaussian --scale 5/2"
)
@typed
def exact(
    sampler: Annotated[Sampler, typer.Argument(help="Which of our samplers.")],
    *,
    scale: Annotated[str, typer.Option(help="Its scale, or standard deviation.")],
    depth: Annotated[int, typer.Option(help="How many bits of the tape.")] = 16,
    as_json: Json = False,
) -> None:
    """Run a sampler on every bit tape to a depth and compare with its law, in exact fractions.

    Exit status: 0 if no tape contradicts the law, 1 if one does.
    """
    from discreet import noise
    from discreet.audit.exact import Law, enumerate_sampler

    kinds: dict[Sampler, Callable[[str], Law]] = {
        Sampler.GEOMETRIC: noise.TwoSidedGeometric,
        Sampler.HALF_GEOMETRIC: noise.OneSidedGeometric,
        Sampler.GAUSSIAN: noise.RoundedGaussian,
    }
    law = kinds[sampler](scale)
    found = enumerate_sampler(law, depth, law=law)
    typer.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))
    if found.refuted:
        raise typer.Exit(1)


@app.command(
    epilog='Example:  discreet audit sql "SELECT ward, COUNT(*) FROM visits GROUP BY ward" '
    "--data visits.csv --neighbour without_ann.csv --unit patient_id --rows-per-unit 20 "
    "--keys ward=A,B,C --epsilon 1"
)
@with_source
@typed
def sql(
    query: Annotated[str, typer.Argument(help="The query that would be asked.")],
    *,
    source: Source,
    neighbour: Annotated[
        Path, typer.Option(help="The same data with one unit added, removed or changed.")
    ],
    epsilon: Annotated[str, typer.Option(help="What the answer would be charged.")],
    delta: Annotated[str | None, typer.Option(help="Its delta, where one is needed.")] = None,
    claim: Annotated[
        str | None, typer.Option(help="Another epsilon to refute than the one charged.")
    ] = None,
    samples: Samples = 1_000_000,
    seconds: Seconds = 60.0,
    confidence: Confidence = "0.999",
    as_json: Json = False,
) -> None:
    """Try to refute that an answer over two neighbouring files costs no more than it is charged.

    You vouch that the files differ in one unit. They are copied to a folder of their own; nothing
    is charged, and what is printed is as private as the files. Exit status: 0 if not refuted, 1 if.
    """
    from discreet.audit import Claim
    from discreet.audit.sql import audit_sql, pair

    if source.data is None:
        raise InvalidInput(
            "an audit of SQL needs two files.", hint="--data visits.csv --neighbour without_ann.csv"
        )
    for file in (source.data, neighbour):
        if not file.is_file():
            raise InvalidInput(f'there is no file "{file}".', hint="--neighbour without_ann.csv")
    terms: Terms = {"epsilon": epsilon} if delta is None else {"epsilon": epsilon, "delta": delta}
    with TemporaryDirectory() as folder:
        copy = Path(folder) / source.data.name
        shutil.copyfile(source.data, copy)
        given = {each.name: getattr(source, each.name) for each in fields(Source)}
        with _Copied(**given | {"data": copy}).open() as session, progress() as bar:
            found = pair(session, lambda: _swap(neighbour, copy), query, **terms)
            report = audit_sql(
                found,
                claim=None if claim is None else Claim(claim, delta=found.claim.delta),
                samples=samples,
                seconds=seconds,
                confidence=confidence,
                progress=bar,
            )
    show(report, as_json=as_json)


@app.command(
    epilog="Examples:  discreet audit attack differencing  |  discreet audit attack --all --json"
)
@typed
def attack(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which attacks.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: Json = False,
) -> None:
    """Attack this system the way others were broken, and an unsafe version of it as a control.

    Exit status: 0 if every attack stays below its ceiling and its control succeeds, 1 if not.
    """
    from discreet.audit.attacks import ATTACKS

    chosen = list(ATTACKS) if every else list(names or ())
    strange = [name for name in chosen if name not in ATTACKS]
    if strange or not chosen:
        raise InvalidInput(
            f"there is no attack {strange[0]!r}; there are {', '.join(ATTACKS)}."
            if strange
            else f"which attack? There are {', '.join(ATTACKS)}.",
            hint=f"discreet audit attack {next(iter(ATTACKS))}, or --all",
        )
    found = []
    for name in chosen:
        found.append(ATTACKS[name]())
        if not as_json:
            typer.echo(f"{found[-1]}\n")
    if as_json:
        typer.echo(json.dumps({"attacks": [each.to_json() for each in found]}, indent=2))
    if not all(each.holds and each.bites for each in found):
        raise typer.Exit(1)


class _Copied(Source):
    """A copy that is thrown away: nobody becomes its curator."""

    def _welcome(self, data: Path, budget: dict[str, Any]) -> None:
        del data, budget

    def _log(self) -> None:
        return


def _swap(file: Path, copy: Path) -> None:
    shutil.copyfile(file, copy)


def show(report: Report, *, as_json: bool) -> None:
    """Print a report; the exit status says whether the claim is refuted."""
    typer.echo(json.dumps(report.to_json(), indent=2) if as_json else str(report))
    if report.refuted:
        raise typer.Exit(1)


def load(name: str) -> Callable[[Any, int], Any]:
    """The function that ``module:function`` names, found from the current folder too."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput(
            f"{name!r} does not name a function in a module.", hint="mine:noisy_count"
        )
    sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"there is no module {error.name!r}, here or installed.",
            hint=f"run it in the folder that holds {module.replace('.', '/')}.py",
        ) from None
    finally:
        sys.path.remove("")
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [n for n in dir(found) if n[0] != "_" and callable(getattr(found, n))]
            raise InvalidInput(
                f"{module} has no {attribute!r}.", hint=f"{module}:{[*public, 'function'][0]}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise InvalidInput(f"{name} is not a function.", hint="def noisy_count(value, n): ...")
    return found  # type: ignore[no-any-return]


def _input(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on standard error with the bound so far."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("looking for an event", total=1.0)
        yield lambda done, told: bar.update(task, completed=done, description=told)
