"""Private SQL from end to end."""

from discreet.session.opening import open_session
from discreet.session.session import Session

__all__ = ["Session", "open_session"]
