"""A thousand kills: storms over an arena of real processes, one after another, until that many have died.

``python -m benchmarks.kills`` plays tournaments of 80 sessions, each with two workers, two referees, the beat
and eight bots, and kills each of these twice, at random moments. After each storm the tournament must be the
same as in a calm run with the same attempts, its export must be right, and no bot may have a fault; otherwise
the command ends and shows what differs. ``--minutes`` ends it earlier, after the storm that is under way at
that time.
"""

import argparse
import contextlib
import io
import secrets
import tempfile
import time
from pathlib import Path
from random import Random

from tests.arena.calm import attempts_of
from tests.arena.storm import ARENA, BOT_NAMES, SESSIONS, at_random, cluster, dealt_again, survive


def storm(seed: int) -> tuple[int, int]:
    """Survive one storm; return the numbers of processes killed and of sessions with deals dealt again."""
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder) / "storm") as running:
        emptied = at_random(random, "the broker is emptied", running.empty_broker)
        with contextlib.redirect_stdout(io.StringIO()):
            survive(running, random, Path(folder), [*ARENA, *BOT_NAMES] * 2, [emptied])
        return running.killed, dealt_again(attempts_of(running.storage))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    options = parser.parse_args()
    killed = storms = again = 0
    end = time.monotonic() + 60 * options.minutes
    while killed < options.kills and time.monotonic() < end:
        seed = secrets.randbits(32)
        print(f"storm {storms + 1}, seed {seed}: ", end="", flush=True)
        died, dealt = storm(seed)
        killed, storms, again = killed + died, storms + 1, again + dealt
        print(f"{died} killed, {dealt} of {SESSIONS} sessions dealt again, all else as in a calm run")
    print(f"{killed} kills in {storms} storms, {again} sessions dealt again, nothing lost or counted twice")


if __name__ == "__main__":
    main()
