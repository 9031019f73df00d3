"""A picture: a Vega-Lite specification that knows how to show itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InvalidValue, NotInstalled
from discreet.pictures import render

Spec = dict[str, Any]

MIME = "application/vnd.vegalite.v5+json"
"""What notebooks call a Vega-Lite specification."""


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture: shows itself in a notebook, and goes to SVG, PNG, HTML or JSON.

    ``spec`` is plain Vega-Lite and holds every number that is drawn.

    >>> from discreet.pictures import laplace
    >>> picture = laplace(scales=[1, 2])
    >>> picture
    <Picture: Laplace noise: the larger the scale, the wider the noise>
    >>> picture.svg()[:4]
    '<svg'
    """

    spec: Spec

    @property
    def title(self) -> str:
        """What the picture says, in a line."""
        title = self.spec.get("title", "untitled")
        return str(title["text"] if isinstance(title, Mapping) else title)

    def svg(self) -> str:
        """The picture as an SVG document."""
        return render.svg(self.spec)

    def png(self, *, scale: float = 2) -> bytes:
        """The picture as a PNG image; ``scale`` 2 is sharp on most screens."""
        return render.png(self.spec, scale=scale)

    def html(self) -> str:
        """A page of its own, with tooltips on dots and bars, that loads nothing from anywhere."""
        return render.html(self.spec, title=self.title)

    def json(self) -> str:
        """The specification itself, for other Vega-Lite tools."""
        return json.dumps(self.spec, indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says how: .svg, .png, .html or .json."""
        file = Path(path)
        made = _made(self, file)
        try:
            file.write_bytes(made)
        except OSError as error:
            raise InvalidValue(
                f'"{file}" cannot be written: {error.strerror}.',
                hint=f"choose a folder that exists, for example {file.name}",
            ) from None
        return file

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        shown: dict[str, Any] = {MIME: deepcopy(self.spec), "text/plain": repr(self)}
        with suppress(NotInstalled):  # the notebook then draws the specification itself
            shown["image/svg+xml"] = self.svg()
        return shown


def _made(picture: Picture, file: Path) -> bytes:
    writers: dict[str, Callable[[], str | bytes]] = {
        ".svg": picture.svg,
        ".png": picture.png,
        ".html": picture.html,
        ".json": picture.json,
    }
    write = writers.get(file.suffix.lower())
    if write is None:
        raise InvalidValue(
            f'"{file.name}" does not say by its ending what kind of picture it is to be: '
            f"one of {', '.join(writers)}.",
            hint=f"{file.stem or 'picture'}.svg",
        )
    made = write()
    return made if isinstance(made, bytes) else made.encode()
