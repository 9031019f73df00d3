"""What a policy states, against what its sources say of themselves: names, and no rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from discreet.errors import InvalidInput
from discreet.policy.mistakes import Mistake
from discreet.policy.model import EACH_ROW
from discreet.policy.sources import Source
from discreet.policy.write import key


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of a source without reading a row."""

    columns: tuple[str, ...] | None = None
    """The names of its columns; None where only a server would know them."""
    files: frozenset[str] = frozenset()
    """By which its files are known, whatever they are called."""


class Look(Protocol):
    """How a source is looked at; one that is not there is an ``InvalidInput``."""

    def __call__(self, source: Source, *, folder: Path) -> Seen:
        """What the source says of itself; relative paths start at the folder."""


def against(
    datasets: Any, look: Callable[[Source], Seen], mistakes: list[Mistake]
) -> list[Mistake]:
    """The mistakes, and what does not fit the sources; of two at one place the latter is told."""
    found: list[Mistake] = []
    owners: dict[str, tuple[str, str]] = {}
    for name, dataset in datasets.items() if isinstance(datasets, dict) else ():
        if not isinstance(dataset, dict):
            continue
        try:
            source = Source.model_validate(dataset.get("source"))
            seen = look(source)
        except ValidationError:
            continue  # told already
        except InvalidInput as error:
            found.append(Mistake(("dataset", name, "source"), error.message, error.hint or ""))
            continue
        found += _columns(name, dataset, seen.columns)
        pool = str(dataset.get("pool", name))
        for file in seen.files:
            other, theirs = owners.setdefault(file, (name, pool))
            if theirs != pool:
                found.append(_second_budget(name, other, theirs))
                break
    told = {each.where for each in found}
    return [*(each for each in mistakes if each.where not in told), *found]


def _columns(
    name: str, dataset: Mapping[str, Any], there: tuple[str, ...] | None
) -> Iterator[Mistake]:
    columns = dataset.get("columns")
    if there is None or not isinstance(columns, dict):
        return
    known = {each.lower(): each for each in there}  # in SQL small and large letters are alike
    for column in columns:
        if column.lower() not in known:
            yield Mistake(
                ("dataset", name, "columns", column), *_absent(column, known), in_key=True
            )
    unit = dataset.get("unit")
    if isinstance(unit, str) and unit not in columns and unit.lower() not in known:
        message, _ = _absent(unit, known)
        likely = get_close_matches(unit.lower(), known, n=1, cutoff=0.4) or [
            each for each in known if each.endswith("id")
        ]
        hint = f'unit = "{known[likely[0]]}", or ' if likely else ""
        yield Mistake(
            ("dataset", name, "unit"), message, f'{hint}unit = "{EACH_ROW}" if each row is a person'
        )


def _absent(column: str, known: Mapping[str, str]) -> tuple[str, str]:
    close = get_close_matches(column.lower(), known, n=1, cutoff=0.6)
    return (
        f'the source has no column "{column}"; it has {", ".join(known.values())}.',
        f"did you mean {key(known[close[0]])}?" if close else "leave it out",
    )


def _second_budget(name: str, other: str, pool: str) -> Mistake:
    return Mistake(
        ("dataset", name, "source"),
        f'"{other}" reads the same rows, so their people would have two budgets.',
        f'pool = "{pool}" under [dataset.{key(name)}]: both then spend from one budget',
    )
