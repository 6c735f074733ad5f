"""Selector and predictor networks, trained as a stack for one or many problems."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from hideseek import persistence
from hideseek.baselines._base import SEED, Baseline
from hideseek.baselines._file_checks import check_state
from hideseek.blocks import row_blocks
from hideseek.engine.adam import Adam
from hideseek.engine.dense import Dense
from hideseek.engine.device import for_each_block, resolve_device, training_threads
from hideseek.engine.draws import Stream, integers, step_keys, uniform
from hideseek.engine.networks import split
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Batch, Data
from hideseek.errors import TrainingError
from hideseek.estimators import RULES, Problem, check_one_stack, gradients_as_before, models_for
from hideseek.validation import choice, integer, number

__all__ = ["SHARED_RULES", "Loss", "Networks", "NeuralBaseline", "log_likelihood"]

_ADAM_EPSILON = 1e-7  # the default of Keras, in which these methods were published
_STEP_BLOCK = 64
_STEPS_WORTH_COMPILING = 4000
"""Number of steps from which compilation pays off on a GPU, where these steps are limited by memory."""
_BLOCK_CELLS = 2**20

SHARED_RULES = {
    "batch_size": integer(1),
    "learning_rate": number("a number greater than 0", lambda value: value > 0),
    "l2": number("a number of at least 0", lambda value: value >= 0),
    "activation": choice("relu", "selu"),
    "device": RULES["device"],
    "random_state": SEED,
}


class Networks:
    """Several named networks; their weights share one tensor with one row per member.

    Shape: ``parameters (members, weights of all)``, ``statistics (members, running moments of all)``.
    """

    def __init__(self, shapes: Mapping[str, Dense], parameters: Tensor, statistics: Tensor) -> None:
        self.shapes, self.parameters, self.statistics = dict(shapes), parameters, statistics
        every = [shape for network in self.shapes.values() for shape in network.shapes]
        views = split(parameters, every)
        ends = list(accumulate(len(network.shapes) for network in self.shapes.values()))
        starts = [0, *ends[:-1]]
        self._weights = {n: views[a:b] for n, a, b in zip(self.shapes, starts, ends, strict=True)}
        parts = torch.split_with_sizes(statistics, [net.n_statistics for net in self.shapes.values()], dim=1)
        self._statistics = dict(zip(self.shapes, parts, strict=True))

    @classmethod
    def initial(cls, shapes: Mapping[str, Dense], seeds: NDArray[np.int64], device: torch.device) -> Networks:
        """Return the networks before training."""
        keys = step_keys(seeds, Stream.WEIGHTS, 0, len(shapes))
        starts = [net.init(uniform(key, net.n_parameters)) for net, key in zip(shapes.values(), keys, strict=True)]
        parameters, statistics = (torch.cat(parts, dim=1).float().to(device) for parts in zip(*starts, strict=True))
        return cls(shapes, parameters, statistics)

    def __call__(self, name: str, x: Tensor, *, training: bool = False) -> Tensor:
        """Return the outputs of a network. Shape: ``x (members, features, rows)`` -> ``(members, outputs, rows)``."""
        return self.shapes[name].forward(self._weights[name], x, self._statistics[name], training=training)

    def penalty(self, name: str, *, last: bool = True) -> Tensor:
        """Return the sum of the squares of a network's matrices, or of all but its last. Shape: ``(members,)``."""
        return self.shapes[name].kernel_penalty(self._weights[name], last=last)

    def member(self, k: int) -> Networks:
        """Return the networks of one member."""
        return Networks(self.shapes, self.parameters[k : k + 1].clone(), self.statistics[k : k + 1].clone())

    def is_of(self, names: Sequence[str]) -> Tensor:
        """Return 1 for the weights of the named networks, 0 for the others. Shape: ``(weights of all,)``."""
        parts = [torch.full((net.n_parameters,), float(name in names)) for name, net in self.shapes.items()]
        return torch.cat(parts).to(self.parameters.device)


Loss = Callable[[Networks, Batch, Tensor], Tensor]
"""Networks, a batch and the keys of its draws -> the loss of each member, ``(members,)``."""


def log_likelihood(output: Tensor, y: Tensor, added: float = 0.0) -> Tensor:
    """Return log p(y) of each row, or log(p(y) + added), which is bounded below.

    Shape: ``(members, classes, rows)``, ``(members, rows)`` -> ``(members, rows)``.
    """
    if added:
        return (output.softmax(dim=1).gather(1, y[:, None]).squeeze(1) + added).log()
    return output.log_softmax(dim=1).gather(1, y[:, None]).squeeze(1)


class NeuralBaseline(Baseline):
    """A method made of networks that are trained in one or more phases, each with its own loss."""

    @abstractmethod
    def _networks(self, n_columns: int, n_classes: int) -> dict[str, Dense]:
        """Return the networks by name."""

    @abstractmethod
    def _phases(self, n_rows: int, penalty: Tensor) -> list[tuple[Sequence[str], Loss, int]]:
        """Return the training phases in order: the names of the trained networks, their loss, and the steps.

        Shape: ``penalty (members,)``.
        """

    @abstractmethod
    def _mask(self, networks: Networks, x: Tensor) -> Tensor:
        """Return the importance of each feature. Shape: ``(1, columns, rows)`` -> the same."""

    @abstractmethod
    def _answer(self, networks: Networks, x: Tensor) -> Tensor:
        """Return class logits from the selected features. Shape: ``(1, columns, rows)`` -> ``(1, classes, rows)``."""

    # -- fitting --------------------------------------------------------------------------------------------------

    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        _train([self], [(table, target)])

    def fit_many(self, problems: Sequence[Problem]) -> list[Self]:
        """Fit many problems of one shape as one stack; each result equals that of its own ``fit``, up to rounding.

        Args:
            problems: Tuples of X, y, the seed, and a mapping of parameters that differ from this method's; only the
                penalty may differ between problems.

        Returns:
            One fitted method per problem, in the same order.
        """
        models = models_for(self, problems)
        prepared = [model._prepared(X, y) for model, (X, y, _, _) in zip(models, problems, strict=True)]
        check_one_stack(
            models, [(table.shape, len(model.classes_)) for model, (table, _) in zip(models, prepared, strict=True)]
        )
        with gradients_as_before():
            _train(models, prepared)
        return models

    # -- prediction -----------------------------------------------------------------------------------------------

    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        return self._run(table, lambda x: self._mask(self.networks_, x), table.shape[1])

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        return self._run(table, lambda x: self._answer(self.networks_, x).softmax(dim=1), len(self.classes_))

    def _run(
        self, table: NDArray[np.floating], function: Callable[[Tensor], Tensor], width: int
    ) -> NDArray[np.float32]:
        """Apply a function of ``x (1, features, rows)`` to blocks of rows. Shape: -> ``(rows, width)``."""
        out = np.empty((len(table), width), dtype=np.float32)
        device = self.networks_.parameters.device

        def job(rows: slice) -> None:
            with torch.inference_mode():
                x = torch.from_numpy(self.scaler_.transform(table[rows])).to(device).t().contiguous()[None]
                out[rows] = function(x)[0].t().cpu().numpy()

        widest = max(size for network in self.networks_.shapes.values() for size in network.sizes)
        for_each_block(job, row_blocks(len(table), widest, _BLOCK_CELLS), device)
        return out

    # -- on disk --------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted method to one ``.safetensors`` file, atomically; ``hideseek.load`` reads it."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        arrays = {
            "parameters": self.networks_.parameters.cpu().numpy(),
            "statistics": self.networks_.statistics.cpu().numpy(),
            "center": self.scaler_.center,
            "scale": self.scaler_.scale,
            "constant": self.scaler_.constant,
        }
        parameters = self.get_params(deep=False)
        if isinstance(parameters["random_state"], np.random.RandomState | np.random.Generator):
            parameters["random_state"] = None  # the state of a generator is not needed after the fit
        description = {
            "parameters": {**parameters, "device": str(parameters["device"])},
            "classes": persistence.labels_to_json(self.classes_),
            "feature_names": None if names is None else [str(name) for name in names],
        }
        persistence.save(path, self, arrays, description)

    _check_state = classmethod(check_state)

    @classmethod
    def _restore(cls, arrays: persistence.Arrays, description: persistence.Description) -> Self:
        model = cls(**description["parameters"])
        device = resolve_device(model.device if RULES["device"].accepts(model.device) else "auto")
        model.scaler_ = Scaler(arrays["center"], arrays["scale"], arrays["constant"])
        model.classes_ = persistence.labels_from_json(description["classes"])
        model.n_features_in_ = len(model.scaler_.center)
        if description["feature_names"] is not None:
            model.feature_names_in_ = np.array(description["feature_names"], dtype=object)
        shapes = model._networks(model.n_features_in_, len(model.classes_))
        tensors = (torch.from_numpy(arrays[name]).to(device) for name in ("parameters", "statistics"))
        model.networks_ = Networks(shapes, *tensors)
        return model


def _train(
    models: Sequence[NeuralBaseline], problems: Sequence[tuple[NDArray[np.floating], NDArray[np.int64]]]
) -> None:
    """Train one member for each model on its own table, and store the members in the models."""
    first, (n_rows, n_columns) = models[0], problems[0][0].shape
    device = resolve_device(first.device)
    seeds = np.array([model._seed() for model in models], dtype=np.int64)
    scalers = [model._scaler(table) for model, (table, _) in zip(models, problems, strict=True)]
    tables = [scaler.transform(table) for scaler, (table, _) in zip(scalers, problems, strict=True)]
    data = Data(torch.from_numpy(np.stack(tables)), torch.from_numpy(np.stack([target for _, target in problems])))
    networks = Networks.initial(first._networks(n_columns, len(first.classes_)), seeds, device)
    penalty = torch.tensor([float(getattr(model, "penalty", 0.0)) for model in models], device=device)
    start = 0
    with training_threads(device, len(models) * first.batch_size):
        for names, loss, steps in first._phases(n_rows, penalty):
            _descend(networks, names, loss, data.to(device), seeds, range(start, start + steps), first)
            start += steps
    for k, (model, scaler) in enumerate(zip(models, scalers, strict=True)):
        model.scaler_, model.networks_ = scaler, networks.member(k)


def _descend(
    networks: Networks, names: Sequence[str], loss: Loss, data: Data, seeds: NDArray[np.int64], steps: range, how: Any
) -> None:
    """Train the named networks with Adam, one batch of rows drawn with replacement per step."""
    n_rows, device = data.X.shape[1], data.X.device
    batch_size = min(how.batch_size, n_rows)
    parameters = networks.parameters.requires_grad_()
    learns = networks.is_of(names)
    optimiser = Adam(parameters, how.learning_rate, epsilon=_ADAM_EPSILON)
    table_start = (torch.arange(len(seeds), device=device) * n_rows)[:, None]

    def value_of(parameters: Tensor, statistics: Tensor, batch_keys: Tensor, draw_keys: Tensor) -> Tensor:
        batch = data.rows(integers(batch_keys, batch_size, n_rows) + table_start)
        return loss(Networks(networks.shapes, parameters, statistics), batch, draw_keys)

    if device.type == "cuda" and steps.stop - steps.start >= _STEPS_WORTH_COMPILING:
        value_of = torch.compile(value_of, dynamic=False)
    value = parameters.new_zeros(len(seeds))
    for block in range(steps.start, steps.stop, _STEP_BLOCK):
        stop = min(block + _STEP_BLOCK, steps.stop)
        batch_keys, draw_keys = (
            step_keys(seeds, stream, block, stop).to(device) for stream in (Stream.BATCH, Stream.REPLACEMENT)
        )
        for i in range(stop - block):
            value = value_of(parameters, networks.statistics, batch_keys[i], draw_keys[i])
            (gradient,) = torch.autograd.grad(value.sum(), parameters)
            optimiser.step(gradient * learns)
    parameters.requires_grad_(False)
    if not bool(torch.isfinite(value).all()):
        raise TrainingError("the loss is no longer finite; lower learning_rate, or look for extreme values in X")
