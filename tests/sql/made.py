"""A data set to ask about, declared without any file."""

from __future__ import annotations

from datetime import date, datetime

from discreet.plan.query import Core, Query
from discreet.plan.schema import Schema
from discreet.policy import single
from discreet.sql.queries import read_query

VISITS = single(
    "visits.parquet",
    types={
        "patient_id": "BIGINT",
        "ward": "VARCHAR",
        "name": "VARCHAR",
        "age": "INTEGER",
        "stay": "INTEGER",
        "cost": "DOUBLE",
        "weight": "DOUBLE",
        "urgent": "BOOLEAN",
        "day": "DATE",
        "arrived": "TIMESTAMP",
    },
    unit="patient_id",
    rows_per_unit=20,
    bounds={
        "age": (0, 110),
        "cost": (0, 5000),
        "day": (date(2025, 1, 1), date(2025, 12, 31)),
        "arrived": (datetime(2025, 1, 1), datetime(2025, 12, 31)),  # noqa: DTZ001
    },
    keys={"ward": ["north", "south", "west"]},
    grids={"cost": 0.01},
    missing={"urgent": False, "age": 40},
    epsilon=3,
    delta=1e-6,
    delta_per_query=1e-9,
)

WARDS = single("wards.parquet", types={"ward": "VARCHAR", "beds": "INTEGER"}, unit=None, epsilon=1)

SCHEMAS = {
    "visits": Schema.of(VISITS.datasets["visits"]),
    "wards": Schema.of(WARDS.datasets["wards"]),
}


def query(text: str) -> Query:
    """The plan of a query."""
    return read_query(text, SCHEMAS)


def core(text: str) -> Core:
    """What a query asks of private rows."""
    return query(text).core
