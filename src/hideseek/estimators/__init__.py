"""The scikit-learn face: estimators that fit, predict, explain and save."""

from hideseek.estimators._black_box import BlackBoxExplainer
from hideseek.estimators._classifier import HideSeekClassifier
from hideseek.estimators._regressor import HideSeekRegressor

__all__ = ["BlackBoxExplainer", "HideSeekClassifier", "HideSeekRegressor"]
