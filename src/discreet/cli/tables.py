"""Tables of probabilities: read from a file, and what the worst of them shows."""

from __future__ import annotations

import csv
import json
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import InvalidInput, InvalidProbability, InvalidValue
from discreet.exact import rational
from discreet.theory import Channel, Witness, all_pairs

Pairs = list[tuple[Hashable, Hashable]] | None
"""Which inputs are neighbours; None means every two."""


def channel(file: Path) -> Channel:
    """Read a CSV or JSON table, every probability as it is written."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(
            f'"{file}" is not a text file that can be read.',
            hint="discreet theory epsilon coins.csv",
        ) from None
    if file.suffix.lower() != ".json":
        return _from_csv(text)
    try:
        # Numbers stay as they are written: 0.1 is a tenth.
        read = json.loads(text, parse_float=str)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f'"{file}" is not JSON: {error.msg} at line {error.lineno}.', hint=_EXAMPLE
        ) from None
    if read and isinstance(read, dict) and all(isinstance(row, dict) for row in read.values()):
        return Channel.from_table(read)
    if read and isinstance(read, list) and all(isinstance(row, list) for row in read):
        return _matrix(read)
    raise InvalidProbability(
        f'"{file}" is neither a table of inputs and outputs nor a matrix.', hint=_EXAMPLE
    )


_CSV = r"printf ',yes,no\nyes,3/4,1/4\nno,1/4,3/4\n' > coins.csv"
_EXAMPLE = '{"yes": {"yes": "3/4", "no": "1/4"}, "no": {"yes": "1/4", "no": "3/4"}}'


def _from_csv(text: str) -> Channel:
    lines = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines())]
    rows = [row for row in lines if any(row)]
    if not rows:
        raise InvalidProbability("the table is empty.", hint=_CSV)
    if _is_number(rows[0][0]):
        return _matrix(rows)
    inputs, outputs = [row[0] for row in rows[1:]], rows[0][1:]
    return _matrix([row[1:] for row in rows[1:]], inputs=inputs, outputs=outputs)


def _matrix(
    rows: list[list[Any]], *, inputs: list[str] | None = None, outputs: list[str] | None = None
) -> Channel:
    wide = len(rows[0] if outputs is None else outputs) if rows else 0
    if wide == 0 or any(len(row) != wide for row in rows):
        raise InvalidProbability(
            "the table needs at least one row, and in each row a probability for every output.",
            hint=_CSV,
        )
    return Channel(rows, inputs=inputs, outputs=outputs)


def _is_number(cell: str) -> bool:
    try:
        rational(cell)
    except InvalidInput:
        return False
    return True


def pairs(channel: Channel, neighbours: str) -> Pairs:
    """The pairs that ``all``, ``chain`` or ``a:b,b:c`` means."""
    if neighbours == "all":
        return None
    if neighbours == "chain":
        return list(zip(channel.inputs, channel.inputs[1:], strict=False))
    named = {str(name): name for name in channel.inputs}
    named_pairs: list[tuple[Hashable, Hashable]] = []
    for pair in neighbours.split(","):
        ends = [end.strip() for end in pair.split(":")]
        if len(ends) != 2 or any(end not in named for end in ends):
            raise InvalidValue(
                f"{pair!r} is not a pair of two inputs; there are {', '.join(named)}.",
                hint=f"--neighbours all, --neighbours chain, or --neighbours "
                f"{':'.join([*named, *named][:2])}",
            )
        named_pairs.append((named[ends[0]], named[ends[1]]))
    return named_pairs


def worst(channel: Channel, pairs: Pairs) -> dict[str, Any] | None:
    """The output that tells two neighbours apart best."""
    best: tuple[Fraction | None, dict[str, Any]] | None = None
    for one, other in all_pairs(channel.inputs) if pairs is None else pairs:
        for x, y in ((one, other), (other, one)):
            for output, a, b in zip(channel.outputs, channel[x], channel[y], strict=True):
                if not (isinstance(a, Fraction) and isinstance(b, Fraction)) or a == 0:
                    continue
                ratio = a / b if b else None
                if best is None or ratio is None or (best[0] is not None and ratio > best[0]):
                    best = (ratio, _told(x, y, output, a, b))
                if ratio is None:
                    return best[1]
    return None if best is None else best[1]


def _told(x: Hashable, y: Hashable, output: Hashable, a: Fraction, b: Fraction) -> dict[str, Any]:
    return {
        "input": str(x),
        "neighbour": str(y),
        "output": str(output),
        "probability": str(a),
        "neighbour_probability": str(b),
        "ratio": str(a / b) if b else None,
    }


def witness_json(witness: Witness) -> dict[str, Any]:
    """A witness as plain data."""
    return {
        "input": str(witness.x),
        "neighbour": str(witness.neighbour),
        "event": sorted(map(str, witness.event)),
        "probability": str(witness.probability),
        "neighbour_probability": str(witness.neighbour_probability),
    }
