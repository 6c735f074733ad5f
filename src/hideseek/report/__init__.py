"""Figures of explanations and of training, and a report in one self-contained HTML file.

Figures need matplotlib (``pip install 'hideseek[plot]'``), which is imported when the first one is drawn. Each function
takes the Axes to draw on, or makes a new figure, and returns the Axes without showing it.
"""

from hideseek.report._model_plots import plot_history, plot_path, plot_screening
from hideseek.report._plots import ExplanationPlots
from hideseek.report.page import write_report

__all__ = ["ExplanationPlots", "plot_history", "plot_path", "plot_screening", "write_report"]
