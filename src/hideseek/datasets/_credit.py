"""Default of credit card clients: thirty thousand clients, their bills and payments."""

from __future__ import annotations

import dataclasses
import io

import numpy as np

from hideseek.datasets._dataset import Dataset, Split
from hideseek.datasets._draws import draw_labels
from hideseek.datasets._files import PublishedFile, read_published
from hideseek.datasets._parts import RawTable, divide, eighty_ten_ten
from hideseek.datasets.truth import falling_probability, syn_name, syn_truth
from hideseek.validation import check_parameters, integer

__all__ = ["credit_syn", "load_credit"]

_FILE = PublishedFile(
    path="credit/UCI_Credit_Card.csv",
    sha256="a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1",
    url="https://huggingface.co/datasets/scikit-learn/credit-card-clients/resolve/"
    "f809522649eaf948ad40a11ed575c4bb4d4460c1/UCI_Credit_Card.csv",
)
_LABEL = "default.payment.next.month"
_FEATURES = (
    "LIMIT_BAL",
    *(f"BILL_AMT{month}" for month in range(1, 7)),
    *(f"PAY_AMT{month}" for month in range(1, 4)),
    "AGE",
    *(f"PAY_AMT{month}" for month in range(4, 7)),
    *("SEX", "EDUCATION", "MARRIAGE"),
    *("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
)
"""In the paper's order: the first eleven are x1 to x11 of :func:`credit_syn`."""


def load_credit(*, standardize: bool = True, as_frame: bool = False) -> Split:
    """Load the default of credit card clients data: 30,000 clients, 23 features, 6,636 defaults.

    The split is the paper's: 24,000, 3,000 and 3,000 rows, stratified on the label and the same for every seed. The
    paper reports on the part called validation here. No row is dropped and no column recoded.

    Provenance: clients of a bank in Taiwan, April to September 2005, UCI Machine Learning Repository, data set 350,
    doi 10.24432/C55S3H. Read from the CSV edition of its spreadsheet, which the scikit-learn organisation keeps on
    Hugging Face (``scikit-learn/credit-card-clients``) and Kaggle has too. Licence: CC BY 4.0.

    Citation: I-C. Yeh and C.-H. Lien, "The comparisons of data mining techniques for the predictive accuracy of
    probability of default of credit card clients", Expert Systems with Applications 36(2), 2473-2480, 2009.

    Args:
        standardize: Give every column mean 0 and standard deviation 1 on the training rows.
        as_frame: Return X as a pandas frame and y as a series, indexed by the row of the published table.

    Example:
        >>> from hideseek.datasets import load_credit
        >>> split = load_credit()
        >>> split.test.X.shape, split.test.feature_names[10]
        ((3000, 23), 'AGE')
    """
    text = read_published(_FILE).decode()
    header = text.partition("\n")[0].replace('"', "").split(",")
    columns = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, unpack=True)
    named = dict(zip(header, columns, strict=True))
    X = np.column_stack([named[name] for name in _FEATURES])
    y = named[_LABEL].astype(np.int64)
    table = RawTable("credit", X, y, _FEATURES, _LABEL, np.arange(len(y)))
    return divide(table, eighty_ten_ten(len(y), 0, stratify=y), standardize=standardize, as_frame=as_frame)


def credit_syn(name: str, random_state: int = 0) -> Split:
    """Give the clients of :func:`load_credit` the labels of one of Syn1 to Syn6.

    The standardised columns LIMIT_BAL, BILL_AMT1 to BILL_AMT6, PAY_AMT1 to PAY_AMT3 and AGE stand for x1 to x11 of
    :func:`make_syn`, so AGE is the switch; the other twelve are irrelevant. The split does not depend on the seed.

    Args:
        name: "Syn1" to "Syn6", in any case.
        random_state: Seed of the labels.

    Example:
        >>> from hideseek.datasets import credit_syn
        >>> split = credit_syn("Syn4", random_state=3)
        >>> sorted(set(split.train.relevant.sum(axis=1).tolist()))
        [3, 5]
    """
    name = syn_name("credit_syn", name)
    check_parameters("credit_syn", {"random_state": random_state}, {"random_state": integer(0)})
    rng = np.random.default_rng(random_state)

    def relabelled(part: Dataset) -> Dataset:
        U, relevant = syn_truth(name, part.X)
        probability = falling_probability(U)
        return dataclasses.replace(
            part,
            name=f"credit {name}",
            y=draw_labels(rng, probability),
            relevant=relevant,
            probability=probability,
        )

    return Split(*map(relabelled, load_credit()))
