"""
A credit table, from CSV to a report
====================================

30,000 clients of a bank in Taiwan: their limit, six months of bills and payments, age, sex, education, and whether they
failed to pay in the next month. The steps are those of a table of your own: read a CSV file, say what the columns are,
fit, look at how far the fit can be trusted, explain, and write one HTML file to give to somebody else.

Takes about 20 seconds on one CPU core. The table is downloaded once (``pip install 'hideseek[data,plot]'``), or read
from the folder that ``HIDESEEK_DATA`` names.
"""

# %%
# The table
# ---------

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

from hideseek.datasets import load_credit

folder = Path(mkdtemp())
split = load_credit(standardize=False, as_frame=True)
for name, part in (("train", split.train), ("new", split.test)):
    part.X.assign(default=part.y.to_numpy()).to_csv(folder / f"{name}.csv", index=False)

table = pd.read_csv(folder / "train.csv")
table.iloc[:4, :8]

# %%
# Sex, education and marriage are codes, not amounts. As categories each remains one feature, and a hidden one is
# replaced by a code that occurs.

CODES = {
    "SEX": {1: "male", 2: "female"},
    "EDUCATION": {1: "graduate school", 2: "university", 3: "high school"},
    "MARRIAGE": {1: "married", 2: "single"},
}


def prepared(path):
    """Return the features and the target of a file."""
    rows = pd.read_csv(path)
    for column, names in CODES.items():
        rows[column] = rows[column].map(names).fillna("other")
    return rows.drop(columns="default"), rows["default"].map({0: "pays", 1: "defaults"})


X, y = prepared(folder / "train.csv")
X_new, y_new = prepared(folder / "new.csv")

# %%
# Fit
# ---

from hideseek import HideSeekClassifier

model = HideSeekClassifier(random_state=0).fit(X, y)
print(model.trust_)

# %%
# The selected features alone predict nearly as well as all features. The warning below the figures says that members of
# the ensemble agree little on single rows: the payment states of neighbouring months tell nearly the same, so one can
# stand for another. ``stand_ins_`` lists which columns could replace a feature, and the increase of the loss.

for feature, stand_ins in list(model.stand_ins_.items())[:4]:
    print(
        feature, "<-", ", ".join(f"{each.name} (+{each.loss:.4f} of {each.loss_hidden:.4f})" for each in stand_ins[:2])
    )

# %%
# Explain
# -------

explanation = model.explain(X_new)
print(explanation)

# %%
# The client with the highest probability of default:

worst = model.predict_proba(X_new)[:, list(model.classes_).index("defaults")].argmax()
print(explanation.describe(int(worst)))
explanation.plot.row(int(worst))

# %%
# The ranking over all clients, and the direction in which each feature acts:

explanation.plot.bar(max_features=12)

# %%

explanation.plot.beeswarm(max_features=8)

# %%
# Fewer or more features
# ----------------------
# One fit answers for every price of a feature. The highest price at which a feature is still selected, its entry price,
# ranks the features of a row; with ``n_features`` that many enter.

explanation.plot.path(int(worst))

# %%

print(model.explain(X_new, n_features=3).describe(int(worst)))

# %%
# Groups of clients
# -----------------
# In how many rows did each feature decide, among those predicted to default and among the others?

shares = pd.DataFrame(explanation.selected, columns=explanation.feature_names).groupby(explanation.prediction).mean().T
shares.sort_values("defaults", ascending=False).head(8).round(2)

# %%
# Save and report
# ---------------
# The model is one file without pickle. The report is one HTML file that needs no network: what decides, groups, every
# row, and the model itself, so that values can be changed and the answer follows. Sex and age are marked as protected:
# the report says in how many rows they decided.

model.save(folder / "credit.safetensors")
explanation[:1000].report(folder / "credit.html", y=y_new[:1000], title="Credit card clients", protected=["SEX", "AGE"])
for path in sorted(folder.glob("credit.*")):
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

# %%
# The same without Python::
#
#     hideseek fit train.csv --target default --out credit.safetensors
#     hideseek report credit.safetensors new.csv --out credit.html

# sphinx_gallery_thumbnail_number = 2
