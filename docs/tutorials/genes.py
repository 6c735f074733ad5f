"""
Genes: 572 rows, 17,814 columns
===============================

Expression tables have far more columns than rows. This one has the size of a whole genome: the 100 genes of the
breast cancer data that come with the library, and 17,714 columns made by shuffling genes between patients. A shuffled
column has the distribution of a gene and tells nothing, so every selected one of them would be an error that can be
counted.

Takes about 10 seconds on one CPU core. The genes are downloaded once (``pip install 'hideseek[data,plot]'``), or
read from the folder that ``HIDESEEK_DATA`` names.
"""

# %%
# Load
# ----

import numpy as np
import pandas as pd

from hideseek.datasets import load_brca

split = load_brca(by_patient=True, as_frame=True)
genes = pd.concat([split.train.X, split.validation.X, split.test.X])
subtype = pd.concat([split.train.y, split.validation.y, split.test.y]).map(
    {0: "subtype 0", 1: "subtype 1", 2: "subtype 2", 3: "subtype 3"}
)
rng = np.random.default_rng(0)
n_shuffled = 17_814 - genes.shape[1]
source = rng.integers(0, genes.shape[1], n_shuffled)
order = rng.permuted(np.tile(np.arange(len(genes))[:, None], n_shuffled), axis=0)
shuffled = genes.to_numpy()[order, source]
names = [*genes.columns, *(f"shuffled {k}" for k in range(n_shuffled))]
X = pd.DataFrame(np.hstack([genes.to_numpy(), shuffled]).astype(np.float32), columns=names)
y = pd.Series(subtype.to_numpy(), name="subtype")
print(X.shape, y.value_counts().to_dict())

# %%
# Fit: screening comes first
# --------------------------
# Tables of more than 16 columns are screened before training. Columns are dropped that are related to the target
# neither alone, nor squared, nor in a product, and that modify no such term.

import time

from hideseek import HideSeekClassifier

n_train = len(split.train.X) + len(split.validation.X)
start = time.perf_counter()
model = HideSeekClassifier(random_state=0).fit(X[:n_train], y[:n_train])
print(f"fitted in {time.perf_counter() - start:.0f} s; {model.screening_}")
kept = np.flatnonzero(model.screening_.kept)
print(f"{(kept < genes.shape[1]).sum()} of them are genes, {(kept >= genes.shape[1]).sum()} shuffled columns")

# %%

from hideseek.report import plot_screening

plot_screening(model, max_features=20)

# %%
# Explain
# -------
# Patients whom the model has not seen:

explanation = model.explain(X[n_train:])
wrong = explanation.selected[:, genes.shape[1] :].sum()
print(f"accuracy {model.score(X[n_train:], y[n_train:]):.2f}, {explanation.n_selected.mean():.1f} genes per patient")
print(f"shuffled columns selected in all {len(explanation)} patients: {wrong}")
print(explanation.describe(0))

# %%

explanation.plot.bar(max_features=12)

# %%
# Each subtype has its own genes:

selected = pd.DataFrame(explanation.selected, columns=names).groupby(explanation.prediction).mean()
selected.loc[:, selected.max() > 0.3].T.round(2)

# %%
# How far can it be trusted?
# --------------------------
# With few rows, several sets of genes predict equally well, and the members of the ensemble name different ones.
# Rankings over patients are steadier than the answer for one patient.

print(model.trust_)

# sphinx_gallery_thumbnail_number = 2
