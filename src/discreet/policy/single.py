"""A policy for one data set, stated in a call instead of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from discreet.errors import InvalidPolicy, PolicyMistake
from discreet.exact import Rational
from discreet.policy.model import Policy
from discreet.policy.schema import type_of, unit_type_of
from discreet.policy.sources import kind_of
from discreet.policy.words import explain


def single(
    path: str | Path,
    *,
    types: Mapping[str, str],
    unit: str | None,
    epsilon: Rational,
    delta: Rational = 0,
    rows_per_unit: int | None = None,
    bounds: Mapping[str, Sequence[Any]] | None = None,
    keys: Mapping[str, Sequence[Any]] | None = None,
    grids: Mapping[str, Rational] | None = None,
    missing: Mapping[str, Any] | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    name: str | None = None,
    analyst: str = "curator",
    **settings: Any,
) -> Policy:
    """The policy of one data set whose columns are those of ``types``.

    ``types`` comes from the source's schema and may use an engine's words; columns of a type that
    a policy does not know are left out. ``unit=None`` says that each row is a person. Further
    ``settings`` are those of a data set: ``relation``, ``people``, ``delta_per_query`` ...

    >>> policy = single("visits.parquet", types={"id": "BIGINT", "age": "INTEGER"}, unit="id",
    ...                 rows_per_unit=20, bounds={"age": (0, 110)}, epsilon=0.5)
    >>> policy.datasets["visits"].columns["age"].limits
    (0, 110)
    """
    columns: dict[str, dict[str, Any]] = {
        column: {"name": column, "type": kind}
        for column, text in types.items()
        if (kind := unit_type_of(text) if column == unit else type_of(text))
    }
    stray: list[PolicyMistake] = []
    for setting, given in (
        ("bounds", bounds),
        ("keys", keys),
        ("grid", grids),
        ("missing", missing),
    ):
        for column, value in (given or {}).items():
            if column in columns:
                columns[column][setting] = value
            else:
                stray.append(_stray(setting, column, columns))
    text = str(path)
    chosen = name or dataset_name(text, table)
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    if "accountant" in settings:
        budget["accountant"] = settings.pop("accountant")
    source: dict[str, Any] = {"kind": kind_of(text) or "parquet", "path": text, "table": table}
    if delimiter is not None:
        source["delimiter"] = delimiter
    dataset: dict[str, Any] = settings | {
        "name": chosen,
        "source": source,
        "unit": unit,
        "columns": columns,
        "budget": budget,
        "analysts": {analyst: {"epsilon": epsilon, "delta": delta}},
    }
    if rows_per_unit is not None:
        dataset["rows_per_unit"] = rows_per_unit
    try:
        policy = Policy.model_validate({"datasets": {chosen: dataset}})
    except ValidationError as error:
        stray += [
            PolicyMistake(_shown(each.where), None, None, each.message, each.hint)
            for each in explain(error)
        ]
    if stray:
        lines = "\n".join(f"{each.where}: {each.message}" for each in stray)
        raise InvalidPolicy(lines, mistakes=stray, hint=stray[0].hint)
    return policy


def dataset_name(path: str | Path, table: str | None = None) -> str:
    """The name in SQL of the rows of a file, or of its table: one that needs no quotes.

    >>> dataset_name("hospital/visits-*.csv.gz"), dataset_name("Patient visits (2026).csv")
    ('visits', 'Patient_visits_2026')
    >>> dataset_name("hospital.duckdb", "main.visits")
    'visits'
    """
    stem = Path(path).name.partition(".")[0] if table is None else table.rpartition(".")[2]
    name = re.sub(r"[^A-Za-z0-9_]+", "_", stem).strip("_") or "data"
    return f"data_{name}" if name[0].isdigit() else name


def _stray(setting: str, column: str, columns: Mapping[str, object]) -> PolicyMistake:
    return PolicyMistake(
        f"{column}.{setting}",
        None,
        None,
        f'there is no column "{column}" of a type that can be used.',
        f"one of {', '.join(columns)}",
    )


def _shown(where: Sequence[str | int]) -> str:
    """Without the data set's name, of which there is only one."""
    parts = [str(each) for each in where[2:] if each != "columns"]
    return ".".join(parts) or "the data set"
