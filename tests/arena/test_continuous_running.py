"""A continuous tournament of real processes: bots come and go, the worker is killed, a command ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from sqlmodel import col, func, select

from arena.bots import versions
from arena.cli.local import arena_command
from arena.host.processes import Supervisor
from arena.queries.leaderboards import leaderboard
from arena.store.models import (
    BotLogEntry,
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Round,
    Seat,
    Session,
    utc_now,
)
from referee.errors import RefereeUnavailable
from referee.matches.journal import EntryKind
from referee.net.client import referee_status
from tests.arena.fakes import ROOT
from tests.arena.running import SAMPLE_BOTS, RunningArena, running_arena
from tests.waiting import DEADLINE, wait_for

SAMPLES = ("greedy.py", "keeper.py", "pairs_first.py", "lowest.py")
BOTS = {f"owner-{number}/bot": SAMPLES[number % len(SAMPLES)] for number in range(9)}
SESSIONS = 4
QUEUE = {
    "format": "continuous",
    "ruleset": "chinese",
    "sessions": SESSIONS,
    "deals": 2,
    "options": {"gather": 4},
    "decision_ms": 120_000,  # enough time for a bot that left in the middle of a match to come back
    "join_seconds": 300,
    "entrants": list(BOTS),
}


class Queue:
    """The tournament, its bots and what the tests do with them."""

    def __init__(self, arena: RunningArena, bots_: Supervisor) -> None:
        self.arena = arena
        self._bots = bots_
        self._tokens = {
            name: versions.register_version(arena.storage, ROOT, name, utc_now()).token for name in BOTS
        }
        for name in BOTS:
            self.connect(name)
        wait_for(self._all_connected)
        self._signal(signal.SIGSTOP, BOTS)  # nothing is played until the test says so
        arena.start_tournament("queue", bytes(range(32)), **QUEUE)

    def connect(self, name: str) -> None:
        variables = {"ARENA_TOKEN": self._tokens[name], "ARENA_REFEREE": self.arena.settings.listen}
        command = [sys.executable, str(SAMPLE_BOTS / BOTS[name])]
        # Told to stop with SIGTERM, it would finish its sessions first.
        self._bots.start(_process(name), command, variables, signal.SIGKILL)

    def leave_in_mid_batch(self) -> str:
        """Kill a bot whose match then waits for it, while the other table of its batch plays on."""
        self.arena.wait("queue", lambda status: status.matches_running > 1)
        first = select(func.min(Match.id)).where(Match.state == MatchState.RUNNING).scalar_subquery()
        names = select(BotVersion.name).join(Entrant).join(Seat)
        with self.arena.storage.read() as tx:
            leaver = tx.exec(names.where(Seat.match_id == first, Seat.position == 0)).one().partition("@")[0]
        self._bots.stop(_process(leaver))
        self._signal(signal.SIGCONT, BOTS.keys() - {leaver})
        return leaver

    def _all_connected(self) -> bool:
        settings = self.arena.settings
        try:
            return referee_status(settings.listen, settings.worker_secret()).streams == len(BOTS)
        except RefereeUnavailable:
            return False

    def _signal(self, number: signal.Signals, names: Iterable[str]) -> None:
        for name in names:
            pid = self._bots.pid(_process(name))
            assert pid is not None
            os.kill(pid, number)

    def batch(self) -> int:
        """Return the number of the latest batch."""
        with self.arena.storage.read() as tx:
            return tx.exec(select(func.max(Round.number))).one() or 0

    def reach(self, batch: int) -> None:
        """Wait until this many batches have been paired."""
        self.arena.wait("queue", lambda _: self.batch() >= batch)

    def reach_done(self, matches: int) -> None:
        """Wait until this many matches are done."""
        self.arena.wait("queue", lambda status: status.matches_done >= matches)

    def batches_of(self, name: str) -> list[int]:
        """Return the batches in which a bot was seated."""
        numbers = (
            select(Round.number)
            .join(Match, col(Match.round_id) == Round.id)
            .join(Seat, col(Seat.match_id) == Match.id)
            .join(Entrant, col(Entrant.id) == Seat.entrant_id)
            .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
            .where(BotVersion.name == f"{name}@1")
        )
        with self.arena.storage.read() as tx:
            return list(tx.exec(numbers.order_by(col(Round.number))))

    def command(self, *arguments: str) -> str:
        """Run ``arena`` as a user would; return what it prints."""
        ran = subprocess.run(
            arena_command(*arguments),
            env=os.environ | self.arena.settings.environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return ran.stdout


def _process(name: str) -> str:
    return name.replace("/", "-")


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with running_arena(tmp_path / "arena", {}) as arena, Supervisor(tmp_path / "bots") as supervisor:
        yield Queue(arena, supervisor)


def test_continuous_when_bots_come_and_go_and_the_worker_is_killed_then_its_export_is_right(
    queue: Queue, tmp_path: Path
) -> None:
    leaver = queue.leave_in_mid_batch()  # its batch finishes long after others that open later
    left = queue.batch()  # the next batch may already be on its way, with the bot in it
    queue.reach(left + 2)
    queue.reach_done(6)
    away = queue.batch()
    assert [batch for batch in queue.batches_of(leaver) if left + 2 <= batch <= away] == []

    queue.arena.wait("queue", lambda status: status.matches_running > 0)
    queue.arena.kill("worker")
    queue.connect(leaver)
    queue.arena.wait("queue", lambda _: max(queue.batches_of(leaver)) > away)
    queue.reach_done(9)

    queue.command("tournament", "stop", "queue")
    status = queue.arena.wait("queue", lambda status: status.ended)
    assert (status.state, status.problem) == ("finished", None)
    assert status.matches_done == status.matches_total
    assert status.sessions_done == status.sessions_total == status.matches_total * SESSIONS

    with queue.arena.storage.read() as tx:
        sessions = tx.exec(select(func.count()).select_from(Session)).one()
        faults = tx.exec(select(BotLogEntry.text).where(BotLogEntry.kind == EntryKind.FAULT)).all()
    assert sessions == status.sessions_total
    assert faults == []
    assert {line.bot for line in leaderboard(queue.arena.storage).leaderboard} == {
        f"{name}@1" for name in BOTS
    }

    export = tmp_path / "queue.jsonl"
    queue.command("export", "queue", "--output", str(export))
    assert f"{export}: ok: queue, finished: {status.round} rounds" in queue.command("verify", str(export))
