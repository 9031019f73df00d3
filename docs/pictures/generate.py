"""Draws every picture of the gallery: `python docs/pictures/generate.py`.

A test keeps the words and numbers in the files equal to what the package draws.
"""

from __future__ import annotations

from pathlib import Path

from discreet.pictures import CATALOGUE, Picture, error_bars

FOLDER = Path(__file__).parent

# Invented, as the page says: 95 % intervals of counts at epsilon 0.1.
VISITS = [
    {"ward": ward, "visits": count, "low": count - 30, "high": count + 30}
    for ward, count in (("cardiology", 1203), ("surgery", 877), ("oncology", 412), ("night", 12))
]


def answer() -> Picture:
    """An answer with its intervals."""
    return error_bars(
        VISITS, key="ward", value="visits", low="low", high="high", title="Visits by ward"
    )


GALLERY = {**CATALOGUE, "answer": answer}


def main() -> None:
    """Draw them all."""
    for name, make in GALLERY.items():
        make().save(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
