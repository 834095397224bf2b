"""A real Celery worker or beat, with a referee that is a function."""

import time
from collections.abc import Generator

from arena.host import logs
from arena.host.settings import load_settings
from arena.play.messages import run_beat
from arena.play.tasks import run_worker
from referee.matches.match import MatchSpec, Progress, SessionResult
from tests.arena.fakes import play_at_once, session_result

held: set[str] = set()
"""Matches that were told to begin no further session."""


def play_slowly(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Stand in for a slow referee that plays one session after another."""
    for place, session in enumerate(spec.sessions):
        if spec.match_id in held:
            yield Progress(0, 0, (), sessions_left=tuple(left.number for left in spec.sessions[place:]))
            return
        for _ in range(5):
            time.sleep(0.1)
            yield Progress(0, len(spec.sessions), ())
        yield session_result(spec, session)


def run(kind: str) -> None:
    """Run the process until it is told to stop; see ``fake_worker`` for its kinds."""
    settings = load_settings()
    logs.set_up(settings, kind)
    if kind == "beat":
        run_beat(settings)
    else:
        run_worker(settings, play_slowly if kind == "slow-worker" else play_at_once, held.add)
