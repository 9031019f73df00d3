"""Which names a budget can be kept under: data sets, pools, analysts and keys of requests."""

from __future__ import annotations

import re

_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,200}")


def is_name(text: object) -> bool:
    r"""Whether a text can be written down and read again: 1 to 200 characters, no controls.

    >>> is_name("visits-2026"), is_name(""), is_name("a\nb")
    (True, False, False)
    """
    return isinstance(text, str) and _NAME.fullmatch(text) is not None
