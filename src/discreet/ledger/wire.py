"""How a request and its reply travel between processes: two lengths, JSON, bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from fractions import Fraction

from discreet.errors import DiscreetError, InsufficientBudget, LedgerFailed
from discreet.ledger.entries import compact
from discreet.ledger.requests import Answered, Reply, Reserve, Reserved, Settle

_LENGTHS = struct.Struct("!II")


def frame(words: object, blob: bytes = b"") -> bytes:
    """One message."""
    head = compact(words).encode()
    return _LENGTHS.pack(len(head), len(blob)) + head + blob


class Frames:
    """Messages out of a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[list[object], bytes]]:
        """The messages that are complete with ``data``."""
        self._bytes += data
        while len(self._bytes) >= _LENGTHS.size:
            head, blob = _LENGTHS.unpack_from(self._bytes)
            start, end = _LENGTHS.size + head, _LENGTHS.size + head + blob
            if len(self._bytes) < end:
                return
            words = json.loads(self._bytes[_LENGTHS.size : start])
            body = bytes(self._bytes[start:end])
            del self._bytes[:end]
            yield words, body


def write_request(request: Reserve | Settle) -> bytes:
    """A request as it is sent."""
    if isinstance(request, Reserve):
        words: list[object] = [request.dataset, request.analyst, request.key, request.request]
        return frame([*words, *request.cost], request.events.encode())
    return frame([request.reserved, request.request], request.answer)


def read_request(words: list[object], blob: bytes) -> Reserve | Settle:
    """A request as it was sent; anything else is a ValueError."""
    match words:
        case [str(dataset), str(analyst), str() | None as key, str(request), int(a), int(b)]:
            return Reserve(dataset, analyst, key, request, (a, b), blob.decode())
        case [int(reserved), str(request)]:
            return Settle(reserved, request, blob)
    raise ValueError("not a request")


def write_reply(reply: Reply | DiscreetError) -> bytes:
    """A reply, or a refusal, as it is sent."""
    if isinstance(reply, Reserved):
        return frame([reply.seq])
    if isinstance(reply, Answered):
        return frame([reply.seq, "answer"], reply.answer)
    assert isinstance(reply, DiscreetError)  # noqa: S101 - the curator's requests do not travel
    words: list[object] = [reply.code, reply.message, reply.hint]
    if isinstance(reply, InsufficientBudget):
        words.append(reply.whose)
        words += [
            {name: str(amount) for name, amount in amounts.items()}
            for amounts in (reply.asked, reply.remaining)
        ]
    return frame(words)


def read_reply(words: list[object], blob: bytes) -> Reply | DiscreetError:
    """A reply, or a refusal, as it was sent."""
    match words:
        case [int(seq)]:
            return Reserved(seq)
        case [int(seq), "answer"]:
            return Answered(seq, blob)
        case [str(code), str(message), str() | None as hint]:
            return _by_code().get(code, LedgerFailed)(message, hint=hint)
        case [str(), str(message), str() | None as hint, str(whose), dict(asked), dict(left)]:
            return InsufficientBudget(
                message,
                asked={name: Fraction(amount) for name, amount in asked.items()},
                remaining={name: Fraction(amount) for name, amount in left.items()},
                whose=whose,
                hint=hint,
            )
    raise ValueError("not a reply")


def _by_code() -> dict[str, type[DiscreetError]]:
    known: dict[str, type[DiscreetError]] = {}
    pending: list[type[DiscreetError]] = [DiscreetError]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if kind is not InsufficientBudget:
            known[kind.code] = kind
    return known
