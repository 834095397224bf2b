"""A real Celery worker or beat, as a program, with a referee that is a function.

``python -m tests.arena.fake_worker worker|slow-worker|beat``, settings by environment. The slow worker's
referee gives a sign of life every 0.1 s and finishes a session at every fifth.
"""

import sys
import time
from collections.abc import Generator

from arena import logs
from arena.messages import run_beat
from arena.settings import load_settings
from arena.tasks import run_worker
from referee.matches.match import MatchSpec, Progress, SessionResult
from tests.arena.fakes import play_at_once, session_result

held: set[str] = set()
"""Matches that were told to begin no further session."""


def play_slowly(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Stand in for a referee that takes its time, with one session after the other."""
    for place, session in enumerate(spec.sessions):
        if spec.match_id in held:
            yield Progress(0, 0, (), sessions_left=tuple(left.number for left in spec.sessions[place:]))
            return
        for _ in range(5):
            time.sleep(0.1)
            yield Progress(0, len(spec.sessions), ())
        yield session_result(spec, session)


if __name__ == "__main__":
    kind = sys.argv[1]
    settings = load_settings()
    logs.set_up(settings, kind)
    if kind == "beat":
        run_beat(settings)
    else:
        run_worker(settings, play_slowly if kind == "slow-worker" else play_at_once, held.add)
