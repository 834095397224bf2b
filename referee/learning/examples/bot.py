"""A bot that has learned: it plays by the parameters in the file beside it, which has its name."""

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
    """Takes the action that the network scores highest, whatever is asked."""

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        seen = seen_by(encoder, encoder.of_turns([turn]))
        slot = int(best(network, seen)[0])
        return turn.legal[slot - 1] if slot else None

    exchange = beat_own = bomb = choose


if __name__ == "__main__":
    main(Learned)
