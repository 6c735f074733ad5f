"""What was found, for people: one HTML file that needs nothing else."""

from hideseek.report.page import write_report

__all__ = ["write_report"]
