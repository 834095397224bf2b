"""Random play of other engines, for comparison. Runs alone, under a Python that has them installed.

``python benchmarks/peers.py NAME SECONDS`` prints one JSON object: decisions, deals, seconds. Every cell
lists all legal actions at every decision and takes one at random.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

draw = random.Random(1).random


def spiel_example() -> Callable[[], int]:
    """Run OpenSpiel's dou_dizhu from Python, with chance drawn uniformly from ``chance_outcomes``."""
    import pyspiel  # type: ignore[import-not-found]

    dou_dizhu = pyspiel.load_game("dou_dizhu")

    def deal() -> int:
        state = dou_dizhu.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(random.choice(state.chance_outcomes())[0])
            else:
                state.apply_action(random.choice(state.legal_actions()))
                decisions += 1
        return decisions

    return deal


def spiel_lean() -> Callable[[], int]:
    """Run OpenSpiel's dou_dizhu in the leanest loop known, with chance drawn uniformly from legal actions."""
    import pyspiel

    dou_dizhu = pyspiel.load_game("dou_dizhu")

    def deal() -> int:
        state = dou_dizhu.new_initial_state()
        while state.is_chance_node():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
        decisions = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return deal


def rlcard_env() -> Callable[[], int]:
    """Run RLCard's doudizhu as its users do: with the environment, which also encodes states for learning."""
    import rlcard  # type: ignore[import-not-found]

    env: Any = rlcard.make("doudizhu")

    def deal() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return deal


def rlcard_rules() -> Callable[[], int]:
    """Run the rules of RLCard's doudizhu, without the environment around them."""
    from rlcard.games.doudizhu import Game  # type: ignore[import-not-found]

    game: Any = Game()

    def deal() -> int:
        state, _ = game.init_game()
        decisions = 0
        while not game.is_over():
            legal = state["actions"]
            state, _ = game.step(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return deal


CELLS = {
    "spiel": spiel_example,
    "spiel-lean": spiel_lean,
    "rlcard": rlcard_env,
    "rlcard-rules": rlcard_rules,
}


def measure(deal: Callable[[], int], seconds: float) -> dict[str, float]:
    """Deal for the given time, after a warm-up of a quarter of it."""
    deals = decisions = 0
    warm = time.perf_counter() + seconds / 4
    while time.perf_counter() < warm:
        deal()
    start = time.perf_counter()
    while (now := time.perf_counter()) < start + seconds:
        decisions += deal()
        deals += 1
    return {"decisions": decisions, "deals": deals, "seconds": now - start}


if __name__ == "__main__":
    print(json.dumps(measure(CELLS[sys.argv[1]](), float(sys.argv[2]))))
