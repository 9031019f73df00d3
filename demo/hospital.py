"""A hospital that does not exist: patients, and their visits over a year.

What makes it believable is what makes privacy hard: few people come very often, few diagnoses are
common, and bills have a long tail.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

PATIENTS = 100_000
YEAR = 2025
DAYS = date(YEAR, 1, 1), date(YEAR, 12, 31)

WARDS = {
    "Cardiology": 0.19,
    "Emergency": 0.27,
    "Maternity": 0.09,
    "Neurology": 0.11,
    "Oncology": 0.08,
    "Orthopaedics": 0.16,
    "Paediatrics": 0.07,
    "Psychiatry": 0.03,
}
"""How often each ward is visited."""

# Common complaints, and a long tail of rare ones that must not give anybody away.
DIAGNOSES = [
    "back pain", "high blood pressure", "diabetes", "fracture", "asthma", "migraine", "pneumonia",
    "heart failure", "appendicitis", "depression", "anaemia", "kidney stones", "epilepsy",
    "gallstones", "tonsillitis", "sepsis", "gout", "stroke", "psoriasis", "lupus", "tuberculosis",
    "malaria", "scurvy", "leprosy",
]  # fmt: skip


def write(folder: Path, *, patients: int = PATIENTS) -> Path:
    """Write the visits as one Parquet file, in no order that means anything."""
    draw = np.random.default_rng(YEAR)
    age = np.clip(draw.normal(52, 22, patients), 0, 104).astype(np.int64)
    # Most people come a few times, some every other week.
    often = draw.gamma(2.0, 2.6, patients) * (0.6 + age / 120)
    visits = 1 + draw.poisson(often)
    patient = np.repeat(np.arange(patients), visits)
    draw.shuffle(patient)
    rows = len(patient)
    stay = draw.geometric(0.35, rows) - 1
    cost = np.round(draw.lognormal(5.6, 0.9, rows) + 410.0 * stay, 2)
    table = pa.table(
        {
            "patient_id": patient + 1_000_000,
            "ward": _choose(draw, list(WARDS), np.array(list(WARDS.values())), rows),
            "diagnosis": _choose(draw, DIAGNOSES, _rare(len(DIAGNOSES)), rows),
            "age": age[patient],
            "stay": stay,
            "cost": cost,
            "donation": np.round(draw.pareto(1.1, rows) * 20, 2),
            "admitted": _days(draw, rows),
        }
    )
    place = folder / "visits.parquet"
    parquet.write_table(table, place)
    return place


def _rare(count: int) -> NDArray[np.float64]:
    """Each diagnosis is two thirds as common as the one before it."""
    return (2 / 3) ** np.arange(count, dtype=np.float64)


def _choose(
    draw: np.random.Generator, names: list[str], weights: NDArray[np.float64], rows: int
) -> pa.Array:
    places = draw.choice(len(names), size=rows, p=weights / weights.sum())
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), names).cast(pa.string())


def _days(draw: np.random.Generator, rows: int) -> pa.Array:
    first = (DAYS[0] - date(1970, 1, 1)).days
    return pa.array(first + draw.integers(0, 365, rows), type=pa.int32()).cast(pa.date32())
