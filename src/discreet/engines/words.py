"""What is said when an engine fails: one sentence to everybody, the engine's own to the curator."""

from __future__ import annotations

import logging

from discreet.errors import EngineFailed, NotInstalled

LOG = logging.getLogger("discreet.curator")
"""Where engines' own words go. They may quote private cells, so nobody hears them by default: the
curator adds a handler of their own."""
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


def failed() -> EngineFailed:
    """The one thing that anybody is told when an engine fails."""
    return EngineFailed(
        "the engine could not answer this query; if it was charged, it stays charged.",
        hint="ask again with the same key; if it fails again, the curator's log says why.",
    )


def unreachable(engine: str, where: str) -> EngineFailed:
    """What anybody is told when an engine cannot be reached: no query was sent to it.

    ``where`` names the place of the secret, never the secret.
    """
    return EngineFailed(
        f"{engine} could not be reached by {where}; no question was put to it.",
        hint="is it running, and is the connection right? The curator's log says more.",
    )


def not_installed(engine: str, extra: str) -> NotInstalled:
    """An engine whose driver is an extra that is not there."""
    return NotInstalled(
        f"{engine} is reached through a package that is not installed.",
        hint=f'pip install "discreet[{extra}]"',
    )
