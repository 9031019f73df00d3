"""``discreet theory``: the common questions, answered without code."""

from __future__ import annotations

import json
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.typed import typed
from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.exact import Real, confidence, float_up, sensitivity

app = typer.Typer(
    no_args_is_help=True,
    help="What epsilon has it, how many people, what error: answered before anything is asked.",
)


class Model(StrEnum):
    """Who adds the noise: a trusted curator, or everybody."""

    CENTRAL = "central"
    LOCAL = "local"
    BOTH = "both"


class Mechanism(StrEnum):
    """Which noise."""

    LAPLACE = "laplace"
    GEOMETRIC = "geometric"
    GAUSSIAN = "gaussian"


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Epsilon = Annotated[str, typer.Option(help='0.5, 1/10, "ln 3".')]
Sensitivity = Annotated[str, typer.Option(help="How far one person can move the answer.")]
Confidence = Annotated[str, typer.Option(help="How sure the error must be.")]
Count = Annotated[int, typer.Option(min=1, help="How many numbers get noise; the worst counts.")]
Noise = Annotated[Mechanism, typer.Option(help="Which noise.")]
Delta = Annotated[str | None, typer.Option(help="For Gaussian noise, which needs one.")]


@app.callback()
def theory() -> None:
    """What epsilon has it, how many people, what error: answered before anything is asked."""


@app.command(
    epilog="Examples:  discreet theory epsilon coins.csv  |  discreet theory epsilon counts.json "
    '--neighbours chain --curve 0,0.5,1  |  discreet theory epsilon coins.csv --epsilon "ln 3"'
)
@typed
def epsilon(
    table: Annotated[
        Path,
        typer.Argument(
            help="A CSV or JSON table of probabilities: a row for each input, a column for each "
            "output. Write thirds as 1/3."
        ),
    ],
    *,
    neighbours: Annotated[
        str,
        typer.Option(
            help="Which inputs must look alike: all, chain (each row and the next), or pairs such "
            "as a:b,b:c."
        ),
    ] = "all",
    curve: Annotated[
        str | None, typer.Option(help="Also the least delta at these epsilons: 0,0.5,1.")
    ] = None,
    at_delta: Annotated[
        str | None, typer.Option(help="Also the least epsilon that goes with this delta.")
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option("--epsilon", help="Check a claim: is it private at this epsilon?"),
    ] = None,
    delta: Annotated[str, typer.Option(help="The claim's delta.")] = "0",
    as_json: Json = False,
) -> None:
    """The exact epsilon of a mechanism that is written as a table of probabilities.

    Exit status: 0, or 1 if a claim (--epsilon) is refuted; a witness is then shown.
    """
    from discreet.cli import tables, told

    channel = tables.channel(table)
    pairs = tables.pairs(channel, neighbours)
    level = channel.epsilon(pairs)
    found: dict[str, Any] = {
        "inputs": len(channel.inputs),
        "outputs": len(channel.outputs),
        "neighbours": neighbours,
        "epsilon": _number(level),
        "exact": _exact(level),
        "worst": tables.worst(channel, pairs),
    }
    if curve is not None:
        found["curve"] = [
            {"epsilon": at, **_written(channel.delta(at, pairs), name="delta")}
            for at in map(str.strip, curve.split(","))
        ]
    if at_delta is not None:
        found["at_delta"] = {
            "delta": at_delta,
            **_written(channel.epsilon_at(at_delta, pairs), name="epsilon"),
        }
    if claim is not None:
        verdict = channel.is_private(claim, delta, pairs)
        found["claim"] = {
            "epsilon": claim,
            "delta": delta,
            "holds": verdict.private,
            "witness": tables.witness_json(verdict.witness) if verdict.witness else None,
        }
    typer.echo(json.dumps(found) if as_json else "\n".join(told.epsilon_lines(found)))
    if claim is not None and not found["claim"]["holds"]:
        raise typer.Exit(1)


@app.command(
    "sample-size",
    epilog='Examples:  discreet theory sample-size --error 0.01 --epsilon "ln 3"  |  '
    "discreet theory sample-size --error 0.02 --epsilon 0.5 --model local --population",
)
@typed
def sample_size(
    *,
    error: Annotated[str, typer.Option(help="The rms error of a fraction: 0.01 is one point.")],
    epsilon: Epsilon,
    model: Annotated[Model, typer.Option(help="Who adds the noise.")] = Model.BOTH,
    population: Annotated[
        bool,
        typer.Option("--population", help="Local: the fraction of those they are drawn from."),
    ] = False,
    as_json: Json = False,
) -> None:
    """How many people it takes to know a fraction: with a curator, and without."""
    from discreet.theory import central_sample_size, local_sample_size

    level, sizes = _level(epsilon), {}
    if model is not Model.LOCAL:
        sizes["central"] = central_sample_size(error=error, epsilon=level)
    if model is not Model.CENTRAL:
        sizes["local"] = local_sample_size(error=error, epsilon=level, population=population)
    if as_json:
        found: dict[str, Any] = {"error": error, "epsilon": epsilon, "population": population}
        for name, size in sizes.items():
            found[name] = {"people": size.people, "formula": _number(size.formula)}
        typer.echo(json.dumps(found))
        return
    typer.echo(f"for an rms error of {error} of a fraction at epsilon {epsilon}:")
    how = {
        "central": "people if a trusted curator adds Laplace noise",
        "local": "people if everybody answers by randomized response"
        + (", sampling error included" if population else ""),
    }
    width = max(len(f"{size.people:,}") for size in sizes.values())
    for name, size in sizes.items():
        typer.echo(f"  {size.people:>{width},} {how[name]}")


@app.command(
    epilog="Examples:  discreet theory error --epsilon 0.1  |  discreet theory error "
    "--epsilon 0.1 --sensitivity 2 --count 3143  |  discreet theory error --epsilon 1 "
    "--mechanism gaussian --delta 1e-6"
)
@typed
def error(
    *,
    epsilon: Epsilon,
    sensitivity: Sensitivity = "1",
    confidence: Confidence = "0.95",
    count: Count = 1,
    mechanism: Noise = Mechanism.LAPLACE,
    delta: Delta = None,
    as_json: Json = False,
) -> None:
    """What error to expect, before anything is asked; the numbers are rounded up."""
    from discreet.cli import told
    from discreet.theory import GaussianNoise, GeometricNoise, LaplaceNoise

    width, beta = _sensitivity(sensitivity), 1 - _confidence(confidence)
    # A loss that is no fraction is rounded down, so that the noise is never too little.
    rate = _level(epsilon).lower(64)
    noise: LaplaceNoise | GeometricNoise | GaussianNoise
    expected: Real | None = None
    textbook: Real | None = None
    if mechanism is Mechanism.GAUSSIAN:
        noise = GaussianNoise(width * _sigma(rate, _delta(delta, mechanism)))
        scale, textbook = noise.sigma, noise.error_bound(beta, count)
    else:
        _delta(delta, mechanism)
        scale = width / rate
        if mechanism is Mechanism.LAPLACE:
            noise = LaplaceNoise(scale)
            textbook, expected = noise.error_bound(beta, count), noise.expected_largest(count)
        else:
            noise = GeometricNoise.for_privacy(sensitivity=width, epsilon=rate)
    found = {
        "mechanism": str(mechanism),
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": sensitivity,
        "confidence": confidence,
        "count": count,
        "scale": float_up(scale),
        "within": _number(Real(noise.error(beta, count))),
        "textbook": None if textbook is None else _number(textbook),
        "mean_error": _number(noise.mean_error()),
        "rms_error": _number(noise.rms_error()),
        "expected_largest": None if expected is None else _number(expected),
    }
    typer.echo(json.dumps(found) if as_json else "\n".join(told.error_lines(found)))


@app.command(
    "epsilon-for",
    epilog="Examples:  discreet theory epsilon-for --within 50  |  discreet theory epsilon-for "
    "--within 100 --confidence 0.99 --count 3143 --sensitivity 2",
)
@typed
def epsilon_for(
    *,
    within: Annotated[str, typer.Option(help="The error that must not be exceeded.")],
    confidence: Confidence = "0.95",
    sensitivity: Sensitivity = "1",
    count: Count = 1,
    mechanism: Noise = Mechanism.LAPLACE,
    delta: Delta = None,
    as_json: Json = False,
) -> None:
    """The least epsilon that keeps the error within a bound, rounded up."""
    from discreet.accounting.convert import normal_to_epsilon
    from discreet.cli import told
    from discreet.exact import positive
    from discreet.mechanisms.geometric import Geometric
    from discreet.theory import GaussianNoise, epsilon_for_error

    width, beta = _sensitivity(sensitivity), 1 - _confidence(confidence)
    reach = positive(within, name="within", example="50")
    slack = _delta(delta, mechanism)
    if mechanism is Mechanism.GAUSSIAN:
        # Scales and errors grow together: this sigma, rounded down, is just narrow enough.
        sigma = (reach / GaussianNoise(1).error(beta, count)).lower(64)
        least = normal_to_epsilon((width / sigma) ** 2, slack)
    elif mechanism is Mechanism.GEOMETRIC:
        made = Geometric.from_error(
            sensitivity=width, within=reach, confidence=1 - beta, coordinates=count
        )
        least = made.epsilon
    else:
        least = epsilon_for_error(error=reach, beta=beta, sensitivity=width, k=count).upper(64)
    if as_json:
        asked = {"within": within, "confidence": confidence, "sensitivity": sensitivity}
        how = {"count": count, "mechanism": str(mechanism), "delta": delta}
        typer.echo(json.dumps({**asked, **how, "epsilon": float_up(least)}))
        return
    whose = "the error is" if count == 1 else f"the worst of {count:,} errors is"
    also = "" if delta is None else f" and delta {delta}"
    typer.echo(
        f"epsilon {told.six(least)}{also}: with {mechanism} noise for sensitivity {sensitivity}, "
        f"{whose} at most {within} with {confidence} confidence."
    )


# Reading -----------------------------------------------------------------------------------------


def _level(epsilon: str) -> Real:
    from discreet.theory import loss

    read = loss(epsilon)
    if read == 0 or _infinite(read):
        raise InvalidEpsilon(
            f"epsilon = {epsilon} is not allowed here: it must be above 0, and finite.",
            hint="epsilon=0.5",
        )
    return read


def _delta(delta: str | None, mechanism: Mechanism) -> Fraction:
    from discreet.exact import delta as exact_delta

    if mechanism is Mechanism.GAUSSIAN:
        if delta is None:
            raise InvalidInput("Gaussian noise needs a delta.", hint="--delta 1e-6")
        return exact_delta(delta)
    if delta is not None:
        raise InvalidInput(
            f"{mechanism} noise has no delta: its guarantee is pure.",
            hint="leave out --delta, or --mechanism gaussian",
        )
    return Fraction(0)


def _sigma(rate: Fraction, delta: Fraction) -> Fraction:
    from discreet.mechanisms.gaussian import smallest_sigma

    return smallest_sigma(rate, delta)


_sensitivity, _confidence = sensitivity, confidence  # options have the same names


# Writing -----------------------------------------------------------------------------------------


def _number(value: Real) -> float | None:
    """A float at or above the number; None where it is infinite."""
    return None if _infinite(value) else value.float_up()


def _infinite(value: Real) -> bool:
    from discreet.theory.losses import Infinity

    return isinstance(value, Infinity)


def _exact(value: Real) -> str | None:
    """The number itself, where it can be written: a fraction, a logarithm, infinity."""
    from discreet.theory import Log

    if _infinite(value):
        return "infinity"
    if value.exact is not None:
        return str(value.exact)
    return repr(value) if isinstance(value, Log) else None


def _written(value: Real, *, name: str) -> dict[str, Any]:
    return {name: _number(value), "exact": _exact(value)}
