"""What text must look like to be read as a number, a date or a condition where no cast is tried.

Braces are doubled, since the patterns stand in templates; there are no backslashes in them, which
engines read in different ways.
"""

from __future__ import annotations

NUMBER = "^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})? *$"

_LEAP = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29"
_ORDINARY = (
    "([0-9]{{3}}[1-9]|[0-9]{{2}}[1-9][0-9]|[0-9][1-9][0-9]{{2}}|[1-9][0-9]{{3}})-"
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    "02-(0[1-9]|1[0-9]|2[0-8]))"
)
_TIME = "[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,6}})?)?"

DAY = f"^({_LEAP}|{_ORDINARY})$"
"""The days of the years 1 to 9999, in the form 2026-01-31, and nothing else."""
MOMENT = f"^({_LEAP}|{_ORDINARY})({_TIME})?$"

TRUE = "'true', 't', 'yes', 'y', '1'"
FALSE = "'false', 'f', 'no', 'n', '0'"

KNOWN_DAY = "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
"""The days that engines know beyond these are too far off for their own timestamps."""
