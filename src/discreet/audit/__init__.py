"""Trying to refute claims of privacy: ours, a peer's, a user's."""

from discreet.audit.blackbox import audit
from discreet.audit.claim import Claim
from discreet.audit.declared import ModuleReport, audit_module, claims
from discreet.audit.report import Report

__all__ = ["Claim", "ModuleReport", "Report", "audit", "audit_module", "claims"]
