"""Text that a terminal, a page or a renderer can show, whatever it holds.

Keys and names are other people's text. An escape sequence in one could move a terminal's cursor,
and a renderer may stop at a character that its format does not allow: signs are shown instead.
"""

from __future__ import annotations

import re
from typing import Any

# Control characters, lone surrogates, and what turns the direction of the text around it.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]"
)
_PICTURES = 0x2400  # Unicode draws the first 32 control characters from here on


def visible(text: str) -> str:
    r"""The text with a sign in the place of everything that is not for the eye.

    >>> visible("ward\x1b[2J\n")
    'ward␛[2J␊'
    >>> visible("Ärzte 日本")
    'Ärzte 日本'
    """
    return _HIDDEN.sub(_sign, text)


def visible_in(value: Any) -> Any:
    """The same for all text in a specification, which may have several lines."""
    if isinstance(value, str):
        return "\n".join(visible(line) for line in value.split("\n"))
    if isinstance(value, dict):
        return {visible_in(name): visible_in(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [visible_in(inner) for inner in value]
    return value


def _sign(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(_PICTURES + code)
    return "␡" if code == 0x7F else "�"
