"""The paper's recipe for many runs as one stack: `python -m benchmarks.paper_stack [--seeds 20] [--million]`.

500 full-batch epochs for Syn1-6 and each seed, every run with 10,000 rows of its own. A plain stack replayed as a CUDA
graph took 2.7 s for 20 seeds on an H200; the bar there is 1.0 s. The time is that of training alone, with the tables
on the device and the kernel compiled; the scores are medians over seeds, beside the paper's.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.arithmetic import device_name, matrix_rate, training_operations
from hideseek.datasets import make_syn
from hideseek.engine.device import resolve_device
from hideseek.engine.draws import member_seeds
from hideseek.engine.recipe import PRESETS, PRICE_PER_FEATURE, Recipe
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, Members, Stack
from hideseek.engine.training import train
from hideseek.metrics import selection_scores

NAMES = [f"Syn{i}" for i in range(1, 7)]
BAR = {20: 1.0}
PUBLISHED = Path(__file__).parent.parent / "experiments" / "published" / "synthetic_tpr_fdr.csv"
TEST_ROWS = 10_000


def make_tables(runs: list[tuple[str, int]], n_rows: int, device: torch.device) -> tuple[Data, list[Scaler]]:
    """The training table of each run, standardised, on the device."""
    sets = [make_syn(name, n_rows, random_state=seed) for name, seed in runs]
    scalers = [Scaler.fit(one.X) for one in sets]
    X = torch.stack([torch.from_numpy(scaler.transform(one.X)) for scaler, one in zip(scalers, sets, strict=True)])
    return Data(X.to(device), torch.stack([torch.from_numpy(one.y) for one in sets]).to(device)), scalers


def trained(data: Data, recipe: Recipe, seeds: list[int]) -> tuple[Stack, float]:
    """One member for each table, and the seconds of training it took."""
    count, _, n_columns = data.X.shape
    own = np.array([member_seeds(seed, 1)[0] for seed in seeds])
    visible = np.ones((count, n_columns), dtype=bool)
    members = Members(own, np.full(count, PRICE_PER_FEATURE), visible, np.arange(count))

    def wait() -> float:
        if data.X.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    start = wait()
    stack, _ = train(recipe, data, members, loss="cross_entropy", n_outputs=2, device=data.X.device)
    return stack, wait() - start


def scores(stack: Stack, runs: list[tuple[str, int]], scalers: list[Scaler]) -> dict[str, list[tuple[float, ...]]]:
    """TPR, FDR and F1 of every run, by dataset, on rows drawn with the next seed."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in NAMES}
    hide, _ = stack.layers()
    for i, ((name, seed), scaler) in enumerate(zip(runs, scalers, strict=True)):
        test = make_syn(name, TEST_ROWS, random_state=seed + 1)
        x = torch.from_numpy(scaler.transform(test.X)).t()[None].to(stack.parameters.device)
        mask = stack.hide.forward([part[i : i + 1] for part in hide], x).sigmoid()[0].t().cpu().numpy()
        found[name].append(tuple(selection_scores(mask > 0.5, test.relevant)))
    return found


def report(found: dict[str, list[tuple[float, ...]]]) -> None:
    with open(PUBLISHED, newline="") as file:
        paper = {row["dataset"]: row for row in csv.DictReader(file) if row["method"] == "Hide&Seek"}
    for name, runs in found.items():
        if not runs:
            continue
        tpr, fdr, f1 = np.median(runs, axis=0)
        worst = min(run[2] for run in runs)
        beside = f"paper {paper[name]['tpr']:>3} / {paper[name]['fdr']:>2}"
        print(f"  {name}  TPR {tpr:5.1f}  FDR {fdr:4.1f}  ({beside})   F1 {f1:5.1f}, worst {worst:5.1f}")


def measure(title: str, runs: list[tuple[str, int]], n_rows: int, device: torch.device, rounds: int) -> None:
    """Time and quality of one stack."""
    recipe = PRESETS["paper"]
    data, scalers = make_tables(runs, n_rows, device)
    seeds = [seed for _, seed in runs]
    if device.type == "cuda":
        trained(data, Recipe(steps=5), seeds)  # compiles
        torch.cuda.reset_peak_memory_stats()
    results = [trained(data, recipe, seeds) for _ in range(rounds)]
    seconds = [spent for _, spent in results]
    operations = training_operations(recipe, n_rows, data.X.shape[2], 2) * len(runs)
    limit = operations / matrix_rate(device=device)
    middle = float(np.median(seconds))
    print(f"{title}: {middle:.3f} s ({min(seconds):.3f} to {max(seconds):.3f})")
    print(f"  {operations / 1e12:.1f} TFLOP, {middle / limit:.1f} times the limit of {limit:.3f} s")
    if device.type == "cuda":
        print(f"  memory at most {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")
    report(scores(results[0][0], runs, scalers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--million", action="store_true", help="a million rows too: Syn4 alone, then Syn1-6")
    arguments = parser.parse_args()
    device = resolve_device(arguments.device)
    print(f"{device_name(device)}, torch {torch.__version__}, precision {torch.get_float32_matmul_precision()}")
    runs = [(name, seed) for name in NAMES for seed in range(arguments.seeds)]
    bar = f" (bar {BAR[arguments.seeds]:g} s)" if arguments.seeds in BAR else ""
    measure(f"{len(runs)} members of 10,000 rows{bar}", runs, 10_000, device, arguments.rounds)
    if arguments.million:
        measure("Syn4, 1,000,000 rows", [("Syn4", 0)], 1_000_000, device, 1)
        measure("Syn1-6, 1,000,000 rows each", [(name, 0) for name in NAMES], 1_000_000, device, 1)


if __name__ == "__main__":
    main()
