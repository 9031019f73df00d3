"""From a TOML file to a policy, or to every mistake in it, each at its line and column."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from discreet.errors import InvalidInput, InvalidPolicy, PolicyMistake
from discreet.policy.against import Look, against
from discreet.policy.columns import KeysFrom
from discreet.policy.mend import judged
from discreet.policy.mistakes import Mistake, Where
from discreet.policy.model import EACH_ROW, Policy
from discreet.policy.positions import Place, Position, positions
from discreet.policy.sources import kind_of
from discreet.policy.tables import keys_of
from discreet.policy.values import Type
from discreet.policy.words import unknown

_AT = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")


def read(path: str | Path, *, look: Look | None = None) -> Policy:
    """The policy that a file states.

    With ``look``, which tells what a source says of itself, one that does not fit it is refused.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidPolicy(
            f'the policy "{path}" cannot be read: {error.strerror or "no such file"}.',
            hint=f"discreet init visits.csv --out {path}",
        ) from None
    except UnicodeDecodeError:
        raise InvalidPolicy(
            f'the policy "{path}" is not text in UTF-8.', hint="save it as UTF-8"
        ) from None
    return reads(text, path=path, look=look)


def reads(text: str, *, path: Path | None = None, look: Look | None = None) -> Policy:
    """The policy that a text states; ``path`` says where relative paths start.

    >>> policy = reads('''
    ... [dataset.visits]
    ... source = "visits.parquet"
    ... unit = "each row"
    ... columns.age = { type = "integer", bounds = [0, 110] }
    ... budget.epsilon = 0.1
    ... ''')
    >>> policy.datasets["visits"].budget.epsilon
    Fraction(1, 10)
    """
    name = "the policy" if path is None else str(path)
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _invalid(name, [_syntax(text, error)]) from None
    places = positions(text)
    folder = Path() if path is None else path.parent
    wanted, mistakes = _arrange(tree, folder)
    policy, found = judged(wanted | {"path": path})
    mistakes += found
    if look is not None:
        mistakes = against(wanted["datasets"], partial(look, folder=folder), mistakes)
    if policy is not None and not mistakes:
        return policy
    raise _invalid(name, [_locate(each, places) for each in mistakes])


def _arrange(tree: dict[str, Any], folder: Path) -> tuple[dict[str, Any], list[Mistake]]:
    """The file's tables in the shape of the model, and what only a file can get wrong."""
    mistakes = [unknown((key,)) for key in tree if key not in ("dataset", "ledger")]
    ledger = {"ledger": tree["ledger"]} if "ledger" in tree else {}
    given = tree.get("dataset", {})
    if not isinstance(given, dict):
        return {"datasets": given} | ledger, mistakes
    datasets: dict[str, Any] = {}
    for name, raw in given.items():
        dataset = raw
        if isinstance(raw, dict):
            dataset = _named(raw, name, ("dataset", name), mistakes)
            if raw.get("unit") == EACH_ROW:
                dataset["unit"] = None
            if isinstance(raw.get("source"), str | dict):
                dataset["source"] = _source(raw["source"], ("dataset", name, "source"), mistakes)
            if isinstance(raw.get("columns"), dict):
                dataset["columns"] = {
                    each: _column(column, ("dataset", name, "columns", each), folder, mistakes)
                    for each, column in raw["columns"].items()
                }
                if EACH_ROW in raw["columns"] and raw.get("unit") == EACH_ROW:
                    mistakes.append(
                        Mistake(
                            ("dataset", name, "unit"),
                            f'there is a column named "{EACH_ROW}" too, so this has two meanings.',
                            "rename the column in a view of the source",
                        )
                    )
        datasets[name] = dataset
    return {"datasets": datasets} | ledger, mistakes


def _source(raw: str | dict[str, Any], where: Where, mistakes: list[Mistake]) -> dict[str, Any]:
    source: dict[str, Any] = {"path": raw} if isinstance(raw, str) else dict(raw)
    for name in ("null", "settings"):
        if isinstance(source.get(name), list):
            source[name] = tuple(source[name])
    if "kind" not in source and isinstance(source.get("path"), str):
        kind = kind_of(source["path"])
        if kind is not None:
            source["kind"] = kind
            if kind == "csv" and ".tsv" in source["path"].lower():
                source.setdefault("delimiter", "\t")
        else:
            source["kind"] = "parquet"  # so that the rest can be checked
            mistakes.append(
                Mistake(
                    where,
                    "the name of the file does not show what kind of file it is.",
                    f'source = {{ kind = "csv", path = "{source["path"]}" }}',
                )
            )
    return source


def _column(raw: Any, where: Where, folder: Path, mistakes: list[Mistake]) -> Any:
    if not isinstance(raw, dict):
        return raw
    column = _named(raw, str(where[-1]), where, mistakes)
    given = raw.get("keys_from")
    if given is None:
        return column
    if "keys" in raw:
        mistakes.append(
            Mistake((*where, "keys_from"), "the keys are listed already.", "leave one of them out")
        )
        del column["keys_from"]
        return column
    table = {"path": given} if isinstance(given, str) else given
    column["keys_from"] = table
    kind: Any = raw.get("type")
    if kind not in get_args(Type):
        return column  # the model says what is wrong
    try:
        column["keys"] = keys_of(KeysFrom.model_validate(table), folder=folder, kind=kind)
    except InvalidInput as error:
        mistakes.append(Mistake((*where, "keys_from"), error.message, error.hint or ""))
        del column["keys_from"]
    except ValidationError:
        pass  # the model says what is wrong
    return column


def _named(raw: dict[str, Any], name: str, where: Where, mistakes: list[Mistake]) -> dict[str, Any]:
    """The table with its own name in it, which a file writes in the header only."""
    if "name" in raw:
        mistakes.append(unknown((*where, "name")))
    return raw | {"name": name}


def _syntax(text: str, error: Exception) -> PolicyMistake:
    found = _AT.fullmatch(str(error))
    what, line, column = str(error).partition(" (at")[0], text.count("\n") + 1, 1
    if found is not None:
        what, line, column = found[1], int(found[2]), int(found[3])
    if isinstance(error, RecursionError):
        what = "too many brackets inside each other"
    return PolicyMistake(
        "",
        line,
        column,
        f"this is not TOML: {what[:1].lower()}{what[1:]}.",
        'one setting on each line, text in quotes: unit = "patient_id"',
    )


def _locate(mistake: Mistake, places: dict[Where, Place]) -> PolicyMistake:
    """A mistake at the place of the file nearest to it."""
    where = mistake.where
    while where and where not in places:
        where = where[:-1]
    place = places.get(where, Place(Position(1, 1), Position(1, 1)))
    line, column = place.key if mistake.in_key or where != mistake.where else place.value
    shown = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in mistake.where)
    return PolicyMistake(shown.lstrip("."), line, column, mistake.message, mistake.hint)


def _invalid(name: str, found: list[PolicyMistake]) -> InvalidPolicy:
    found = sorted(found, key=lambda each: (each.line or 0, each.column or 0))
    lines = [
        f"{name}:{each.line}:{each.column}: {each.where + ': ' if each.where else ''}{each.message}"
        for each in found
    ]
    if len(found) == 1:
        return InvalidPolicy(lines[0], mistakes=found, hint=found[0].hint)
    body = "\n\n".join(
        f"{line}\n\n    Hint: {each.hint}" for line, each in zip(lines, found, strict=True)
    )
    return InvalidPolicy(f"{name} has {len(found)} mistakes.\n\n{body}", mistakes=found)
