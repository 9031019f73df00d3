"""The curator's policy: what is protected, what is public, what may be spent."""

from discreet.policy.model import (
    EACH_ROW,
    AnalystCap,
    Budget,
    Column,
    Dataset,
    KeysFrom,
    Policy,
    Source,
)

__all__ = [
    "EACH_ROW",
    "AnalystCap",
    "Budget",
    "Column",
    "Dataset",
    "KeysFrom",
    "Policy",
    "Source",
]
