"""The four queries, and ours opened over the events as a curator would."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import discreet
from bench.events import DATA
from bench.harness import Side, timed
from bench.terms import QUERIES, TERMS
from discreet.session import Session

# An epsilon of its own for each question, so that none is answered from the ledger.
_FRESH: Iterator[str] = (f"1.{n:06}" for n in count(1))


@contextmanager
def opened(path: Path, **settings: Any) -> Iterator[Session]:
    """A session of its own: its ledger and snapshot stand beside a second name of the data."""
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        source = Path(folder) / path.name
        os.link(path, source)
        with beside(source, **settings) as session:
            yield session


def beside(source: Path, **settings: Any) -> Session:
    """A session whose ledger and snapshot stand beside the data."""
    return discreet.open(source, **(TERMS | settings))


def asking(session: Session, name: str) -> Side:
    """The whole way from text to answer: planning, two durable entries, noise, intervals."""
    return timed(lambda: session.sql(QUERIES[name], epsilon=next(_FRESH)))
