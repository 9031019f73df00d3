"""Many private answers to one query: ours, and those of the peers.

All spend an epsilon of 1 and a delta of 1e-9, and keep at most 20 rows of each person. What a peer
answered does not depend on us and is kept in `bench/.data/answers`; delete it to ask again.
"""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from bench.events import DATA
from bench.peers import Peer
from bench.sessions import opened
from bench.terms import QUERIES
from discreet.session import Session
from discreet.session.table import Released

COLUMNS = {
    "Q1": ("count",),
    "Q2": ("count", "sum"),
    "Q3": ("count", "average"),
    "Q4": ("people",),
}
GROUPS, ROWS_IN_GROUP, ROWS_PER_UNIT = 10, 2, 20

WORKERS = {
    "OpenDP": ("opendp_polars", "bench.peers.opendp_polars"),
    "PipelineDP": ("pipelinedp", "bench.peers.pipelinedp_local"),
    "SmartNoise": ("smartnoise", "bench.peers.smartnoise_sql"),
    "Tumult": ("tumult", "bench.peers.tumult_analytics"),
}

# The numbers of each group; a query without groups has the one key 0.
Answer: TypeAlias = dict[int, tuple[float, ...]]


@dataclass(frozen=True)
class Asked:
    """A query, and whether groups are bounded too: 10 of them, with 2 rows in each."""

    query: str
    by_groups: bool = False

    @property
    def name(self) -> str:
        """As the peers are asked for it."""
        return f"{self.query} by groups" if self.by_groups else self.query


def truth(query: str, path: Path) -> Answer:
    """What the plain query says."""
    text = QUERIES[query].replace("FROM events", f"FROM read_parquet('{path}')")
    return _answer(query, duckdb.execute(text).fetchall())


def of_peer(system: str, asked: Asked, path: Path, runs: int) -> list[Answer]:
    """So many answers of a peer."""
    place = kept(system, asked, path, runs)
    if not place.exists():
        environment, worker = WORKERS[system]
        with Peer(environment, worker=worker) as peer:
            options = {"path": str(path), "rows_per_unit": ROWS_PER_UNIT, "runs": runs}
            found = peer.ask("answers", name=asked.name, **options)["answers"]
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(found))
    return [_answer(asked.query, rows) for rows in json.loads(place.read_text())]


def kept(system: str, asked: Asked, path: Path, runs: int) -> Path:
    """Where the answers of a peer are kept once it has given them."""
    name = f"{system}-{asked.name}-{path.stem}-{runs}".replace(" ", "-").lower()
    return DATA / "answers" / f"{name}.json"


def _answer(query: str, rows: Any) -> Answer:
    if query == "Q1":
        return {0: (float(rows[0][-1]),)}
    return {int(row[0]): tuple(map(float, row[1:])) for row in rows}


def session(path: Path, *, by_groups: bool = False) -> AbstractContextManager[Session]:
    """Ours, over one of the tables of whole amounts."""
    bounding = {"groups_per_unit": GROUPS, "rows_in_group": ROWS_IN_GROUP} if by_groups else {}
    return opened(path, rows_per_unit=ROWS_PER_UNIT, grids={"amount": 1}, **bounding)


def of_ours(asked: Session, query: str, runs: int) -> list[Answer]:
    """So many answers of ours: the rows are aggregated once, the noise is fresh each time."""
    request = asked.plan(QUERIES[query], epsilon=1)
    exact = asked.aggregate(request)
    answers = []
    for _ in range(runs):
        table = asked.release(request, exact)
        vectors = Released(table, request.noise).vectors()
        keys = table.keys[0] if table.keys else (0,)
        columns = [vectors[f"a{i}"].data.tolist() for i in range(len(COLUMNS[query]))]
        answers.append(
            {int(str(key)): tuple(numbers) for key, *numbers in zip(keys, *columns, strict=True)}
        )
    return answers
