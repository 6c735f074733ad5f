"""What people look at: pictures of explanations and of training, and one HTML file that needs nothing else.

Pictures need matplotlib (``pip install 'hideseek[plot]'``), which is loaded when the first one is drawn. Each takes the
Axes to draw on, or makes a new figure, and returns the Axes; none is shown unasked.
"""

from hideseek.report._model_plots import plot_history, plot_path, plot_screening
from hideseek.report._plots import ExplanationPlots
from hideseek.report.page import write_report

__all__ = ["ExplanationPlots", "plot_history", "plot_path", "plot_screening", "write_report"]
