"""The audit of a selection: what the selected features reveal about the target, and what the choice itself reveals."""

from hideseek.metrics._audit._audit import audit
from hideseek.metrics._audit._result import Audit, Estimate

__all__ = ["Audit", "Estimate", "audit"]
