"""The report: one HTML file with everything that was found, in which the model itself runs."""

from hideseek.report.page.writing import write_report

__all__ = ["write_report"]
