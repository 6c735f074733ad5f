"""The report: one HTML file with all results, in which the model itself can run."""

from hideseek.report.page.writing import write_report

__all__ = ["write_report"]
