"""From a policy back to text: the TOML that states it, and plain JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from discreet.policy.model import (
    EACH_ROW,
    AnalystCap,
    Column,
    Dataset,
    LedgerSettings,
    Policy,
    Source,
)
from discreet.policy.values import shown

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TABLES = {"name", "columns", "budget", "analysts"}


def to_toml(policy: Policy) -> str:
    """The text that ``reads`` turns into the same policy; defaults are left out."""
    lines = [line for name in policy.datasets for line in _dataset(policy.datasets[name])]
    return "\n".join([*_ledger(policy.ledger), *lines])


def to_json(model: BaseModel) -> dict[str, Any]:
    """Plain JSON data: exact numbers and dates as text, every default filled in."""
    return {name: _json(getattr(model, name)) for name in type(model).model_fields}


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A TOML key, quoted where it must be."""
    return name if _BARE.fullmatch(name) else quoted(name)


def _ledger(ledger: LedgerSettings) -> Iterator[str]:
    settings = _settings(ledger)
    if settings:
        yield from ("[ledger]", *(f"{name} = {_value(each)}" for name, each in settings.items()))
        yield ""


def _dataset(dataset: Dataset) -> Iterator[str]:
    header = f"dataset.{key(dataset.name)}"
    yield f"[{header}]"
    yield f"source = {_source(dataset.source)}"
    yield f"unit = {quoted(EACH_ROW if dataset.unit is None else dataset.unit)}"
    for name, value in _settings(dataset).items():
        if name not in _TABLES | {"source", "unit"}:
            yield f"{name} = {_value(value)}"
    yield f"\n[{header}.columns]"
    for name, column in dataset.columns.items():
        yield f"{key(name)} = {_column(column)}"
    yield f"\n[{header}.budget]"
    budget = dataset.budget
    yield from (f"{name} = {_value(getattr(budget, name))}" for name in type(budget).model_fields)
    if dataset.analysts:
        yield f"\n[{header}.analysts]"
    for name, cap in dataset.analysts.items():
        yield f"{key(name)} = {_cap(cap)}"
    yield ""


def _source(source: Source) -> str:
    return _inline({"kind": source.kind} | _settings(source))


def _column(column: Column) -> str:
    settings = {name: value for name, value in _settings(column).items() if name != "name"}
    if column.keys_from is not None:
        settings["keys_from"] = _settings(column.keys_from)
        del settings["keys"]
    return _inline(settings)


def _cap(cap: AnalystCap) -> str:
    return _inline(_settings(cap))


def _settings(model: BaseModel) -> dict[str, Any]:
    """The settings that differ from their defaults."""
    fields = type(model).model_fields
    return {
        name: getattr(model, name)
        for name, field in fields.items()
        if getattr(model, name) != field.get_default(call_default_factory=True)
    }


def _inline(settings: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{name} = {_value(each)}" for name, each in settings.items()) + " }"


def _value(value: Any) -> str:
    match value:
        case None:
            return "{ null = true }"
        case str():
            return quoted(value)
        case tuple():
            return "[" + ", ".join(_value(each) for each in value) + "]"
        case dict():
            return _inline(value)
        case BaseModel():
            return _inline(_settings(value))
    return shown(value)


def _json(value: Any) -> Any:
    match value:
        case BaseModel():
            return to_json(value)
        case Mapping():
            return {name: _json(each) for name, each in value.items()}
        case tuple():
            return [_json(each) for each in value]
        case Fraction() | Path():
            return str(value)
        case date():
            return value.isoformat()
    return value
