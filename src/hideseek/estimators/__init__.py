"""The scikit-learn face: estimators that fit, predict, explain and save."""

# What the baselines, the benchmark and the report share with the estimators is imported under its own name.
from hideseek.estimators._base import BaseHideSeek as BaseHideSeek
from hideseek.estimators._black_box import BlackBoxExplainer
from hideseek.estimators._classifier import HideSeekClassifier
from hideseek.estimators._effects import turns_of as turns_of
from hideseek.estimators._fitted_files import FittedFiles as FittedFiles
from hideseek.estimators._forgetting import fitted_or_forgotten as fitted_or_forgotten
from hideseek.estimators._forgetting import gradients_as_before as gradients_as_before
from hideseek.estimators._many import Problem as Problem
from hideseek.estimators._many import check_one_stack as check_one_stack
from hideseek.estimators._many import models_for as models_for
from hideseek.estimators._parameters import RULES as RULES
from hideseek.estimators._parameters import draw_seed as draw_seed
from hideseek.estimators._regressor import HideSeekRegressor

__all__ = ["BlackBoxExplainer", "HideSeekClassifier", "HideSeekRegressor"]
