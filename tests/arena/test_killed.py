"""Real processes, killed without a warning in the middle of a tournament."""

from collections.abc import Sequence
from pathlib import Path

from arena.services.records import export_records, verify_deals
from arena.services.results import StandingLine, leaderboard, standings
from tests.arena.running import running_arena

BOTS = {
    "ann/greedy": "greedy.py",
    "bob/keeper": "keeper.py",
    "cy/pairs-first": "pairs_first.py",
    "dee/lowest": "lowest.py",
    "eve/greedy": "greedy.py",
}
CUP = {
    "format": "swiss",
    "rounds": 3,
    "ruleset": "chinese",
    "sessions": 12,
    "deals": 20,
    "decision_ms": 20_000,
    "entrants": list(BOTS),
}
SEED = bytes(range(32))


def play(folder: Path, kill: Sequence[tuple[int, str]]) -> tuple[list[StandingLine], list[str], list[object]]:
    """Plays the cup; kills each named process once so many sessions are stored.

    Gives standings, deal records and ratings.
    """
    with running_arena(folder, BOTS) as arena:
        arena.start_tournament("cup", SEED, **CUP)
        for sessions, name in kill:
            arena.wait("cup", lambda status, least=sessions: status.sessions_done >= least)  # type: ignore[misc]
            arena.kill(name)
        status = arena.wait("cup", lambda status: status.ended)
        assert status.state == "finished", status
        assert status.sessions_done == status.sessions_total == 36
        assert verify_deals(arena.storage, "cup").problem is None
        ratings: list[object] = [(line.name, line.rating) for line in leaderboard(arena.storage)]
        return standings(arena.storage, "cup"), list(export_records(arena.storage, "cup")), ratings


def test_tournament_when_worker_referee_and_beat_are_killed_then_the_results_are_those_of_a_calm_run(
    tmp_path: Path,
) -> None:
    calm = play(tmp_path / "calm", [])
    killed = play(tmp_path / "killed", [(2, "worker"), (14, "referee"), (15, "beat")])
    assert killed == calm
