"""Random data sets full of odd cells, their neighbours, and SQL over them.

Everything follows from one seed. Cells are held as they lie in a file: days and microseconds as
numbers, so that what no calendar holds can be written too.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.policy import single
from discreet.policy.model import Policy
from discreet.session.opening import open_policy
from discreet.session.session import Session

Rows = list[dict[str, Any]]

ODD: dict[str, list[Any]] = {
    "integer": [0, 1, -1, 7, 100, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), None],
    "real": [
        *(0.0, -0.0, 0.5, 2.5, -2.5, 0.1, 5e-324, 1e-310, 1e15, 1e200),
        *(1.7976931348623157e308, -1e308, math.nan, math.inf, -math.inf, None),
    ],
    "text": [
        *("", " ", "a", "A", "b", "ab", "ba", "%", "_", "'", '"', "\\", "a\tb", "\n", "NULL"),
        *("nan", "é", "e\u0301", "ß", "\u00a0a", "👩‍👧", "x" * 300, None),
    ],
    "boolean": [True, False, None],
    # Days since 1970: the year 1, the year 9999, a leap day, far outside, infinities, NULL.
    "date": [-719162, 2932896, 0, 19782, 20484, 20500, 2**31 - 1, -(2**31) + 1, 5_000_000, None],
    "timestamp": [
        *(-62135596800000000, 253402300799999999, 0, 1_767_225_600_000_000, 1_767_312_000_000_001),
        *(2**63 - 1, -(2**63) + 1, 300_000_000_000_000_000, None),
    ],
}
"""What a column of each type may hold at its worst."""

UNREADABLE = [
    *("", " ", "abc", "1e999", "-1e999", "0x1F", " 7 ", "7", "7.5", "-0", "NaN", "inf", "true"),
    *("f", "2026-02-30", "2026-01-31", "infinity", "2026-01-31 25:00:00", "12:00", "9" * 40, "'"),
    *("99999-01-01", "1_000", "0.1", "\u0661", None),
]
"""Cells of a column that was declared as a number or a date, and is text."""

_ARROW = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}

_WARDS = ["a", "b", "ab", ""]


@dataclass(frozen=True)
class Setting:
    """A declared data set without its rows."""

    types: dict[str, str]
    """The columns and their declared types, the unit among them unless each row is one."""
    as_text: frozenset[str]
    """Columns that are text in the file, whatever their declared type."""
    unit: str | None
    rows_per_unit: int
    relation: str
    bounds: dict[str, Any]
    keys: dict[str, Any]
    missing: dict[str, Any]
    grids: dict[str, Any]
    bounding: dict[str, Any]

    def policy(self, path: Path, **settings: Any) -> Policy:
        """Its policy, over a file."""
        stated: dict[str, Any] = {
            "epsilon": 10**6,
            "delta": 0.5,
            "people": 1,  # of whom nothing is promised here
            "delta_per_query": 1e-6,
            "name": "t",
            "rows_per_unit": self.rows_per_unit if self.unit else None,
            "relation": self.relation,
        }
        return single(
            path,
            types=self.types,
            unit=self.unit,
            bounds=self.bounds,
            keys=self.keys,
            missing=self.missing,
            grids=self.grids,
            **(stated | self.bounding | settings),
        )

    def write(self, rows: Rows, path: Path) -> None:
        """Write rows as Parquet."""
        columns = {}
        for name, kind in self.types.items():
            cells = [row[name] for row in rows]
            if name in self.as_text:
                columns[name] = pa.array(cells, pa.string())
            elif kind in ("date", "timestamp"):
                plain = pa.int32() if kind == "date" else pa.int64()
                columns[name] = pa.array(cells, plain).cast(_ARROW[kind])
            else:
                columns[name] = pa.array(cells, _ARROW[kind])
        pq.write_table(pa.table(columns), path)

    def open(self, rows: Rows, folder: Path, **settings: Any) -> Session:
        """A session over these rows; ``swap`` gives it others."""
        path = folder / "t.parquet"
        self.write(rows, path)
        return open_policy(self.policy(path, **settings), beside=folder)

    def swap(self, session: Session, rows: Rows, folder: Path) -> None:
        """Put other rows under a session's feet."""
        self.write(rows, folder / "t.parquet")
        session.prepare("t", refresh=True)


# 0 in theory; as doubles the sums are rounded, and what is left is about 1e83.
CANCELS = "((n * 0.0 + 1e99 + 1e99 + 1e99) - 3e99)"

_GRAMMAR: dict[str, tuple[list[str], list[str]]] = {
    "number": (
        ["n", "m", "x", "y", "n", "x", "0", "1", "7", "2.5", "-3", "1e100", "2000000000", CANCELS],
        [
            "(<number> + <number>)",
            "(<number> - <number>)",
            "(<number> * <number>)",
            "(<number> / <number>)",
            "(CAST(CLAMP(<number>, -9, 9) AS INTEGER) % 4)",
            "(n % CAST(CLAMP(<number>, -2, 2) AS BIGINT))",
            "-(<number>)",
            "ABS(<number>)",
            "FLOOR(<number>)",
            "CEIL(<number>)",
            "ROUND(<number>)",
            "ROUND(<number>, 2)",
            "SQRT(<number>)",
            "CLAMP(<number>, -50, 50)",
            "LEAST(<number>, <number>)",
            "GREATEST(<number>, <number>, 1)",
            "COALESCE(<number>, <number>)",
            "NULLIF(<number>, <number>)",
            "CAST(<number> AS DOUBLE)",
            "CASE WHEN <condition> THEN <number> ELSE <number> END",
            "CASE WHEN <condition> THEN <number> END",
            "LENGTH(<text>)",
            "EXTRACT(year FROM d)",
            "EXTRACT(minute FROM s)",
            "CAST(<condition> AS INTEGER)",
        ],
    ),
    "bounded": (
        ["n", "x", "n * x", "n - 3", "-x", "n / 7", "x * x - n", "ABS(n)"],
        ["CLAMP(<number>, -1, 9)", "CLAMP(<number>, 0, 1)", "(<condition>)", "LEAST(n, x)"],
    ),
    "text": (
        ["w", "v", "'a'", "''"],
        [
            "LOWER(<text>)",
            "UPPER(<text>)",
            "TRIM(<text>)",
            "SUBSTRING(<text>, 2, 3)",
            "<text> || 'x'",
            "NULLIF(<text>, 'a')",
            "CAST(n AS VARCHAR)",
            "CAST(d AS VARCHAR)",
            "CAST(<condition> AS VARCHAR)",
        ],
    ),
    "day": (["d", "s"], ["CAST(s AS DATE)", "DATE_TRUNC('quarter', <day>)"]),
    "condition": (
        [
            *("f", "n > 3", "x < 0.5", "y >= 0", "w = 'a'", "v <> 'b'", "d IS NULL"),
            *("w LIKE '%a%'", "v NOT LIKE '_'", "n IN (1, 7, NULL)", "w IN ('a', '')"),
            *("d < DATE '2026-02-01'", "s >= TIMESTAMP '2026-01-05 12:00:00'", "TRUE"),
            *("n BETWEEN 0 AND 5", "f IS TRUE", "NOT f", "s < d", "NULL"),
        ],
        [
            "(<condition> AND <condition>)",
            "(<condition> OR <condition>)",
            "(NOT <condition>)",
            "(<condition>) IS NOT TRUE",
            "<number> < <number>",
            "<number> <= <number>",
            "<number> = <number>",
            "<number> <> <number>",
            "<any> IS NULL",
            "<text> = <text>",
        ],
    ),
    "any": (
        ["n", "m", "x", "y", "w", "v", "f", "d", "s"],
        ["<number>", "<text>", "<condition>", "<day>"],
    ),
    "key": (
        ["w", "w", "v", "f", "n", "d", "y"],
        [
            "EXTRACT(month FROM d)",
            "DATE_TRUNC('week', d)",
            "DATE_TRUNC('month', s)",
            "EXTRACT(hour FROM s)",
            "COALESCE(w, 'none')",
            "SUBSTRING(v, 1, 1)",
            "<text>",
            "FLOOR(<number> / 10)",
            "CASE WHEN <condition> THEN 'yes' ELSE 'no' END",
            "CASE WHEN <condition> THEN 0.1 ELSE 0.5 END",
            "(<condition>)",
            "CAST(CLAMP(<number>, -3, 3) AS INTEGER)",
            "ROUND(<number>)",
            "<number>",
        ],
    ),
    "aggregate": (
        ["COUNT(*)", "COUNT(DISTINCT u)", "SUM(n)", "AVG(x)"],
        [
            "COUNT(<any>)",
            "SUM(<bounded>)",
            "SUM(<bounded>)",
            "AVG(<bounded>)",
            "AVG(<bounded>)",
            "<aggregate> FILTER (WHERE <condition>)",
        ],
    ),
}
"""For each kind of expression: what needs nothing more, and what is made of others."""


class Generator:
    """Random settings, rows, neighbours and queries, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    # Settings ----------------------------------------------------------------------------------

    def setting(self) -> Setting:
        """Columns of every type, some bounded, some with keys, some neither."""
        pick = self.random
        types = {
            "n": "integer",
            "m": "integer",
            "x": "real",
            "y": "real",
            "w": "text",
            "v": "text",
            "f": "boolean",
            "d": "date",
            "s": "timestamp",
        }
        unit = pick.choice(["u", "u", "u", None])
        if unit is not None:
            types = {unit: pick.choice(["integer", "text"]), **types}
        low = pick.choice([0, -5, -100, 3])
        bounds: dict[str, Any] = {
            "n": (low, low + pick.choice([0, 1, 10, 150, 5000])),
            "x": pick.choice([(0, 1), (-2.5, 2.5), (-100, 0), (0, 10**6), (5, 5)]),
        }
        if pick.random() < 0.5:
            bounds["d"] = (date(2026, 1, 10), date(2026, 2, 20))
        if pick.random() < 0.5:
            bounds["s"] = (datetime(2025, 12, 1), datetime(2026, 3, 1))  # noqa: DTZ001
        keys: dict[str, Any] = {}
        if pick.random() < 0.7:
            keys["w"] = _WARDS + pick.choice([[], [None]])
        missing: dict[str, Any] = {}
        for name, value in {"m": 3, "x": None, "y": 1.5, "v": "b", "f": True}.items():
            if pick.random() < 0.4:
                missing[name] = value if value is not None else bounds["x"][0]
        return Setting(
            types=types,
            as_text=frozenset(name for name in "nxyfds" if pick.random() < 0.25),
            unit=unit,
            rows_per_unit=pick.choice([1, 1, 2, 3, 8]) if unit else 1,
            relation=pick.choice(["add_remove", "change_one"]),
            bounds=bounds,
            keys=keys,
            missing=missing,
            grids={"x": 0.5} if pick.random() < 0.5 else {},
            bounding=pick.choice(
                [
                    {},
                    {"bounding": "groups", "groups_per_unit": pick.choice([1, 2])},
                    {"groups_per_unit": pick.choice([1, 3]), "rows_in_group": pick.choice([1, 2])},
                ]
            )
            if unit
            else {},
        )

    # Rows --------------------------------------------------------------------------------------

    def cell(self, setting: Setting, name: str) -> Any:
        """One cell, odd or plain."""
        kind = setting.types[name]
        if name in setting.as_text and self.random.random() < 0.9:
            return self.random.choice(UNREADABLE)
        if self.random.random() < 0.6:
            value = self.random.choice(ODD[kind])
        elif kind in ("integer", "date"):
            value = self.random.randint(-10, 160) + (20_454 if kind == "date" else 0)
        elif kind == "real":
            value = self.random.uniform(-3, 3) * self.random.choice([1, 40])
        elif kind == "timestamp":
            value = 1_767_225_600_000_000 + self.random.randint(0, 60 * 86400) * 1_000_000
        else:
            value = self.random.choice(ODD[kind])
        if name in setting.as_text and value is not None:
            return str(value)
        return value

    def row(self, setting: Setting, unit: Any) -> dict[str, Any]:
        """One row of one person."""
        row = {name: self.cell(setting, name) for name in setting.types if name != setting.unit}
        return row if setting.unit is None else {setting.unit: unit, **row}

    def person(self, setting: Setting, unit: Any) -> Rows:
        """All rows of one person: more than are kept, duplicates among them."""
        if setting.unit is None:
            return [self.row(setting, None)]
        many = self.random.choice([1, 2, setting.rows_per_unit, 3 * setting.rows_per_unit + 1])
        rows = [self.row(setting, unit) for _ in range(many)]
        if self.random.random() < 0.4:
            rows += [dict(self.random.choice(rows)) for _ in range(3)]
        return rows

    def people(self, setting: Setting, count: int) -> list[Rows]:
        """Several people; where units have names, some rows belong to nobody."""
        text = setting.unit is not None and setting.types[setting.unit] == "text"
        ids: list[Any] = [f"p{i}" if text else i for i in range(count)]
        if text:
            ids[0] = ""
        everybody = [self.person(setting, each) for each in ids]
        if setting.unit is not None and self.random.random() < 0.5:
            everybody.append([self.row(setting, None) for _ in range(3)])
        return everybody

    def neighbour(self, setting: Setting, people: list[Rows]) -> list[Rows]:
        """The same people but for one: added, removed or changed, as the relation says."""
        named = [i for i, rows in enumerate(people) if not self._nobody(setting, rows)]
        place = self.random.choice(named)
        unit = None if setting.unit is None else people[place][0][setting.unit]
        others = people[:place] + people[place + 1 :]
        if setting.relation == "change_one":
            return [*others, self.person(setting, unit)]
        return others

    @staticmethod
    def _nobody(setting: Setting, rows: Rows) -> bool:
        return setting.unit is not None and rows[0][setting.unit] is None

    def shuffled(self, people: list[Rows]) -> Rows:
        """All rows in one list, in any order."""
        rows = [row for person in people for row in person]
        self.random.shuffle(rows)
        return rows

    # Queries -----------------------------------------------------------------------------------

    def query(self, setting: Setting) -> str:
        """A query that is likely to be accepted."""
        pick = self.random
        keys = [self.expression("key", 2) for _ in range(pick.choice([0, 0, 1, 1, 1, 2]))]
        items = [
            f"{self.expression('aggregate', 3)} AS c{i}" for i in range(pick.choice([1, 1, 2, 3]))
        ]
        text = ", ".join([*(f"{key} AS g{i}" for i, key in enumerate(keys)), *items])
        sql = f"SELECT {text} FROM t"
        if pick.random() < 0.5:
            sql += f" WHERE {self.expression('condition', 2)}"
        if keys:
            sql += " GROUP BY " + ", ".join(str(i + 1) for i in range(len(keys)))
        if pick.random() < 0.2:
            sql += " HAVING COUNT(*) > 1"
        if pick.random() < 0.2:
            sql += " ORDER BY c0 DESC LIMIT 5"
        return sql if setting.unit else sql.replace("DISTINCT u", "*")

    def expression(self, kind: str, depth: int) -> str:
        """An expression of a kind, at most so many operations deep."""
        plain, made = _GRAMMAR[kind]
        if depth <= 0 or self.random.random() < 0.25:
            return self.random.choice(plain)
        template = self.random.choice(made)
        return re.sub(r"<(\w+)>", lambda found: self.expression(found[1], depth - 1), template)
