"""One column: its type, and what is public about its values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationInfo,
    field_validator,
    model_validator,
)

from discreet.errors import InvalidInput, InvalidValue
from discreet.exact import positive
from discreet.exact.grid import LARGEST_UNITS
from discreet.policy.mistakes import Mistake, refuse
from discreet.policy.values import (
    Bound,
    Type,
    Value,
    bound,
    default_step,
    number,
    shown,
    steps,
    value,
    written,
)

RESERVED = "_discreet"


class KeysFrom(BaseModel):
    """A public table, as a CSV file with a header, whose column lists the keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    path: str
    column: str | None = None
    """The column of that file; left out, its first."""
    null: bool = False
    """Whether NULL is a key too."""


class Column(BaseModel):
    """A column that queries may use; whatever is not declared does not exist for them.

    >>> age = Column(name="age", type="integer", bounds=(0, 110))
    >>> age.limits, age.step, age.nullable
    ((0, 110), Fraction(1, 1), True)
    """

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", arbitrary_types_allowed=True
    )

    name: str
    type: Type
    bounds: tuple[Bound, Bound] | None = None
    """The public range; values beyond it are moved to its nearer end."""
    grid: Fraction | None = None
    """The public step that real values are rounded to."""
    keys: tuple[Value | None, ...] | None = None
    """The public values to group by, None among them for NULL; other values are dropped."""
    keys_from: KeysFrom | None = None
    """Where ``keys`` were read from, if they stand in a file of their own."""
    missing: Value | None = None
    """What NULL, NaN or an unreadable cell counts as."""

    @field_validator("bounds", mode="plain")
    @classmethod
    def _bounds(cls, raw: Any, info: ValidationInfo) -> tuple[Bound, Bound] | None:
        kind = info.data.get("type")
        if raw is None or kind is None:
            return None
        if not isinstance(raw, list | tuple) or len(raw) != 2:
            raise InvalidValue(
                "bounds are a list of two values, the smallest and the largest.",
                hint="bounds = [0, 110]",
            )
        low, high = bound(kind, raw[0]), bound(kind, raw[1])
        if low > high:  # type: ignore[operator]  # both are of the column's type
            raise InvalidValue(
                f"the smallest value {shown(low)} is larger than the largest, {shown(high)}.",
                hint=f"bounds = [{shown(high)}, {shown(low)}]",
            )
        return low, high

    @field_validator("grid", mode="plain")
    @classmethod
    def _grid(cls, raw: Any, info: ValidationInfo) -> Fraction | None:
        if raw is None:
            return None
        kind = info.data.get("type", "real")
        if kind != "real":
            raise InvalidValue(
                f"only a real column has a grid; a column of type {kind} brings its own.",
                hint="leave grid out",
            )
        return positive(number(raw), name="grid", example="0.01")

    @field_validator("keys", mode="plain")
    @classmethod
    def _keys(cls, raw: Any, info: ValidationInfo) -> tuple[Value | None, ...] | None:
        kind = info.data.get("type")
        if raw is None or kind is None:
            return None
        if kind == "real":
            raise InvalidValue(
                "a real column has no keys: two reals are hardly ever equal.",
                hint='type = "integer" or type = "text", or leave keys out and group by a bucket '
                "in SQL, such as FLOOR(x / 10)",
            )
        if not isinstance(raw, list | tuple) or not raw:
            raise InvalidValue(
                "keys are a list of at least one value.", hint='keys = ["A", "B", "C"]'
            )
        keys: list[Value | None] = []
        places: dict[Value | None, int] = {}
        mistakes: list[Mistake] = []
        for place, each in enumerate(raw):
            try:
                key = None if _is_null(each) else value(kind, each)
            except InvalidInput as error:
                mistakes.append(Mistake((place,), error.message, error.hint or ""))
                continue
            if key in places:
                where = f"place {places[key] + 1}"
                mistakes.append(
                    Mistake(
                        (place,),
                        f"the key {_key_shown(key)} is already there, at {where} of the list.",
                        "leave one of them out",
                    )
                )
            places.setdefault(key, place)
            keys.append(key)
        refuse(mistakes)
        return tuple(keys)

    @field_validator("missing", mode="plain")
    @classmethod
    def _missing(cls, raw: Any, info: ValidationInfo) -> Value | None:
        kind = info.data.get("type")
        return None if raw is None or kind is None else value(kind, raw)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse([*self._name_mistakes(), *self._grid_mistakes(), *self._range_mistakes()])
        return self

    @property
    def step(self) -> Fraction | None:
        """The step of the grid: 1, a day, a microsecond, or the declared or default one.

        None for text and booleans, and for a real column that declares neither grid nor bounds.
        """
        match self.type:
            case "integer" | "date" | "timestamp":
                return Fraction(1)
            case "real" if self.grid is not None:
                return self.grid
            case "real" if self.bounds is not None:
                low, high = self.bounds
                if isinstance(low, Fraction) and isinstance(high, Fraction):
                    return default_step(low, high)
        return None

    @property
    def limits(self) -> tuple[int, int] | None:
        """The bounds in steps of the grid: plain, days since 1970, microseconds since 1970."""
        if self.bounds is None or self.step is None:
            return None
        low, high = (steps(end, self.step) for end in self.bounds)
        return int(low), int(high)

    @property
    def nullable(self) -> bool:
        """Whether a cleaned cell can be NULL."""
        return self.missing is None

    @property
    def public_keys(self) -> tuple[Value | None, ...] | None:
        """The keys that every answer lists: the declared ones, or all that a boolean can be."""
        if self.keys is None and self.type == "boolean":
            return (False, True, None) if self.nullable else (False, True)
        return self.keys

    def _name_mistakes(self) -> Iterator[Mistake]:
        if not self.name or "\0" in self.name:
            yield Mistake(
                (), "a column must have a name.", "write the name that the source uses", in_key=True
            )
        elif self.name.lower().startswith(RESERVED):
            yield Mistake(
                (),
                f'column names that start with "{RESERVED}" are kept for the snapshot\'s own.',
                "rename the column in a view of the source",
                in_key=True,
            )
        if self.keys_from is not None and self.keys is None:
            yield Mistake(
                ("keys_from",), "the keys of the public table were not read.", "keys = [...]"
            )

    def _grid_mistakes(self) -> Iterator[Mistake]:
        if self.bounds is None or self.step is None:
            return
        for place, end in enumerate(self.bounds):
            at = steps(end, self.step)
            if at.denominator != 1:
                yield Mistake(
                    ("bounds", place),
                    f"{shown(end)} is not on the grid: it is no multiple of {shown(self.step)}.",
                    f"grid = {written(default_step(*self._ends()))}",
                )
            elif abs(at) > LARGEST_UNITS:
                yield Mistake(
                    ("bounds", place),
                    f"{shown(end)} is more than 2**61 steps of {shown(self.step)} away from 0.",
                    "a smaller range, or a coarser grid",
                )

    def _range_mistakes(self) -> Iterator[Mistake]:
        for place, key in enumerate(self.keys or ()):
            if key is not None and not self._within(key):
                yield Mistake(
                    ("keys", place) if self.keys_from is None else ("keys_from",),
                    f"the key {shown(key)} lies outside the column's bounds.",
                    "leave it out, or widen the bounds",
                )
        missing = self.missing
        if missing is None:
            return
        if not self._within(missing):
            yield Mistake(
                ("missing",),
                f"{shown(missing)} lies outside the column's bounds.",
                "missing = a value within the bounds",
            )
        elif isinstance(missing, Fraction) and self.step and (missing / self.step).denominator > 1:
            yield Mistake(
                ("missing",),
                f"{shown(missing)} is not on the grid: it is no multiple of {shown(self.step)}.",
                "missing = 0",
            )
        elif self.keys is not None and missing not in self.keys:
            yield Mistake(
                ("missing",),
                f"{shown(missing)} is not one of the column's keys, so it would be dropped.",
                f"add {shown(missing)} to the keys, or leave missing out",
            )

    def _ends(self) -> tuple[Fraction, Fraction]:
        low, high = self.bounds or (Fraction(0), Fraction(0))
        return (
            low if isinstance(low, Fraction) else Fraction(0),
            high if isinstance(high, Fraction) else Fraction(0),
        )

    def _within(self, cell: Value) -> bool:
        if self.bounds is None:
            return True
        low, high = self.bounds
        return bool(low <= cell <= high)  # type: ignore[operator]  # all are of one type


def _is_null(raw: Any) -> bool:
    """None in Python, ``{ null = true }`` in a file: no text could mean it."""
    return raw is None or raw == {"null": True}


def _key_shown(key: Value | None) -> str:
    return "{ null = true }" if key is None else shown(key)
