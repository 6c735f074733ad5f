"""
A table larger than memory
==========================

A model is fitted on a sample of the rows of many files, and explains files of any size: they are read, explained and
written in batches, so that memory does not grow with the table. A run that was killed goes on where it stopped.

Takes about 20 seconds on one CPU core. Needs ``pip install 'hideseek[data,files]'``.
"""

# %%
# A folder of files
# -----------------
# Six files of 50,000 rows stand for a table that does not fit into memory. Nothing below would be different with 6,000.

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

from hideseek.datasets import make_syn

folder = Path(mkdtemp())
(folder / "in").mkdir()
for k in range(6):
    data = make_syn("Syn4", n_samples=50_000, random_state=k)
    frame = pd.DataFrame(data.X, columns=data.feature_names).assign(id=range(50_000 * k, 50_000 * (k + 1)), y=data.y)
    frame.to_parquet(folder / f"in/part-{k}.parquet")
print(f"{sum(path.stat().st_size for path in folder.glob('in/*')) / 1e6:.0f} MB")

# %%
# Fit on a sample
# ---------------
# ``fit_files`` reads the files once and draws a random sample of their rows, whatever the order of files and rows. The
# networks are small, and 10,000 rows are enough to train them here; by default 300,000 are drawn.

from hideseek import HideSeekClassifier

model = HideSeekClassifier(random_state=0).fit_files(folder / "in", "y", drop=["id"], n_rows=10_000)
print(model.fitted_files_)

# %%
# Explain the files
# -----------------
# One file of answers for each file of rows. ``carry`` names columns to copy, so that answers can be joined with the
# rows.

import time

start = time.perf_counter()
done = model.explain_files(folder / "in", folder / "out", carry=["id"], progress=False)
seconds = time.perf_counter() - start
print(f"{done.n_rows:,} rows in {seconds:.1f} s, {done.n_rows / seconds:,.0f} rows a second")

# %%
# A second call finds everything done; after an interruption it would do what is missing.

print(model.explain_files(folder / "in", folder / "out", carry=["id"], progress=False).n_kept, "files were there")

# %%
# Read the answers
# ----------------
# By default a row takes a few bytes: the prediction, the number of selected features, and the selection as bits.

answers = pd.read_parquet(done.files[0])
answers.head(4)

# %%
# ``Scorer`` unpacks the bits, and is the same model as a function of batches for Ray, Spark and Dask.

from hideseek import Scorer

selected = Scorer(model).unpack(answers["selected_bits"])
pd.Series(selected.mean(axis=0), index=model.feature_names_in_, name="share of rows").round(3)

# %%

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(model.feature_names_in_, selected.mean(axis=0))
ax.set(ylabel="share of rows", title=f"selected, in the first {len(selected):,} of {done.n_rows:,} rows")
plt.show()

# %%
# More columns, such as the names of the selected features, are ``outputs``:

names = Scorer(model, outputs=["prediction", "probability", "selected"], carry=["id"])
names(pd.read_parquet(folder / "in/part-1.parquet").head(3))
