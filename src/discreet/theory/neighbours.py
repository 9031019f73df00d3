"""Who counts as a neighbour: the relation that every guarantee names."""

from __future__ import annotations

from enum import StrEnum

from discreet.errors import InvalidRelation


class Relation(StrEnum):
    """Which pairs of databases a guarantee speaks of.

    ``ADD_REMOVE``: one unit is added or removed; the size of the database is private.
    ``CHANGE_ONE``: one unit is replaced by another; the size is public and fixed.
    """

    ADD_REMOVE = "add_remove"
    CHANGE_ONE = "change_one"


def relation(value: str) -> Relation:
    """Read a relation by name.

    >>> relation("add_remove")
    <Relation.ADD_REMOVE: 'add_remove'>
    """
    try:
        return Relation(value)
    except ValueError:
        raise InvalidRelation(
            f"relation = {value!r} is not a neighbour relation that is defined here.",
            hint='relation="add_remove" (one person more or less) or relation="change_one" '
            "(one person's data differ, the number of people is public).",
        ) from None
