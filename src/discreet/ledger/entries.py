"""Entries: one line of text each, chained so that none can be changed, dropped or moved unseen.

The hash of an entry is SHA-256 over the hash before it (32 bytes; zeros before the first) and the
entry's text in UTF-8. The text is JSON and is kept exactly as it was hashed, so that checking a
chain needs no canonical form of anything.
"""

from __future__ import annotations

import json
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

FORMAT = 1
"""The version that the first entry of a ledger carries."""

GENESIS = bytes(32)


class Head(NamedTuple):
    """The last entry of a chain: how many there are, and the hash that fixes all of them."""

    seq: int
    hash: bytes


EMPTY = Head(0, GENESIS)


def entries(count: int) -> str:
    """So many of them, in words.

    >>> entries(1), entries(1200)
    ('1 entry', '1,200 entries')
    """
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


class Entry(NamedTuple):
    """One line of the ledger."""

    seq: int
    hash: bytes
    body: str

    @property
    def data(self) -> dict[str, Any]:
        """What the line says."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields


def link(previous: bytes, body: str) -> bytes:
    """The hash of the entry ``body`` that follows the hash ``previous``."""
    return sha256(previous + body.encode()).digest()


def body(seq: int, at: str, kind: str, fields: str) -> str:
    """The text of an entry; ``fields`` is JSON without its outer braces.

    >>> body(7, "2030-01-01T00:00:00.000000Z", "settle", '"reserved":6')
    '{"seq":7,"at":"2030-01-01T00:00:00.000000Z","kind":"settle","reserved":6}'
    """
    return f'{{"seq":{seq},"at":"{at}","kind":"{kind}",{fields}}}'


def fields(**values: object) -> str:
    """JSON fields without the outer braces, as ``body`` takes them."""
    return compact(values)[1:-1]


def compact(value: object) -> str:
    """JSON on one line, ASCII only."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(separators=(",", ":"))

quoted = encode_basestring_ascii
"""A text as JSON, ASCII only; ten times as fast as an encoder for one."""
