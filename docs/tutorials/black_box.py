"""
A black box, explained and audited
==================================

Which features did *this model* use for this row? ``BlackBoxExplainer`` learns it from the model's own answers: any
classifier or regressor of scikit-learn, XGBoost, a torch module, or a function of rows. Here it is a random forest on
a table whose truth is known, so three things can be checked: whether the explanation keeps the forest's answers,
whether it names the right features, and whether the choice of the features gives away more than it shows.

Takes about 20 seconds on one CPU core.
"""

# %%
# The black box
# -------------
# Syn4: where x11 is negative, x1 and x2 decide; elsewhere x3 to x6 do. x7 to x10 are noise.

from sklearn.ensemble import RandomForestClassifier

from hideseek.datasets import make_syn

train, new = make_syn("Syn4", random_state=0), make_syn("Syn4", n_samples=2000, random_state=1)
forest = RandomForestClassifier(max_depth=10, n_estimators=50, random_state=0).fit(train.X, train.y)
print(f"accuracy of the forest: {forest.score(new.X, new.y):.3f}")

# %%
# Explain it
# ----------
# The forest is asked about the rows of the fit, and for the measurement of fidelity. After that it is not needed: any
# number of rows is explained without calling it.

from hideseek import BlackBoxExplainer

explainer = BlackBoxExplainer(forest, random_state=0).fit(train.X)
explanation = explainer.explain(new.X)
print(f"the forest was called {explainer.n_calls_} times, with {explainer.n_rows_asked_:,} rows")
print(explanation.describe(0))

# %%

explanation.plot.heatmap()

# %%
# How far can it be trusted?
# --------------------------
# An imitation can be wrong, so ``fit`` holds rows out and measures: every feature that was not selected is replaced
# by values of other rows, and the forest is asked again. "selected" is how well its answer is kept, "random" the same
# for as many features chosen at random.

for what, figures in explainer.fidelity_.items():
    print(f"{what:10} same class in {figures.agreement:.0f} % of the rows, R squared {figures.r2:.2f}")

# %%
# SHAP explains the same forest; its largest values are compared at the same number of features in each row. The
# comparison needs ``pip install 'hideseek[compare]'`` and asks for 100 rows only, since SHAP on a forest is slow.

import numpy as np
import shap

few = new.X[:100]
values = np.abs(shap.TreeExplainer(forest).shap_values(few)[..., 1])
for method, figures in explainer.fidelity(few, {"SHAP": values}).items():
    print(f"{method:10} R squared {figures.r2:.2f}")

# %%
# Are the features right?
# -----------------------
# The forest learned from labels whose relevant features are known.

from hideseek.metrics import selection_scores, top_k

ours = explanation[:100]
by_shap = top_k(values, ours.n_selected)
print("ours:", selection_scores(ours.selected, new.relevant[:100]))
print("SHAP:", selection_scores(by_shap, new.relevant[:100]))

# %%
# Does the selection leak?
# ------------------------
# A selector sees the whole row, so the choice itself can reveal the answer, or values that are not shown. ``audit``
# trains judges on other rows to measure it, for the selection of any method.

from hideseek.metrics import audit

found = audit(new.X, forest.predict(new.X), explanation.selected, n_folds=2)
print(found)

# %%

found.plot()
