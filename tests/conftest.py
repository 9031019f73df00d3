"""Settings of all tests."""

import signal

import pytest
from hypothesis import settings

from tests.engines.hospital import database, server
from tests.spark import spark

__all__ = ["database", "server", "spark"]

# A deadline would be an assertion about time, and those belong in bench/.
settings.register_profile("discreet", deadline=None, print_blob=True)
settings.load_profile("discreet")

# A shell that starts the tests in the background has the interrupt key ignored in all of them.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Send all that needs Spark to one process, which starts it once."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
