"""Randomizers written down: every probability as a rational, and checked when it is read.

What is read is not trusted. The probabilities must be whole numbers of 2**-64ths and must keep the
promise: e^epsilon, worked out from them exactly, is at most what is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import DiscreetError, InvalidSurvey
from discreet.exact import Real
from discreet.local.duchi import OneBit
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.kary import KaryResponse
from discreet.local.memoized import Memoized
from discreet.local.piecewise import Piecewise
from discreet.local.randomizer import Randomizer
from discreet.local.subset import SubsetSelection
from discreet.local.two_coins import TwoCoins
from discreet.local.unary import UnaryEncoding
from discreet.local.words import FULL
from discreet.theory.losses import Log, loss

KINDS: dict[str, type[Randomizer]] = {
    each.kind: each
    for each in (
        TwoCoins,
        KaryResponse,
        UnaryEncoding,
        SubsetSelection,
        LocalHashing,
        HadamardResponse,
        OneBit,
        Piecewise,
    )
}

# The whole numbers that describe a randomizer beside its probabilities.
WHOLE: dict[str, tuple[str, ...]] = {
    "two_coins": (),
    "kary": ("size",),
    "unary": ("size",),
    "subset": ("size", "chosen"),
    "hashing": ("size", "buckets", "prime", "digits"),
    "hadamard": ("size", "blocks"),
    "one_bit": ("size",),
    "piecewise": ("size", "stride", "window"),
}


def write(randomizer: Randomizer) -> dict[str, Any]:
    """Plain JSON data.

    >>> write(KaryResponse(size=4, epsilon="ln 5"))
    {'kind': 'kary', 'size': 4, 'lie': '1/8'}
    """
    if isinstance(randomizer, Memoized):
        return {
            "kind": "memoized",
            "once": write_loss(randomizer.once),
            "most_values": randomizer.most_values,
            "permanent": write(randomizer.permanent),
            "instantaneous": write(randomizer.instantaneous),
        }
    numbers = {name: getattr(randomizer, name) for name in WHOLE[randomizer.kind]}
    parts = {
        name: f"{share.numerator}/{share.denominator}"
        for name, share in randomizer.shares().items()
    }
    return {"kind": randomizer.kind, **numbers, **parts}


def read(data: Mapping[str, Any], epsilon: str) -> Randomizer:
    """The randomizer that was written, if it keeps the promise of epsilon.

    >>> read({"kind": "kary", "size": 4, "lie": "1/8"}, "ln 5").epsilon
    ln(5)
    >>> read({"kind": "kary", "size": 4, "lie": "1/16"}, "ln 5")
    Traceback (most recent call last):
    discreet.errors.InvalidSurvey: the stored probabilities lose more than the epsilon declared.
    <BLANKLINE>
    Hint: design the survey anew: discreet survey new.
    """
    try:
        if data["kind"] == "memoized":
            return _read_memoized(data, epsilon)
        made = _restore(data, epsilon)
    except InvalidSurvey:
        raise
    except (DiscreetError, KeyError, TypeError, ValueError, ZeroDivisionError) as fault:
        raise InvalidSurvey(
            f"the survey's randomizer cannot be read ({type(fault).__name__}).",
            hint="design the survey anew: discreet survey new.",
        ) from None
    keep_promise(made.ratio, made.declared)
    return made


def keep_promise(ratio: Fraction, declared: Real) -> None:
    """Refuse probabilities that lose more than was declared, or say nothing."""
    if ratio <= 1:
        raise InvalidSurvey(
            "the stored probabilities do not depend on the answer: nothing could be learnt.",
            hint="design the survey anew: discreet survey new.",
        )
    allowed = declared.exp()
    if (allowed.exact is not None and ratio > allowed.exact) or (
        allowed.exact is None and not allowed > ratio
    ):
        raise InvalidSurvey(
            "the stored probabilities lose more than the epsilon declared.",
            hint="design the survey anew: discreet survey new.",
        )


def write_loss(epsilon: Real) -> str:
    """An epsilon as text: "1/10", or "ln 3"."""
    if isinstance(epsilon, Log) and epsilon.exact is None:
        base, times = epsilon.argument, epsilon.times
        if times.denominator == 1 and times > 0:
            return f"ln {base**times.numerator}"
    exact = epsilon.exact if epsilon.exact is not None else epsilon.lower(80)
    return f"{exact.numerator}/{exact.denominator}"


def _restore(data: Mapping[str, Any], epsilon: str, *, checked: bool = True) -> Randomizer:
    kind = data["kind"]
    if not isinstance(epsilon, str):
        raise TypeError
    numbers = {name: data[name] for name in WHOLE[kind]}
    if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers.values()):
        raise TypeError
    if kind == "two_coins":
        if epsilon != "ln 3" or set(data) != {"kind", "tails"} or data["tails"] != "1/2":
            raise ValueError
        return TwoCoins()
    # Made anew, which checks the whole numbers; then given the probabilities that were stored.
    made = KINDS[kind](**numbers, epsilon=epsilon)  # type: ignore[call-arg]
    names = set(made.shares())
    if set(data) != {"kind", *numbers, *names}:
        raise ValueError
    if not all(isinstance(data[name], str) for name in names):
        raise TypeError
    for name in names:
        part = Fraction(data[name]) * FULL
        if part.denominator != 1 or not 0 < part < FULL:
            raise ValueError
        object.__setattr__(made, name, int(part))
    if isinstance(made, OneBit) and 2 * made.least + (made.size - 1) * made.step != FULL:
        raise ValueError
    if checked:
        keep_promise(made.ratio, made.declared)
    return made


def _read_memoized(data: Mapping[str, Any], epsilon: str) -> Memoized:
    if set(data) != {"kind", "once", "most_values", "permanent", "instantaneous"}:
        raise ValueError
    permanent = _restore(data["permanent"], epsilon)
    # The instantaneous part has no epsilon of its own: the two together are checked below.
    instantaneous = _restore(data["instantaneous"], epsilon, checked=False)
    parts = {permanent.kind, instantaneous.kind}
    fresh = Memoized(
        size=permanent.size,
        epsilon=epsilon,
        once=data["once"],
        most_values=data["most_values"],
        encoding=permanent.kind,
    )
    if len(parts) != 1 or permanent.size != instantaneous.size:
        raise ValueError
    made = Memoized.of(
        permanent,  # type: ignore[arg-type]  # the encoding was checked above
        instantaneous,  # type: ignore[arg-type]
        epsilon=epsilon,
        once=data["once"],
        most_values=fresh.most_values,
    )
    keep_promise(made.permanent.ratio, made.declared)
    keep_promise(made.first_ratio, loss(data["once"]))
    return made
