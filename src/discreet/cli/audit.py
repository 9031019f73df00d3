"""``discreet audit``: put a claim of privacy to the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import audit_sql
from discreet.cli.grouped import grouped
from discreet.cli.trial import Claimed, Json, Trial, shown_after
from discreet.cli.typed import typed
from discreet.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    help="Put a claim of privacy to the test: a function, a module, a program, a web service, a "
    "SQL answer, a sampler, this whole system.",
    epilog="A refutation is a proof, up to its confidence. Not refuting is not proving: another "
    "event, other inputs or more samples may still refute.",
)


@app.callback()
def audit() -> None:
    """Put a claim of privacy to the test."""


@app.command(
    epilog=shown_after(
        "discreet audit mechanism mine:noisy_count --inputs 10 11 --epsilon 1",
        "discreet audit mechanism mine:noisy_mean --inputs '[1, 2]' '[1, 3]' --epsilon 0.5 "
        "--delta 1e-6 --seconds 20 --json",
    )
)
@grouped("trial", Trial)
@grouped("claimed", Claimed)
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
    claimed: Claimed,
    trial: Trial,
) -> None:
    """Try to refute that a function keeps its claim between two neighbouring inputs.

    Your code runs as it is: audit only what you trust to run.
    """
    from discreet.cli import imported

    claimed.test(imported.function(function), trial)


@app.command(
    epilog=shown_after(
        "discreet audit module mine, where mine.py says above its functions "
        "@discreet.audit.claims(epsilon=1, inputs=(10, 11))"
    )
)
@grouped("trial", Trial, seconds=20.0)
@typed
def module(
    name: Annotated[str, typer.Argument(metavar="MODULE", help="Whose functions carry claims.")],
    *,
    trial: Trial,
) -> None:
    """Try to refute every claim that the functions of a module carry.

    Samples and seconds are for each claim; the confidence is that of all verdicts together.
    Your code runs as it is: audit only what you trust to run.
    """
    from discreet.audit import audit_module
    from discreet.cli import imported

    with trial.limits() as limits:
        found = audit_module(imported.module(name), **limits)
    trial.show(found)


@app.command(
    epilog=shown_after(
        'discreet audit command "./noisy_count {input} {n}" --inputs 10 11 --epsilon 1'
    )
)
@grouped("trial", Trial)
@grouped("claimed", Claimed)
@typed
def command(
    words: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND",
            help="With {input} and {n} in it; prints n independent outputs, one a line.",
        ),
    ],
    *,
    claimed: Claimed,
    trial: Trial,
) -> None:
    """Try to refute that a program in any language keeps its claim.

    No shell reads the command: its words are handed over as they are.
    """
    from discreet.audit.programs import Command

    claimed.test(Command(words), trial, read=False)


@app.command(
    epilog=shown_after(
        'discreet audit endpoint "http://localhost:8000/noisy?value={input}&n={n}" '
        "--inputs 10 11 --epsilon 1"
    )
)
@grouped("trial", Trial)
@grouped("claimed", Claimed)
@typed
def endpoint(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="With {input} and {n} in it; answers GET with n independent outputs, one a line.",
        ),
    ],
    *,
    claimed: Claimed,
    trial: Trial,
) -> None:
    """Try to refute that a web service keeps its claim."""
    from discreet.audit.programs import Endpoint

    claimed.test(Endpoint(address), trial, read=False)


app.command("sql", epilog=audit_sql.EPILOG)(audit_sql.sql)


class Sampler(StrEnum):
    """Noise whose every bit tape can be enumerated."""

    GEOMETRIC = "geometric"
    HALF_GEOMETRIC = "half-geometric"
    GAUSSIAN = "gaussian"


@app.command(
    epilog=shown_after(
        "discreet audit exact geometric --scale 2 --depth 16",
        "discreet audit exact gaussian --scale 5/2",
        status="Exit status: 0 if no tape contradicts the law, 1 if one does.",
    )
)
@typed
def exact(
    sampler: Annotated[Sampler, typer.Argument(help="Which of our samplers.")],
    *,
    scale: Annotated[str, typer.Option(help="Its scale, or standard deviation.")],
    depth: Annotated[int, typer.Option(help="How many bits of the tape.")] = 16,
    as_json: Json = False,
) -> None:
    """Run a sampler on every bit tape to a depth and compare with its law, in exact fractions."""
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
    epilog=shown_after(
        "discreet audit attack --list",
        "discreet audit attack differencing",
        "discreet audit attack --all --plot attacks.svg",
        status="Exit status: 0 if every attack stays below its ceiling and its control succeeds, "
        "1 if not.",
    )
)
@typed
def attack(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which attacks.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="Say which there are.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw them against their ceilings: .svg, .png or .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Attack this system the way others were broken, and an unsafe version of it as a control."""
    from discreet.audit.attacks import ATTACKS

    if list_them:
        told = {name: (each.__doc__ or "").partition("\n")[0] for name, each in ATTACKS.items()}
        lines = [f"{name:15} {story}" for name, story in told.items()]
        typer.echo(json.dumps({"attacks": told}, indent=2) if as_json else "\n".join(lines))
        return
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
    rows = [each.to_json() for each in found]
    if plot is not None:
        from discreet.pictures.attacks import attacks

        attacks(rows).save(plot)
    if as_json:
        typer.echo(json.dumps({"attacks": rows}, indent=2))
    elif plot is not None:
        typer.echo(f"drawn: {plot}")
    if not all(each.holds and each.bites for each in found):
        raise typer.Exit(1)
