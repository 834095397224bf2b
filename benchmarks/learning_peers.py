"""Random play in other projects' learning environments. Runs alone, under a Python that has them installed.

``python benchmarks/learning_peers.py NAME SECONDS`` prints one JSON object: steps, CPU seconds, version.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

BATCH = 64


def rlcard_env() -> Callable[[], int]:
    """Run RLCard's doudizhu, which encodes what each seat sees, and has no batches."""
    import rlcard  # type: ignore[import-not-found]

    env: Any = rlcard.make("doudizhu")

    def play() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(random.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return play


def spiel() -> Callable[[], int]:
    """Run OpenSpiel's dou_dizhu, with what the seat to act observes as a tensor, and its legal actions."""
    import numpy as np
    import pyspiel  # type: ignore[import-not-found]

    game = pyspiel.load_game("dou_dizhu")

    def play() -> int:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                np.asarray(state.observation_tensor(), np.float32)
                steps += 1
            state.apply_action(random.choice(legal))
        return steps

    return play


def spiel_batch() -> Callable[[], int]:
    """Run OpenSpiel's batches: 64 environments of its Python interface in lockstep."""
    from open_spiel.python import rl_environment, vector_env  # type: ignore[import-not-found]
    from open_spiel.python.rl_agent import StepOutput  # type: ignore[import-not-found]

    environments = [rl_environment.Environment("dou_dizhu") for _ in range(BATCH)]
    vector: Any = vector_env.SyncVectorEnv(environments)
    latest = vector.reset()

    def play() -> int:
        nonlocal latest
        actions = []
        for step in latest:
            seen = step.observations
            legal = seen["legal_actions"][seen["current_player"]]
            actions.append(StepOutput(action=random.choice(legal), probs=None))
        latest, _, _, _ = vector.step(actions, reset_if_done=True)
        return BATCH

    return play


CELLS = {
    "rlcard": (rlcard_env, "rlcard"),
    "spiel": (spiel, "open_spiel"),
    "spiel batch 64": (spiel_batch, "open_spiel"),
}


def measure(play: Callable[[], int], seconds: float) -> dict[str, float]:
    """Play for the given seconds of CPU time, after a warm-up of half as long."""
    began = time.process_time()
    while time.process_time() < began + seconds / 2:
        play()
    steps, began = 0, time.process_time()
    while (now := time.process_time()) < began + seconds:
        steps += play()
    return {"steps": steps, "seconds": now - began}


if __name__ == "__main__":
    made, package = CELLS[sys.argv[1]]
    found = measure(made(), float(sys.argv[2]))
    print(json.dumps(found | {"version": f"{package} {version(package)}"}))
