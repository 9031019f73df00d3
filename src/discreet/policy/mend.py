"""Every mistake of a policy in one round.

A rule over a whole table is judged only where each of its settings can be read. So a mistake is
taken out and the rest judged again, until nothing new is found. What a repair itself brings about
is not told.
"""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from typing import Any, get_args

from pydantic import ValidationError

from discreet.policy.mistakes import Mistake, Where
from discreet.policy.model import Policy
from discreet.policy.values import Type
from discreet.policy.words import explain, is_unknown, meant

_ROUNDS = 5
_GOOD: dict[str, Any] = {"rows_per_unit": 1, "epsilon": 1}


def judged(wanted: dict[str, Any]) -> tuple[Policy | None, list[Mistake]]:
    """The policy, or all of its mistakes."""
    found: list[Mistake] = []
    repaired: set[Where] = set()
    for turn in range(_ROUNDS):
        try:
            policy = Policy.model_validate(wanted)
        except ValidationError as error:
            fresh = [each for each in explain(error) if not _near(each.where, repaired)]
        else:
            return (None if found else policy), found
        if not fresh:
            break
        found += fresh
        wanted = deepcopy(wanted) if turn == 0 else wanted
        for each in fresh:
            repaired |= {each.where, *_repair(wanted["datasets"], each.where)}
    return None, found


def _near(where: Where, repaired: set[Where]) -> bool:
    """Whether a place was repaired, or holds one or is in one that was."""
    return any(each[: len(where)] == where or where[: len(each)] == each for each in repaired)


def _repair(datasets: Any, where: Where) -> set[Where]:
    """Put something harmless where a mistake is; the other places that this touches."""
    if is_unknown(where):
        _rename(datasets, where)
        return set()
    match where:
        case ("dataset", name) if isinstance(datasets, dict):
            datasets.pop(name, None)
            return set()
        case ("dataset", name, setting, *rest) if isinstance(datasets, dict):
            dataset = datasets.get(name)
            if isinstance(dataset, dict):
                touched = _setting(dataset, str(setting), rest)
                return {("dataset", name, *each) for each in touched}
    return set()


def _rename(datasets: Any, where: Where) -> None:
    """Call a misspelt setting what was meant, so that it is not missing as well."""
    table = datasets
    for each in where[1:-1]:
        table = table.get(each) if isinstance(table, dict) else None
    if isinstance(table, dict) and where[-1] in table:
        given, right = table.pop(where[-1]), meant(where)
        if right is not None:
            table.setdefault(right, given)


def _setting(dataset: dict[str, Any], setting: str, rest: list[str | int]) -> set[Where]:
    held = dataset.get(setting)
    match setting, rest:
        case "unit", _:
            # A person's rows cannot be judged without knowing who a person is.
            alone = ("unit", "rows_per_unit", "groups_per_unit", "rows_in_group", "bounding")
            for each in alone:
                dataset.pop(each, None)
            dataset["unit"] = None
            return {(each,) for each in alone}
        case "source", _:
            dataset["source"] = {"kind": "parquet", "path": "visits.parquet"}
            return {("source",), ("engine",)}
        case "columns", [column, *inner] if isinstance(held, dict):
            _column(held, str(column), inner)
            return {("unit",)} if dataset.get("unit") == column and column not in held else set()
        case "columns", _:
            dataset["columns"] = {"x": {"name": "x", "type": "text"}}
            return {("unit",)}
        case "analysts", [analyst, *_] if isinstance(held, dict):
            held.pop(analyst, None)
        case "budget", [inner, *_] if isinstance(held, dict):
            return _budget(held, str(inner))
        case "budget", _:
            dataset["budget"] = {"epsilon": 1}
            return {("analysts",), ("delta_per_query",)}
        case "engine", [inner, *_] if isinstance(held, dict):
            held.pop(inner, None)
        case _:
            _replace(dataset, setting)
    return set()


def _column(columns: dict[str, Any], name: str, inner: list[str | int]) -> None:
    column = columns.get(name)
    if not isinstance(column, dict) or column.get("type") not in get_args(Type):
        columns[name] = {"name": name, "type": "text"}
    elif not inner:
        del columns[name]
    else:
        column.pop(inner[0], None)
        if inner[0] == "keys_from":
            column.pop("keys", None)


def _budget(budget: dict[str, Any], setting: str) -> set[Where]:
    counted = budget.get("accountant", "pure") != "pure"
    _replace(budget, setting)
    if counted and setting in ("accountant", "delta"):
        # Some accountants need a delta, and analysts may then have one too.
        budget["delta"] = budget.get("delta") or Decimal("1e-9")
        return {("delta_per_query",)}
    return set()


def _replace(table: dict[str, Any], setting: str) -> None:
    if setting in _GOOD:
        table[setting] = _GOOD[setting]
    else:
        table.pop(setting, None)
