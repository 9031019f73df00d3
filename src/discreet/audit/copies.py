"""A policy over a copy of its data, to be changed and thrown away."""

from __future__ import annotations

import shutil
from glob import glob
from pathlib import Path

from discreet.errors import InvalidInput
from discreet.plan.schema import Schema
from discreet.policy import Policy
from discreet.policy.model import Dataset
from discreet.sql.queries import read_query


def copied(policy: Policy, query: str, folder: Path) -> tuple[Policy, Path]:
    """The policy with the data set that a query asks moved into a folder, and the copy's path."""
    schemas = {name.lower(): Schema.of(dataset) for name, dataset in policy.datasets.items()}
    asked = read_query(query, schemas).core.dataset
    copy = _copy(policy, policy.datasets[asked], folder)
    places = {
        name: str(copy) if name == asked else _where(policy, dataset)
        for name, dataset in policy.datasets.items()
    }
    moved = {
        name: dataset.model_copy(
            update={"source": dataset.source.model_copy(update={"path": places[name]})}
        )
        for name, dataset in policy.datasets.items()
    }
    return policy.model_copy(update={"datasets": moved}), copy


def _copy(policy: Policy, dataset: Dataset, folder: Path) -> Path:
    if dataset.source.kind not in ("parquet", "csv", "duckdb"):
        raise InvalidInput(
            f"{dataset.name} is not a file, so no copy of it can be changed.",
            hint="a policy over two exported files: source = 'visits.parquet'",
        )
    pattern = _where(policy, dataset)
    files = sorted(glob(pattern or "", recursive=True))  # noqa: PTH207  # it may be absolute
    if len(files) != 1:
        raise InvalidInput(
            f"{dataset.name} is {len(files)} files, and its neighbour one.",
            hint="a policy whose source is one file.",
        )
    copy = folder / Path(files[0]).name
    shutil.copyfile(files[0], copy)
    return copy


def _where(policy: Policy, dataset: Dataset) -> str | None:
    path = dataset.source.path
    return None if path is None else str(Path(policy.locate(path)).resolve())
