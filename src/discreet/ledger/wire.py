"""How a request and its reply travel between processes: two lengths, JSON, bytes."""

from __future__ import annotations

import json
import struct
from fractions import Fraction

from discreet.errors import DiscreetError, InsufficientBudget, LedgerFailed
from discreet.ledger.entries import compact, quoted
from discreet.ledger.requests import Answered, Reply, Reserve, Reserved, Settle

_LENGTHS = struct.Struct("!II")


def frame(words: str, blob: bytes = b"") -> bytes:
    """One message: JSON and bytes."""
    head = words.encode()
    return _LENGTHS.pack(len(head), len(blob)) + head + blob


class Frames:
    """Messages out of a stream of bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[tuple[list[object], bytes]]:
        """The messages that are complete with ``data``."""
        rest = self._rest
        if not rest and data:  # as a rule, one message comes whole
            head, blob = _LENGTHS.unpack_from(data) if len(data) >= _LENGTHS.size else (0, 0)
            if head and len(data) == _LENGTHS.size + head + blob:
                return [_message(data, 0, head, blob)]
        rest += data
        found, start = [], 0
        while len(rest) - start >= _LENGTHS.size:
            head, blob = _LENGTHS.unpack_from(rest, start)
            if len(rest) - start < _LENGTHS.size + head + blob:
                break
            found.append(_message(rest, start, head, blob))
            start += _LENGTHS.size + head + blob
        del rest[:start]
        return found


def _message(
    data: bytes | bytearray, start: int, head: int, blob: int
) -> tuple[list[object], bytes]:
    start += _LENGTHS.size
    middle = start + head
    return json.loads(data[start:middle].decode()), bytes(data[middle : middle + blob])


def write_request(request: Reserve | Settle) -> bytes:
    """A request as it is sent."""
    if isinstance(request, Reserve):
        key = "null" if request.key is None else quoted(request.key)
        return frame(
            f"[{quoted(request.dataset)},{quoted(request.analyst)},{key},"
            f"{quoted(request.request)},{request.cost[0]},{request.cost[1]}]",
            request.events.encode(),
        )
    return frame(f"[{request.reserved},{quoted(request.request)}]", request.answer)


def read_request(words: list[object], blob: bytes) -> Reserve | Settle:
    """A request as it was sent; anything else is a ValueError."""
    kinds = tuple(map(type, words))
    if kinds in _RESERVE:
        dataset, analyst, key, request, main, delta = words
        return Reserve(dataset, analyst, key, request, (main, delta), blob.decode())  # type: ignore[arg-type]
    if kinds == _SETTLE:
        reserved, request = words
        return Settle(reserved, request, blob)  # type: ignore[arg-type]
    raise ValueError("not a request")


_RESERVE = {(str, str, key, str, int, int) for key in (str, type(None))}
_SETTLE = (int, str)


def write_reply(reply: Reply | DiscreetError) -> bytes:
    """A reply, or a refusal, as it is sent."""
    if isinstance(reply, Reserved | Answered):
        # What a crowd is waiting for is short.
        shared = ',"shared"' if reply.shared else ""
        if isinstance(reply, Reserved):
            return frame(f"[{reply.seq}{shared}]")
        return frame(f'[{reply.seq},"answer"{shared}]', reply.answer)
    assert isinstance(reply, DiscreetError)  # noqa: S101 - the curator's requests do not travel
    words: list[object] = [reply.code, reply.message, reply.hint]
    if isinstance(reply, InsufficientBudget):
        words.append(reply.whose)
        words += [
            {name: str(amount) for name, amount in amounts.items()}
            for amounts in (reply.asked, reply.remaining)
        ]
    return frame(compact(words))


def read_reply(words: list[object], blob: bytes) -> Reply | DiscreetError:
    """A reply, or a refusal, as it was sent."""
    if len(words) == 1 and type(words[0]) is int:  # what a crowd is waiting for
        return Reserved(words[0])
    match words:
        case [int(seq), "shared"]:
            return Reserved(seq, shared=True)
        case [int(seq), "answer", *rest] if rest in ([], ["shared"]):
            return Answered(seq, blob, shared=bool(rest))
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
