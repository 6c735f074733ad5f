"""
A first table: the cafe
=======================

A cafe notes each day's temperature, what it sells, and whether the day was profitable. On cold days profit depends on
coffee and hot chocolate, on warm days on coffee, iced coffee and iced tea. So no single ranking of the columns is
right for all days: this is what instance-wise feature selection is for. The table is made by the library, so the
features that truly decide are known for each row.

Takes about 10 seconds on one CPU core.
"""

# %%
# The table
# ---------
# Six of the eleven columns mean nothing. Temperatures are in degrees, sales in standard deviations from their mean.

from hideseek.datasets import make_cafe

days = make_cafe(random_state=0, as_frame=True)
new_days = make_cafe(n_samples=2000, random_state=1, as_frame=True)
days.X.iloc[:5, :6].round(2)

# %%
# Fit and explain
# ---------------
# No setting is needed. The number of features is not given either: it is learned for each row.

from hideseek import HideSeekClassifier

model = HideSeekClassifier(random_state=0).fit(days.X, days.y)
explanation = model.explain(new_days.X)
print(explanation)

# %%
# One day in words. An *effect* is the change of the prediction when that feature is hidden as well.

for row in range(3):
    print(explanation.describe(row))

# %%
# The same as a picture: what raised and what lowered the probability.

explanation.plot.row(2)

# %%
# All days
# --------
# Each column of the picture is a day; days with similar answers are next to each other. Two kinds of days appear, and
# temperature and coffee decide on both.

explanation.plot.heatmap()

# %%
# The temperature tells the two kinds apart:

import pandas as pd

warm = new_days.X["temperature"] >= 20
selected = pd.DataFrame(explanation.selected, columns=explanation.feature_names)
selected.groupby(warm.map({True: "20 degrees and more", False: "below 20"})).mean().iloc[:, :6].round(2)

# %%
# Is it right?
# ------------
# Since the truth is known, the selection can be scored: the share of the relevant features that was found (TPR), the
# share of the selected ones that is irrelevant (FDR), and F1, in percent, each the mean over rows.

from hideseek.metrics import selection_scores

print(selection_scores(explanation.selected, new_days.relevant))

# %%
# On a table of your own the truth is not known. ``trust_`` has what can be measured without it: predictions of rows
# that the model has not learned from, made from the selected features only, beside those from all features and from
# none.

print(model.trust_)
