"""A table as wide as a genome, from file to page: `python -m benchmarks.file_to_page`.

572 tumours with the 100 genes of the published table, and 17,714 columns of shuffled ones. `hideseek fit` and `hideseek
report` are compared with what reading the file takes, and with XGBoost and TreeSHAP on the same file.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.processes import HIDESEEK, PYTHON, cost_of
from hideseek.datasets import load_brca

COLUMNS = 17_814
READ = "import pandas as pd; table = pd.read_{kind}({path!r}); "
PEER = (
    READ + "import shap, xgboost as xgb; X, y = table.drop(columns='subtype'), table.subtype; "
    "model = xgb.XGBClassifier(n_estimators=100, max_depth=7, learning_rate=0.1).fit(X, y); "
    "shap.TreeExplainer(model).shap_values(X)"
)


def make_table() -> pd.DataFrame:
    """Make a table of the genes of all parts, shuffled columns, and the number of the subtype."""
    split = load_brca(as_frame=True)
    parts = (split.train, split.validation, split.test)
    genes, rng = pd.concat([part.X for part in parts]), np.random.default_rng(0)
    source = rng.integers(0, genes.shape[1], COLUMNS - genes.shape[1])
    order = rng.permuted(np.tile(np.arange(len(genes))[:, None], len(source)), axis=0)
    shuffled = pd.DataFrame(genes.to_numpy()[order, source], columns=[f"shuffled {j}" for j in range(len(source))])
    table = pd.concat([genes.reset_index(drop=True), shuffled], axis=1).astype(np.float32)
    return table.assign(subtype=np.concatenate([part.y for part in parts]))


def commands(kind: str, path: str, folder: Path) -> dict[str, Sequence[str]]:
    """Return what is compared, by name."""
    model, page = str(folder / "model.safetensors"), str(folder / "page.html")
    return {
        "read the file": (*PYTHON, READ.format(kind=kind, path=path)),
        "XGBoost + TreeSHAP": (*PYTHON, PEER.format(kind=kind, path=path)),
        "hideseek fit": (*HIDESEEK, "fit", path, "--target", "subtype", "--out", model, "--force"),
        "hideseek report": (*HIDESEEK, "report", model, path, "--out", page, "--force"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=("csv", "parquet"), default=["csv", "parquet"])
    arguments = parser.parse_args()
    table = make_table()
    held = table.to_numpy(np.float64).nbytes / 2**20
    print(f"{len(table):,} rows x {COLUMNS:,} columns, {held:.0f} MiB as an array in double precision")
    for kind in arguments.kinds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = folder / f"genes.{kind}"
            getattr(table, f"to_{kind}")(path, index=False)
            costs = {name: cost_of(command) for name, command in commands(kind, str(path), folder).items()}
            page = folder / "page.html"
            sizes = f"{path.stat().st_size / 2**20:.0f} MiB, the page {page.stat().st_size / 2**20:.1f} MiB"
        print(f"{kind}, {sizes}\n{'':20}{'seconds':>9}{'of processor':>14}{'MiB':>7}{'x reading':>11}{'x its MiB':>11}")
        read, peer = costs["read the file"], costs["XGBoost + TreeSHAP"]
        for name, cost in costs.items():
            ratios = f"{cost.seconds / read.seconds:11.1f}{cost.mebibytes / read.mebibytes:11.1f}"
            print(f"{name:20}{cost.seconds:9.1f}{cost.processor:14.1f}{cost.mebibytes:7.0f}{ratios}")
        ours = costs["hideseek fit"].seconds + costs["hideseek report"].seconds
        print(f"fit and report take {ours / peer.seconds:.2f} times as long as XGBoost + TreeSHAP", flush=True)


if __name__ == "__main__":
    main()
