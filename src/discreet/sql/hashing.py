"""Keyed hashes that are the same on every engine: MD5 of a text that is the same on every engine.

They decide which rows and which groups of a person are kept, and must prefer none. MD5 is what all
engines have; that its collisions can be found by whoever knows the key matters to nobody here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.plan.expressions import Type
from discreet.sql.dialects import Dialect
from discreet.sql.emit import apply, constant, real

_BETWEEN = "|"
_MISSING = "~"
# Reals count to about a millionth and to about 4e12: whoever orders by the hash orders by the
# values themselves next.
_FINEST, _LARGEST = Fraction(2**20), Fraction(2**42)


def canonical(text: str, kind: Type, dialect: Dialect) -> str:
    """A value as text that all engines agree on; NULL has a mark of its own."""
    if kind == "real":
        low, high = real(-_LARGEST, dialect), real(_LARGEST, dialect)
        text = f"LEAST(GREATEST({text}, {low}), {high}) * {real(_FINEST, dialect)}"
    return f"COALESCE({dialect.canonical[kind].format(text)}, {constant(_MISSING, dialect)})"


def keyed(key: str, parts: Sequence[str], dialect: Dialect) -> str:
    """128 bits of texts under a key, which all engines bring into the same order."""
    between = f" || {constant(_BETWEEN, dialect)} || "
    return apply("hash", between.join([constant(key, dialect), *parts]), dialect=dialect)
