"""XGBoost with TreeSHAP, set as in the paper's appendix."""

from __future__ import annotations

import numpy as np
import shap
import xgboost as xgb
from numpy.typing import NDArray

ROUNDS = 100


def boosted_trees(X: NDArray[np.float64], y: NDArray[np.int64]) -> xgb.Booster:
    """Depth 5 and 90 % of the columns per tree; depth 7 and all columns on wide tables."""
    wide = X.shape[1] >= 100
    parameters = {
        "objective": "binary:logistic",
        "eval_metric": "logloss",
        "eta": 0.1,
        "max_depth": 7 if wide else 5,
        "colsample_bytree": 1.0 if wide else 0.9,
    }
    return xgb.train(parameters, xgb.DMatrix(X, y), ROUNDS)


def tree_shap(booster: xgb.Booster, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """One value per row and feature."""
    return np.asarray(shap.TreeExplainer(booster).shap_values(X))
