"""Where each key and value of a TOML file stands.

The standard library's parser gives values without positions. This scanner goes over a document
that the parser has already accepted, so it only has to follow, not to judge.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple

from discreet.policy.mistakes import Where


class Position(NamedTuple):
    """Lines and columns count from 1."""

    line: int
    column: int


class Place(NamedTuple):
    """Where a key stands, and where its value begins."""

    key: Position
    value: Position


_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\n,]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ATOM = re.compile(r"[^,\]}#\n]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)


def positions(text: str) -> dict[Where, Place]:
    r"""The place of every table, key and list item of a valid document.

    >>> positions("[a]\nb = [1, 2]")[("a", "b", 1)].value
    Position(line=2, column=9)
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.places: dict[Where, Place] = {}
        self.lists: dict[Where, int] = {}  # how many [[tables]] a list has so far

    def scan(self) -> dict[Where, Place]:
        table: Where = ()
        while self.skip(_BETWEEN) < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.places

    def header(self) -> Where:
        start = self.at
        repeated = self.text.startswith("[[", start)
        self.at += 2 if repeated else 1
        place = Place(self.position(start), self.position(start))
        table: Where = ()
        keys = self.keys()
        for depth, (name, _) in enumerate(keys):
            table = (*table, name)
            self.places.setdefault(table, place)
            last = depth == len(keys) - 1
            if last and repeated:
                self.lists[table] = self.lists.get(table, 0) + 1
            if table in self.lists:
                table = (*table, self.lists[table] - 1)
                self.places.setdefault(table, place)
        # A table named as part of another's header stands where its own header is.
        self.places[table] = place
        self.at += 2 if repeated else 1
        return table

    def pair(self, table: Where) -> None:
        keys = self.keys()
        self.at += 1  # the equals sign
        self.skip(_BLANK)
        value = self.position(self.at)
        for name, key in keys:
            table = (*table, name)
            self.places.setdefault(table, Place(key, value))
        self.value(table)

    def keys(self) -> list[tuple[str, Position]]:
        """A dotted key, up to the equals sign or bracket behind it."""
        found: list[tuple[str, Position]] = []
        while True:
            self.skip(_BLANK)
            start = self.at
            bare = _BARE.match(self.text, start)
            if bare is not None:
                self.at = bare.end()
                name = bare.group()
            else:
                self.string()
                name = str(tomllib.loads(f"k = {self.text[start : self.at]}")["k"])
            found.append((name, self.position(start)))
            self.skip(_BLANK)
            if self.text[self.at] != ".":
                return found
            self.at += 1

    def value(self, where: Where) -> None:
        match self.text[self.at]:
            case '"' | "'":
                self.string()
            case "[":
                self.at += 1
                item = 0
                while self.text[self.skip(_BETWEEN)] != "]":
                    here = self.position(self.at)
                    self.places[*where, item] = Place(here, here)
                    self.value((*where, item))
                    item += 1
                self.at += 1
            case "{":
                self.at += 1
                while self.text[self.skip(_BETWEEN)] != "}":
                    self.pair(where)
                self.at += 1
            case _:
                self.skip(_ATOM)

    def string(self) -> None:
        self.skip(_STRING)

    def skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return self.at

    def position(self, at: int) -> Position:
        line = bisect_right(self.starts, at)
        return Position(line, at - self.starts[line - 1] + 1)
