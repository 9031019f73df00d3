"""The curator's policy: what is protected, what is public, what may be spent."""

from discreet.policy.draft import Proposal, draft
from discreet.policy.model import (
    EACH_ROW,
    AnalystCap,
    Budget,
    Column,
    Dataset,
    EngineSettings,
    KeysFrom,
    LedgerSettings,
    Policy,
    Source,
)
from discreet.policy.read import read, reads
from discreet.policy.schema import type_of
from discreet.policy.single import single
from discreet.policy.write import to_json, to_toml

__all__ = [
    "EACH_ROW",
    "AnalystCap",
    "Budget",
    "Column",
    "Dataset",
    "EngineSettings",
    "KeysFrom",
    "LedgerSettings",
    "Policy",
    "Proposal",
    "Source",
    "draft",
    "read",
    "reads",
    "single",
    "to_json",
    "to_toml",
    "type_of",
]
