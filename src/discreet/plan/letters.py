"""Which letter is another's capital: the same on every engine, in any locale.

Engines disagree on the sharp s, on dotted and dotless i and on final sigma, and PostgreSQL asks
its locale. Here a letter has a capital where each is one letter and each leads back to the other:
in the Latin (with its two supplements), Greek, Cyrillic and Armenian alphabets. All others stay.
"""

from __future__ import annotations

_ALPHABETS = ((0x41, 0x5B), (0xC0, 0x250), (0x370, 0x530), (0x531, 0x587), (0x1E00, 0x1F00))


def _pairs() -> tuple[str, str]:
    capitals = [chr(code) for start, end in _ALPHABETS for code in range(start, end)]
    found = [
        (capital, capital.lower())
        for capital in capitals
        if len(capital.lower()) == 1
        and capital.lower() != capital
        and capital.lower().upper() == capital
    ]
    return "".join(capital for capital, _ in found), "".join(small for _, small in found)


CAPITALS, SMALL = _pairs()
