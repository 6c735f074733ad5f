"""The claims of the paper's appendices, and where the stored results answer them."""

from __future__ import annotations

from statistics import mean, median

from experiments import claims_lambda
from experiments.claims import POINTS, Claim, Finding, Stored
from experiments.claims_text import listed
from experiments.synthetic import KERNEL, NAMES

__all__ = ["CLAIMS"]

MANY_ROWS = {"l2x": "L2X", "shap": "SHAP", "invase": "INVASE", "realx": "REAL-X", "lime": "LIME (100 rows)"}
"""The methods that the paper compares with a million rows."""


def ill_posed(stored: Stored) -> Finding:
    lines = stored.table("switch", "leakage")
    return Finding(
        [float(line["zeros: leaking"]) < float(line["zeros: honest"]) for line in lines],
        "proxy loss, leaking and honest: "
        + ", ".join(f"{float(x['zeros: leaking']):.3f} and {float(x['zeros: honest']):.3f}" for x in lines),
        "exact",
        ["switch"],
    )


def largest_cell(stored: Stored) -> Finding:
    lines = stored.table("switch", "leakage")
    return Finding(
        [abs(float(line["switch missed, %"]) - float(line["largest cell, %"])) < 0.01 for line in lines],
        f"the leaking pair misses the switch in {listed([float(x['switch missed, %']) for x in lines])} % of rows",
        "exact",
        ["switch"],
    )


def _gains(stored: Stored, replacement: str) -> list[float]:
    lines = stored.table("switch", "leakage_exact")
    return [float(line["gained by leaking"]) for line in lines if line["replacement"] == replacement]


def jethani(stored: Stored) -> Finding:
    gains = _gains(stored, "ablation")
    return Finding(
        [gain > 0 for gain in gains],
        f"loss gained by leaking, every selector tried: {listed(gains, 3)} (label in the mask, direct switch, tree; "
        "independent, then dependent columns)",
        "exact",
        ["switch"],
    )


def conditional(stored: Stored) -> Finding:
    lines = [x for x in stored.table("switch", "leakage_exact") if x["replacement"] == "conditional"]
    gains, marginal = _gains(stored, "conditional"), _gains(stored, "marginal")
    return Finding(
        [gain == 0 and float(x["z from x, fixed sets"]) == 0 for gain, x in zip(gains, lines, strict=True)],
        f"largest gain of any selector: {max(gains):g}; with draws from the columns also {max(marginal):g}",
        "exact",
        ["switch"],
    )


def _same_seeds(stored: Stored) -> tuple[float, float]:
    """Return the mean F1 of draws from the columns and of the reference's knockoffs, over the runs that both have."""
    pairs = []
    for name in NAMES:
        by_seed = [
            {line["seed"]: float(line["f1"]) for line in stored.runs("knockoff", kind, name)}
            for kind in ("marginal", "reference_knockoff")
        ]
        pairs += [(by_seed[0][seed], by_seed[1][seed]) for seed in by_seed[0].keys() & by_seed[1].keys()]
    return mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)


def _reference(stored: Stored) -> str:
    """Return what knockoffs trained as by their authors' package give, in words."""
    ours, theirs = _same_seeds(stored)
    return (
        f"With the seeds of the authors' package, whose knockoffs have {theirs:.1f}, draws from columns have {ours:.1f}"
    )


def knockoffs(stored: Stored) -> Finding:
    by_kind = {
        kind: stored.mean_of_medians("knockoff", kind, NAMES, "f1")
        for kind in ("marginal", "gaussian_knockoff", "deep_knockoff")
    }
    at = {
        kind: float(next(x["median"] for x in stored.table("knockoff-rho")
                         if (x["method"], x["dataset"], x["score"]) == (kind, "rho 0.5", "f1")))
        for kind in ("marginal", "gaussian_knockoff")
    }  # fmt: skip
    return Finding(
        [
            by_kind["marginal"] > by_kind["deep_knockoff"],
            at["marginal"] > at["gaussian_knockoff"],
            _same_seeds(stored)[0] > _same_seeds(stored)[1],
        ],
        f"mean F1 {by_kind['marginal']:.1f}, deep knockoffs of ours {by_kind['deep_knockoff']:.1f}, Gaussian "
        f"{by_kind['gaussian_knockoff']:.1f}; at rho 0.5 {at['marginal']:.1f} and Gaussian "
        f"{at['gaussian_knockoff']:.1f}. {_reference(stored)}",
        f"21; by rho 1; package {stored.n_seeds('knockoff', 'reference_knockoff', 'Syn1')}",
        ["knockoff"],
    )


def fewer(stored: Stored) -> Finding:
    pairs = [(f"{method}, k = {k}", name) for method in ("shap", "l2x-one-epoch") for k in (3, 4, 5) for name in
             ("Syn4", "Syn5")]  # fmt: skip
    tpr, fdr = (
        {name: stored.median("fewer-k", "paper", name, score) for name in ("Syn4", "Syn5")} for score in ("tpr", "fdr")
    )
    lowest = min(stored.median("fewer-k", method, name, "fdr") for method, name in pairs)
    return Finding(
        [
            stored.median("fewer-k", method, name, "tpr") < tpr[name]
            and stored.median("fewer-k", method, name, "fdr") > fdr[name]
            for method, name in pairs
        ],
        f"lowest FDR of SHAP and L2X at k = 3, 4, 5: {lowest:.1f}; Hide&Seek {listed(list(fdr.values()))}",
        "21",
        ["fewer-k"],
    )


def annealing(stored: Stored) -> Finding:
    lines = {x["method"]: float(x["ours"]) for x in stored.table("annealing") if x["score"] == "f1"}
    stable = [lines[f"q = {q}"] for q in (2, 3, 4, 5)]
    poor = [lines["q = 0.5"], lines["q = 1"]]
    return Finding(
        [max(stable) - min(stable) < 3, max(poor) < min(stable) - 10],
        f"F1 at q = 2 to 5: {listed(stable)}; at 0.5 and 1: {listed(poor)}",
        "21",
        ["annealing"],
    )


def million(stored: Stored) -> Finding:
    few, many = (
        [stored.median(name, method, dataset, "f1") for dataset in NAMES]
        for name, method in (("synthetic", "l2x-one-epoch"), ("million", "l2x"))
    )
    ours = [stored.median("million", "paper", dataset, "f1") for dataset in NAMES]
    compared = {
        name: values
        for label, name in MANY_ROWS.items()
        if all(values := [stored.values("million", label, dataset, "f1") for dataset in NAMES])
    }
    others = {name: [median(value) for value in values] for name, values in compared.items()}
    not_run = [name for name in MANY_ROWS.values() if name not in others]
    return Finding(
        [
            mean(many) > mean(few) + 10,
            *(one >= max(rest) - POINTS for one, *rest in zip(ours, *others.values(), strict=True)),
        ],
        f"L2X, one epoch: mean F1 {mean(few):.1f} with 10,000 rows, {mean(many):.1f} with a million; Hide&Seek "
        f"{listed(ours)}, "
        + ", ".join(f"{name} {listed(values)}" for name, values in others.items())
        + (f". Not run with a million rows: {', '.join(not_run)}" if not_run else ""),
        "1" + "".join(f"; {name} {len(values[0])}" for name, values in compared.items() if len(values[0]) > 1),
        ["million"],
    )


def hundred(stored: Stored) -> Finding:
    means = {
        method: stored.mean_of_medians("hundred", method, NAMES, "f1")
        for method in ("ensemble", "paper", "invase", "invase-ideal", "realx", "shap", "l2x-one-epoch")
    }
    others = [means[method] for method in ("paper", "invase", "realx", "shap", "l2x-one-epoch")]
    return Finding(
        [means["ensemble"] >= other - POINTS for other in (*others, means["invase-ideal"])],
        f"mean F1 {means['ensemble']:.1f}; INVASE {means['invase']:.1f}, REAL-X {means['realx']:.1f}, SHAP "
        f"{means['shap']:.1f}; INVASE with its ideal penalty {means['invase-ideal']:.1f}, which is above it",
        "20; REAL-X 10",
        ["hundred"],
    )


def california(stored: Stored) -> Finding:
    labels = ("paper", "paper-accuracy", "paper-0.5", "invase", "shap")
    f1 = {method: stored.median("california", method, "released", "f1") for method in labels}
    others = max(f1["invase"], f1["shap"])
    return Finding(
        [f1[method] >= others - POINTS for method in ("paper", "paper-accuracy", "paper-0.5")],
        f"F1 {f1['paper']:.1f} with a penalty chosen by cross-entropy, {f1['paper-accuracy']:.1f} by accuracy, "
        f"{f1['paper-0.5']:.1f} with 0.5; INVASE {f1['invase']:.1f}, SHAP {f1['shap']:.1f}. The paper does not say how "
        "it chose",
        "10",
        ["california"],
    )


def kernel_shap(stored: Stored) -> Finding:
    f1 = {method: [stored.median("synthetic", method, name, "f1") for name in NAMES] for method in ("shap", KERNEL)}
    return Finding(
        [tree >= kernel - POINTS for tree, kernel in zip(f1["shap"], f1[KERNEL], strict=True)],
        f"F1 on Syn1-6 {listed(f1['shap'])}; KernelSHAP of the same trees {listed(f1[KERNEL])}",
        "21; KernelSHAP 5, 100 rows",
        ["synthetic"],
    )


CLAIMS = (
    Claim("A, theorem", "the loss with ablation is an ill-posed proxy: a leaking pair has a lower one", ill_posed),
    Claim("A, corollary", "the switch can be missed as often as its largest cell is met", largest_cell),
    Claim("A.1", "joint training with ablation leaks labels and tree decisions (Jethani et al.)", jethani),
    Claim("A.2", "draws from the columns outperform knockoffs", knockoffs),
    Claim("A.3; 5", "with conditional draws leakage is impossible", conditional),
    Claim("B", "Tree SHAP performs better than Kernel SHAP", kernel_shap),
    *claims_lambda.CLAIMS,
    Claim("D.5", "better than SHAP and L2X at every k", fewer),
    Claim("D.8", "annealing is stable for q = 2 to 5 and poor for 0.5 and 1", annealing),
    Claim("E.1", "with a million rows L2X improves, and Hide&Seek still outperforms", million),
    Claim("E.2", "the ensemble outperforms all others among 100 features, the ideal INVASE too", hundred),
    Claim("E.3", "best F1 on California housing", california),
)
