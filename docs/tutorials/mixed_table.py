"""
Categories, dates and holes
===========================

Tables as they are kept in practice have text, dates, yes/no columns and missing values. They go into ``fit`` as they
are: no encoder, no imputation, no scaling. A category is one feature, with one price and one place in the answer.

Takes about 10 seconds on one CPU core.
"""

# %%
# The table
# ---------
# Orders of a shop, made up here. An order that goes abroad is late if it goes by ship in the second half of the year;
# an order within the country is late if it is heavy. One label in twenty is wrong, and a tenth of the weights was not
# noted.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 8000
orders = pd.DataFrame(
    {
        "placed": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D"),
        "country": rng.choice(["domestic", "domestic", "abroad"], n),
        "carrier": rng.choice(["ship", "plane", "rail"], n),
        "weight_kg": rng.lognormal(1.0, 0.8, n).round(2),
        "gift": rng.random(n) < 0.3,
        "size": pd.Categorical(rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True),
        "customer_since": rng.integers(2005, 2025, n),
    }
)
abroad = orders["country"] == "abroad"
second_half = orders["placed"] >= "2024-07-01"
heavy = orders["weight_kg"] > 3
late = np.where(abroad, (orders["carrier"] == "ship") & second_half, heavy) ^ (rng.random(n) < 0.05)
late = pd.Series(np.where(late, "late", "on time"), name="delivery")
orders.loc[rng.random(n) < 0.1, "weight_kg"] = np.nan
orders.loc[rng.random(n) < 0.05, "carrier"] = None
orders.head(4)

# %%
# Fit
# ---
# ``encoder_`` says what became of each column: a category is one 0/1 column for each level, a missing number is the
# median with a second column that marks it, a date is a number of days.

from hideseek import HideSeekClassifier

train, new = orders[:6000], orders[6000:]
model = HideSeekClassifier(random_state=0).fit(train, late[:6000])
for name, width in zip(model.encoder_.feature_names, model.encoder_.widths, strict=True):
    print(f"{name:15} {width} column{'s' if width > 1 else ''}")

# %%
# Explain
# -------
# Values appear in sentences as they are in the table.

explanation = model.explain(new)
for row in range(4):
    print(explanation.describe(row))

# %%

explanation.plot.heatmap()

# %%
# Orders that go abroad and orders within the country are decided by different columns:

selected = pd.DataFrame(explanation.selected, columns=explanation.feature_names)
selected.groupby(new["country"].to_numpy()).mean().round(2)

# %%
# Columns that belong together
# ----------------------------
# ``groups`` makes several columns one feature: shown together, hidden together, with one price.

grouped = HideSeekClassifier("fast", groups={"parcel": ["weight_kg", "size"]}, random_state=0).fit(train, late[:6000])
print(grouped.explain(new).describe(0))

# %%
# New values
# ----------
# What did not occur in training is answered with a warning: an unknown carrier counts as missing here, since missing
# values were there in training.

import warnings

odd = new.head(1).assign(carrier="drone")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(model.explain(odd).describe(0))
print(*(warning.message for warning in caught), sep="\n")
