"""``discreet help``: the pages of reference that hints point to, also where there are no docs."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

import discreet

EPILOG = "Examples:  discreet help sql  |  discreet help policy | less"


class Page(StrEnum):
    """What can be looked up."""

    SQL = "sql"
    POLICY = "policy"


def help_(
    page: Annotated[Page, typer.Argument(help="What queries may say, or what a policy may.")],
) -> None:
    """Print a page of reference."""
    typer.echo(text(page), nl=False)


def text(page: Page) -> str:
    """A page as it was shipped, or in a checkout as it is in the docs."""
    package = files(discreet)
    shipped = package / "pages" / f"{page}.md"
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    checkout = Path(discreet.__file__).parents[2] / "docs" / "reference" / f"{page}.md"
    return checkout.read_text(encoding="utf-8")
