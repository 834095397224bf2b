"""A bot that has learned: it plays by the parameters in the .npz file of the same name next to it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from referee.bot import Play, Turn, main
from referee.learning import Encoder
from referee.learning.examples.network import Network, seen_by
from referee.learning.examples.playing import best

PARAMETERS = Path(__file__).with_suffix(".npz")

network = Network.load(PARAMETERS)
encoder = Encoder(str(np.load(PARAMETERS)["ruleset"]))


class Learned:
    """Takes the actions that the network scores highest, in all sessions at once."""

    def choose_many(self, turns: Sequence[Turn]) -> list[Play | None]:
        """Answer several turns."""
        seen = seen_by(encoder, encoder.of_turns(turns))
        slots = (best(network, seen) - seen.starts[:-1]).tolist()
        return [turn.legal[slot - 1] if slot else None for turn, slot in zip(turns, slots, strict=True)]

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        return self.choose_many([turn])[0]

    exchange = beat_own = bomb = choose


if __name__ == "__main__":
    main(Learned)
