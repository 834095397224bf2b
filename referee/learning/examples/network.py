"""A small network that scores plays, with the gradients for its training, in numpy.

One hidden layer scores every slot from its features and from what the seat sees; a softmax over the scores
of a seat's slots gives the probabilities. A second layer of the same size estimates the outcome of the deal.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.learning import Encoder, Observations
from referee.learning.features import PLAY_FIELDS, Floats

UNUSED = ("played", "ruleset")
"""Fields of an observation that the network ignores: it learns only one ruleset."""

NEVER = np.float32(-1e9)
"""The score of a pass that is not legal."""


class Seen(NamedTuple):
    """What the network looks at: observations without the fields that it ignores."""

    context: Floats
    """A row for each seat."""
    plays: Floats
    """A row for each slot."""
    legal: NDArray[np.bool_]
    starts: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """By slot, the row of its seat."""
        owners: NDArray[np.int64] = np.repeat(np.arange(len(self.context)), np.diff(self.starts))
        return owners


class Target(NamedTuple):
    """What to learn from decisions."""

    slots: NDArray[np.int64]
    """The indices of the chosen slots in the array of all slots."""
    chances: Floats
    """The logarithms of the probabilities with which these were chosen."""
    outcomes: Floats
    """The outcomes of the deals."""


class Network:
    """Parameters by name."""

    def __init__(self, parameters: dict[str, Floats]) -> None:
        self.parameters = parameters

    @classmethod
    def fresh(cls, encoder: Encoder, hidden: int, random: np.random.Generator) -> "Network":
        """Return a network that has learned nothing."""
        context = int(used(encoder).sum())

        def normal(*shape: int) -> Floats:
            drawn: Floats = random.standard_normal(shape, np.float32) / np.float32(shape[0] ** 0.5)
            return drawn

        return cls(
            {
                "context": normal(context, hidden),
                "plays": normal(len(PLAY_FIELDS), hidden),
                "bias": np.zeros(hidden, np.float32),
                "score": normal(hidden) * np.float32(0.1),
                "value_context": normal(context, hidden),
                "value_bias": np.zeros(hidden, np.float32),
                "value": normal(hidden) * np.float32(0.1),
                "value_base": np.zeros(1, np.float32),
            }
        )

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Read the parameters that ``save`` wrote."""
        with np.load(path) as stored:
            return cls({name: stored[name].astype(np.float32) for name in stored.files if name != "ruleset"})

    def save(self, path: Path, ruleset: str) -> None:
        """Write the parameters that a bot needs, in half precision; those of the value are not among them."""
        arrays = {
            name: self.parameters[name].astype(np.float16) for name in ("context", "plays", "bias", "score")
        }
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, ruleset=np.array(ruleset), **arrays)

    def scores(self, seen: Seen) -> Floats:
        """Return the score of every slot."""
        scores: Floats = self._hidden(seen) @ self.parameters["score"]
        return np.where(seen.legal, scores, NEVER)

    def values(self, seen: Seen) -> Floats:
        """Return the network's estimate of the deal's outcome, by seat."""
        parameters = self.parameters
        hidden = np.maximum(seen.context @ parameters["value_context"] + parameters["value_bias"], 0)
        values: Floats = hidden @ parameters["value"] + parameters["value_base"]
        return values

    def chances(self, seen: Seen) -> Floats:
        """Return the logarithms of the probabilities of all slots."""
        return _log_softmax(self.scores(seen), seen)

    def gradients(self, seen: Seen, target: Target, *, clip: float, entropy: float) -> dict[str, Floats]:
        """Return the gradients of the loss: PPO's clipped objective, plus value error, minus entropy."""
        parameters, count = self.parameters, np.float32(len(seen.context))
        owners = seen.owners
        hidden = self._hidden(seen)
        logs = _log_softmax(hidden @ parameters["score"] + np.where(seen.legal, np.float32(0), NEVER), seen)
        probabilities = np.exp(logs)
        value_hidden = np.maximum(seen.context @ parameters["value_context"] + parameters["value_bias"], 0)
        error = value_hidden @ parameters["value"] + parameters["value_base"] - target.outcomes
        advantage = -error / (np.std(error) + np.float32(1e-6))
        ratio = np.exp(logs[target.slots] - target.chances)
        clipped = np.where(advantage > 0, ratio > 1 + clip, ratio < 1 - clip)
        weight = np.where(clipped, np.float32(0), ratio * advantage) / count
        # The loss falls as the chosen slots get likelier; the entropy keeps the other slots likely.
        slope = probabilities * weight[owners]
        slope[target.slots] -= weight
        spread = np.add.reduceat(probabilities * logs, seen.starts[:-1])
        slope += np.float32(entropy) / count * probabilities * (logs - spread[owners])
        by_name: dict[str, Any] = {"score": hidden.T @ slope}
        back = np.outer(slope, parameters["score"]) * (hidden > 0)
        by_name["plays"] = seen.plays.T @ back
        by_seat = np.add.reduceat(back, seen.starts[:-1], axis=0)
        by_name["context"], by_name["bias"] = seen.context.T @ by_seat, by_seat.sum(axis=0)
        error = error / count
        by_name["value"], by_name["value_base"] = value_hidden.T @ error, error.sum(keepdims=True)
        value_back = np.outer(error, parameters["value"]) * (value_hidden > 0)
        by_name["value_context"] = seen.context.T @ value_back
        by_name["value_bias"] = value_back.sum(axis=0)
        return by_name

    def _hidden(self, seen: Seen) -> Floats:
        parameters = self.parameters
        context = seen.context @ parameters["context"] + parameters["bias"]
        hidden: Floats = np.maximum(seen.plays @ parameters["plays"] + context[seen.owners], 0)
        return hidden


class Adam:
    """Steps along gradients, each parameter at its own pace."""

    def __init__(self, parameters: dict[str, Floats]) -> None:
        self._parameters = parameters
        self._mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._square = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._steps = 0

    def step(self, gradients: dict[str, Floats], rate: float) -> None:
        """Change the parameters."""
        self._steps += 1
        scale = rate * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        for name, gradient in gradients.items():
            mean, square = self._mean[name], self._square[name]
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.001) * (gradient * gradient - square)
            self._parameters[name] -= np.float32(scale) * mean / (np.sqrt(square) + np.float32(1e-8))


def used(encoder: Encoder) -> NDArray[np.bool_]:
    """Return which numbers of an observation the network looks at."""
    return np.concatenate([np.full(size, name not in UNUSED) for name, size in encoder.fields.items()])


def seen_by(encoder: Encoder, observations: Observations) -> Seen:
    """Return the part of observations that the network looks at."""
    return Seen(observations.observation[:, used(encoder)], *observations[1:])


def _log_softmax(scores: Floats, seen: Seen) -> Floats:
    owners, starts = seen.owners, seen.starts[:-1]
    shifted = scores - np.maximum.reduceat(scores, starts)[owners]
    logs: Floats = shifted - np.log(np.add.reduceat(np.exp(shifted), starts))[owners]
    return logs
