"""The audit of a selection: what the selected features tell about the target, and what the choice itself gives away."""

from hideseek.metrics._audit._audit import audit
from hideseek.metrics._audit._result import Audit, Estimate

__all__ = ["Audit", "Estimate", "audit"]
