"""A continuous tournament of real processes: bots come and go, the worker is killed, a command ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import col, func, select

from arena.bots import versions
from arena.cli.local import arena_command
from arena.models import (
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
from arena.processes import Supervisor
from arena.queries.leaderboards import leaderboard
from referee.matches.journal import EntryKind
from tests.arena.fakes import ROOT
from tests.arena.running import SAMPLE_BOTS, RunningArena, running_arena
from tests.arena.waiting import DEADLINE

SAMPLES = ("greedy.py", "keeper.py", "pairs_first.py", "lowest.py")
BOTS = {f"owner-{number}/bot": SAMPLES[number % len(SAMPLES)] for number in range(9)}
SESSIONS = 10
QUEUE = {
    "format": "continuous",
    "ruleset": "chinese",
    "sessions": SESSIONS,
    "deals": 2,
    "options": {"gather": 4},
    "decision_ms": 120_000,  # a bot that left in the middle of a match is back in time
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
        arena.start_tournament("queue", bytes(range(32)), **QUEUE)

    def connect(self, name: str) -> None:
        variables = {"ARENA_TOKEN": self._tokens[name], "ARENA_REFEREE": self.arena.settings.listen}
        command = [sys.executable, str(SAMPLE_BOTS / BOTS[name])]
        # Told to stop with SIGTERM, it would finish its sessions first.
        self._bots.start(name.replace("/", "-"), command, variables, signal.SIGKILL)

    def leave_in_mid_batch(self) -> str:
        """Kill a bot whose match then waits for it, while another table of its batch plays on."""
        left: list[str] = []

        def leave() -> bool:
            name = self._in_mid_batch()
            if name is None:
                return False
            process = name.replace("/", "-")
            pid = self._bots.pid(process)
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)  # quicker than an end, and can be taken back
            if self._in_mid_batch() == name:
                self._bots.stop(process)
                left.append(name)
                return True
            os.kill(pid, signal.SIGCONT)  # its match was finished meanwhile
            return False

        self.arena.wait("queue", lambda _: leave())
        return left[0]

    def _in_mid_batch(self) -> str | None:
        """Somebody at the first of several tables of a batch that are played now."""
        running = (
            select(Match.round_id, func.min(Match.id))
            .where(Match.state == MatchState.RUNNING)
            .group_by(col(Match.round_id))
            .having(func.count() > 1)
        )
        with self.arena.storage.read() as tx:
            first = tx.exec(running).first()
            if first is None:
                return None
            names = select(BotVersion.name).join(Entrant).join(Seat)
            return tx.exec(names.where(Seat.match_id == first[1], Seat.position == 0)).one().partition("@")[0]

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
        """Run ``arena`` as people do; return what it prints."""
        ran = subprocess.run(
            arena_command(*arguments),
            env=os.environ | self.arena.settings.environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return ran.stdout


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with running_arena(tmp_path / "arena", {}) as arena, Supervisor(tmp_path / "bots") as supervisor:
        yield Queue(arena, supervisor)


def test_continuous_when_bots_come_and_go_and_the_worker_is_killed_then_its_export_is_right(
    queue: Queue, tmp_path: Path
) -> None:
    queue.reach_done(2)

    leaver = queue.leave_in_mid_batch()  # a batch that is finished long after others that open later
    left = queue.batch()  # the next one may be on its way already, with the bot in it
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
    assert {line.name for line in leaderboard(queue.arena.storage).lines} == {f"{name}@1" for name in BOTS}

    export = tmp_path / "queue.jsonl"
    queue.command("export", "queue", "--output", str(export))
    assert f"{export}: ok: queue, finished: {status.round} rounds" in queue.command("verify", str(export))
