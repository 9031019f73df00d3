"""What pydantic found, in the policy's own words, with a line to try for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from discreet.errors import InvalidInput
from discreet.policy.columns import Column, KeysFrom
from discreet.policy.engine import EngineSettings
from discreet.policy.ledger import LedgerSettings
from discreet.policy.mistakes import Mistake, Where
from discreet.policy.model import AnalystCap, Budget, Dataset
from discreet.policy.sources import Source
from discreet.policy.values import Type, shown

EXAMPLES: dict[type[BaseModel], dict[str, str]] = {
    Dataset: {
        "source": 'source = "visits.parquet"',
        "unit": 'unit = "patient_id" (the column that says whose row it is), or '
        'unit = "each row" if each row is a person',
        "relation": 'relation = "add_remove"',
        "rows_per_unit": "rows_per_unit = 20 (the most rows of one person that are used)",
        "people": "people = 100000",
        "delta_per_query": "delta_per_query = 1e-8",
        "confidence": "confidence = 0.95",
        "bounding": 'bounding = "auto"',
        "groups_per_unit": "groups_per_unit = 5",
        "rows_in_group": "rows_in_group = 1",
        "columns": '[dataset.visits.columns], and below it age = { type = "integer" }',
        "budget": "[dataset.visits.budget], and below it epsilon = 1",
        "analysts": "[dataset.visits.analysts.ann], and below it epsilon = 1",
        "pool": 'pool = "patients"',
        "mode": 'mode = "snapshot"',
        "refresh": 'refresh = "daily at 03:00"',
        "tick": "tick = 0.5",
        "engine": '[dataset.visits.engine], and below it memory = "4 GB"',
    },
    EngineSettings: {
        "memory": 'memory = "4 GB"',
        "threads": "threads = 2",
        "spill": 'spill = "spilled"',
    },
    LedgerSettings: {
        "place": 'place = "budget.db"',
        "anchor": 'anchor = "/mnt/other/anchor"',
    },
    Source: {
        "kind": 'kind = "csv"',
        "path": 'path = "visits/*.csv"',
        "table": 'table = "hospital.visits"',
        "connection": 'connection = "env:HOSPITAL_DSN"',
        "snapshots": 'snapshots = "discreet"',
        "timeout": "timeout = 60",
        "format": 'format = "parquet"',
        "master": 'master = "local[*]"',
        "reader": 'reader = "spark"',
        "settings": 'settings = ["spark.driver.memory=8g"]',
        "delimiter": 'delimiter = ";"',
        "header": "header = true",
        "quote": "quote = '\"'",
        "encoding": 'encoding = "utf-8"',
        "null": 'null = ["", "NA"]',
    },
    Column: {
        "type": 'type = "integer"',
        "bounds": "bounds = [0, 110]",
        "grid": "grid = 0.01",
        "keys": 'keys = ["A", "B"]',
        "keys_from": 'keys_from = { path = "wards.csv", column = "ward" }',
        "missing": "missing = 0",
    },
    KeysFrom: {
        "path": 'path = "wards.csv"',
        "column": 'column = "ward"',
        "null": "null = true",
    },
    AnalystCap: {"epsilon": "epsilon = 1", "delta": "delta = 1e-6"},
    Budget: {
        "epsilon": "epsilon = 1",
        "delta": "delta = 1e-6",
        "accountant": 'accountant = "pure"',
    },
}
"""The settings of each table of the file, and a line to try."""

_MEANT = {
    "int": "integer",
    "bigint": "integer",
    "number": "real",
    "float": "real",
    "double": "real",
    "decimal": "real",
    "numeric": "real",
    "string": "text",
    "str": "text",
    "varchar": "text",
    "bool": "boolean",
    "datetime": "timestamp",
    "time": "timestamp",
    "postgresql": "postgres",
    "utf8": "utf-8",
    "none": "auto",
}
_TABLES: dict[str, type[BaseModel]] = {
    "source": Source,
    "columns": Column,
    "budget": Budget,
    "analysts": AnalystCap,
    "engine": EngineSettings,
}


def table_of(where: Where) -> type[BaseModel] | None:
    """The model that a place of the file belongs to.

    >>> table_of(("dataset", "visits", "columns", "age", "bounds", 1)).__name__
    'Column'
    """
    match where:
        case ("dataset", _, "columns", _, "keys_from", _, *_):
            return KeysFrom
        case ("dataset", _, ("source" | "budget" | "engine") as name, _, *_):
            return _TABLES[str(name)]
        case ("dataset", _, ("columns" | "analysts") as name, _, _, *_):
            return _TABLES[str(name)]
        case ("dataset", _, _, *_):
            return Dataset
        case ("ledger", _, *_):
            return LedgerSettings
    return None


def unknown(where: Where) -> Mistake:
    """A setting that nobody defined, and the one that was probably meant."""
    name = str(where[-1])
    if len(where) == 1:
        return Mistake(
            where,
            f'a policy has no "{name}"; it is a list of data sets, and may name their ledger.',
            "[dataset.visits]" + (f' (did you mean "dataset" by "{name}"?)' if _near(name) else ""),
            in_key=True,
        )
    table = table_of(where)
    known = EXAMPLES[table] if table is not None else {}
    message = f'there is no setting "{name}" here.'
    close = meant(where)
    hint = f"leave it out; the settings here are {', '.join(known)}"
    if close is not None:
        hint = f'did you mean "{close}"? {known[close]}'
    elif where[0] == "dataset" and (home := _home(name, where, table)):
        hint = home
    return Mistake(where, message, hint, in_key=True)


def is_unknown(where: Where) -> bool:
    """Whether a place is a setting that nobody defined.

    >>> is_unknown(("dataset", "visits", "rows_per_person")), is_unknown(("dataset", "visits"))
    (True, False)
    """
    table = table_of(where)
    depth = {Dataset: 3, Column: 5, AnalystCap: 5, KeysFrom: 6}
    if table is None or len(where) != depth.get(table, 4):
        return False
    return where[-1] not in EXAMPLES[table]


def meant(where: Where) -> str | None:
    """The setting of the same table that a misspelt one is most like."""
    table = table_of(where)
    known = EXAMPLES[table] if table is not None else {}
    return next(iter(get_close_matches(str(where[-1]), known, n=1, cutoff=0.6)), None)


def _home(name: str, where: Where, table: type[BaseModel] | None) -> str | None:
    """The table that a setting belongs to, if it was written into another."""
    top = f"dataset.{where[1]}"
    homes: dict[str, type[BaseModel]] = {
        f"{top}.budget": Budget,
        f"{top}.columns.NAME": Column,
        f"{top}.source": Source,
        f"{top}.engine": EngineSettings,
    }
    for header, model in homes.items():
        if name in EXAMPLES[model] and model is not table:
            return f"it goes under [{header}]: {EXAMPLES[model][name]}"
    if name in EXAMPLES[Dataset] and table is not Dataset:
        return f"it goes under [{top}]: {EXAMPLES[Dataset][name]}"
    return None


def explain(error: ValidationError) -> list[Mistake]:
    """Every line of a validation's report, as mistakes at places of the file."""
    lines = [(_place(line), line) for line in error.errors(include_url=False)]
    # A setting that is misspelt is not missing as well.
    misspelt = {
        (*where[:-1], meant(where)) for where, line in lines if line["type"] == "extra_forbidden"
    }
    return [
        _explain(where, line)
        for where, line in lines
        if line["type"] != "missing" or where not in misspelt
    ]


def _place(line: Mapping[str, Any]) -> Where:
    where: Where = tuple(line["loc"])
    return ("dataset", *where[1:]) if where[:1] == ("datasets",) else where


def _explain(where: Where, line: Mapping[str, Any]) -> Mistake:
    context = line.get("ctx", {})
    match line["type"]:
        case "policy":
            return Mistake(where, context["message"], context["hint"], context["in_key"])
        case "value_error" if isinstance(context.get("error"), InvalidInput):
            error = context["error"]
            return Mistake(where, error.message, error.hint or _example(where))
        case "extra_forbidden":
            return unknown(where)
        case "missing":
            return Mistake(where, f'the setting "{where[-1]}" is missing.', _example(where))
        case "literal_error":
            return _literal(where, line["input"], context["expected"])
    return Mistake(
        where, f"{shown(line['input'])} is not {_wanted(line['type'])}.", _example(where)
    )


def _literal(where: Where, given: object, expected: str) -> Mistake:
    choices = [each.strip("' ") for each in expected.replace(" or ", ",").split(",")]
    word = str(given).lower()
    meant = _MEANT.get(word.partition("(")[0], word)
    close = [meant] if meant in choices else get_close_matches(word, choices, n=1, cutoff=0.6)
    setting = where[-1]
    hint = " or ".join(f'"{each}"' for each in choices)
    if close:
        hint = f'did you mean "{close[0]}"? {setting} = "{close[0]}"'
    return Mistake(where, f"{setting} = {shown(given)} is not one of {', '.join(choices)}.", hint)


def _wanted(kind: str) -> str:
    if kind in ("model_type", "mapping_type", "dict_type", "model_attributes_type"):
        return "a table of settings"
    if kind.startswith("int"):
        return "a whole number"
    if kind == "greater_than_equal":
        return "1 or more"
    words = {"string_type": "text in quotes", "bool_type": "true or false", "tuple_type": "a list"}
    return words.get(kind, "what belongs here")


def _example(where: Where) -> str:
    match where:
        case ("dataset", name):
            return f'[dataset.{name}], and below it source = "visits.parquet"'
        case ("dataset", _, "columns", name):
            return f'{name} = {{ type = "integer" }} (or {", ".join(get_args(Type)[1:])})'
        case ("dataset", _, "analysts", name):
            return f"{name} = {{ epsilon = 1 }}"
    table = table_of(where)
    settings = [each for each in where if isinstance(each, str)]
    example = EXAMPLES[table].get(settings[-1], "") if table is not None and settings else ""
    return (
        example.replace("[dataset.visits.", f"[dataset.{where[1]}.") if example else "leave it out"
    )


def _near(name: str) -> bool:
    return bool(get_close_matches(name.lower(), ["dataset"], cutoff=0.6))
