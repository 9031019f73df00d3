"""Keyed hashes that are the same on every engine: MD5 of a text that is the same on every engine.

They decide which rows and which groups of a person are kept, and must prefer none. MD5 is what all
engines have; that its collisions can be found by whoever knows the key matters to nobody here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

from discreet.plan.expressions import Type
from discreet.sql.dialects import Dialect
from discreet.sql.emit import apply, constant, real

HIDDEN = "KEY"
"""What stands for the key where SQL is shown, not run."""

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


def keyed(key: str | None, parts: Sequence[str], dialect: Dialect) -> str:
    """128 bits of texts under a key, which all engines bring into the same order.

    No part may be NULL: what is NULL would be passed over.
    """
    texts = [constant(part, dialect) for part in (_BETWEEN, digest(key))]
    return apply("hash", f"CONCAT_WS({', '.join([*texts, *parts])})", dialect=dialect)


def keyed_name(key: str | None, name: str, dialect: Dialect) -> str:
    """128 bits of a name under a key; NULL where the name is."""
    prefix = constant(digest(key) + _BETWEEN, dialect)
    return apply("hash", f"{prefix} || {name}", dialect=dialect)


def digest(key: str | None) -> str:
    """80 bits of the key: with them most rows fit into one block of MD5.

    Without a key the text is only for showing, and a word stands where they would: whoever saw
    them could tell which of a person's rows are kept, and which name a hash is of.
    """
    if key is None:
        return HIDDEN
    return hashlib.sha256(key.encode()).hexdigest()[:20]
