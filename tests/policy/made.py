"""Policies made at random, all of them valid."""

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from discreet.policy import AnalystCap, Budget, Column, Dataset, EngineSettings, Policy, Source

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=8
).map(lambda name: f"n{name}")
NUMBERS = st.fractions(-1000, 1000, max_denominator=1000)
EPSILONS = st.fractions(Fraction(1, 1000), 10, max_denominator=1000)
DELTAS = st.one_of(st.just(Fraction(0)), st.integers(3, 30).map(lambda n: Fraction(1, 10**n)))
# Years with four digits, as TOML writes them.
DATES = st.dates(date(1000, 1, 1))
TIMES = st.datetimes(datetime(1000, 1, 1))  # noqa: DTZ001


def unlike(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """A list of names that differ in SQL too."""
    return st.lists(names, min_size=1, max_size=4, unique_by=str.lower)


ENGINES = st.builds(
    EngineSettings,
    memory=st.sampled_from([None, "500 MB", "1.5GB"]),
    threads=st.sampled_from([None, 1, 8]),
    spill=st.sampled_from([None, "spilled", "/var/tmp/x y"]),
)
BOUNDINGS = st.one_of(
    st.fixed_dictionaries({"bounding": st.sampled_from(["auto", "rows"])}),
    st.fixed_dictionaries(
        {"bounding": st.sampled_from(["auto", "groups"]), "groups_per_unit": st.integers(1, 9)},
        optional={"rows_in_group": st.integers(1, 9)},
    ),
)


@st.composite
def columns(draw, name):
    """A column of any type."""
    kind = draw(st.sampled_from(["integer", "real", "text", "boolean", "date", "timestamp"]))
    cells = {
        "integer": st.integers(-1000, 1000),
        "real": NUMBERS,
        "text": TEXT,
        "boolean": st.booleans(),
        "date": DATES,
        "timestamp": TIMES,
    }[kind]
    some = sorted(draw(st.lists(cells, min_size=2, max_size=5, unique=True)))
    settings: dict[str, Any] = {}
    if kind not in ("text", "boolean") and draw(st.booleans()):
        settings["bounds"] = (some[0], some[-1])
    if kind != "real" and draw(st.booleans()):
        settings["keys"] = (*some, *draw(st.sampled_from([(), (None,)])))
    if draw(st.booleans()) and (kind != "real" or "bounds" in settings):
        settings["missing"] = some[0]
    return Column(name=name, type=kind, **settings)


@st.composite
def sources(draw):
    """A source of any kind."""
    kind = draw(st.sampled_from(["parquet", "csv", "duckdb", "postgres", "spark"]))
    path, table = draw(NAMES), draw(NAMES)
    match kind:
        case "parquet":
            return Source(kind="parquet", path=path)
        case "csv":
            return Source(
                kind="csv",
                path=path,
                delimiter=draw(st.sampled_from(",;\t|")),
                header=draw(st.booleans()),
                null=tuple(draw(st.lists(TEXT, max_size=3))),
            )
        case "duckdb":
            return Source(kind="duckdb", path=path, table=table)
        case "postgres":
            # A dot would end the name of its schema.
            plain = table.replace(".", "-")
            return Source(kind="postgres", table=plain, connection=f"env:{path}")
    return Source(kind="spark", table=table)


@st.composite
def datasets(draw, name, pool):
    """A data set with a budget that its accountant can keep."""
    listed = {each: draw(columns(each)) for each in draw(unlike(NAMES))}
    unit = draw(st.sampled_from([None, "id"]))
    source = draw(sources())
    if unit is not None:
        listed["id"] = Column(name="id", type=draw(st.sampled_from(["integer", "text"])))
    return Dataset(
        name=name,
        source=source,
        engine=draw(ENGINES) if source.kind in ("parquet", "csv", "duckdb") else EngineSettings(),
        unit=unit,
        relation=draw(st.sampled_from(["add_remove", "change_one"])),
        rows_per_unit=1 if unit is None else draw(st.integers(1, 100)),
        people=draw(st.sampled_from([None, 1, 50])),
        confidence=draw(st.fractions(Fraction(1, 100), Fraction(99, 100))),
        **(draw(BOUNDINGS) if unit is not None else {}),
        columns=listed,
        budget=Budget(epsilon=draw(EPSILONS), delta=draw(DELTAS)),
        analysts={
            each: AnalystCap(epsilon=draw(EPSILONS), delta=draw(DELTAS))
            for each in draw(unlike(NAMES))
        },
        pool=pool,
        refresh=draw(st.sampled_from([None, "every 6 hours", "daily", "daily at 23:59"])),
    )


@st.composite
def policies(draw):
    """A policy of a few data sets."""
    names = draw(unlike(NAMES))
    return Policy(datasets={name: draw(datasets(name, None)) for name in names})
