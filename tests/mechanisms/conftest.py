"""Fifty digits for every test of a mechanism."""

from typing import Any

import pytest
from mpmath import mp


@pytest.fixture(autouse=True)
def fifty_digits() -> Any:
    with mp.workdps(50):
        yield
