"""Seasons of honest play in which everything happens at random, and whose exports must be found right.

A season is an arena with a few tournaments under one ruleset, which overlap and share their bots; its exports
are verified together, with the logs of all bots. ``python -m tests.arena.honest [COUNT [FIRST]]`` plays many.
"""

import json
import logging
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from sqlmodel import select

from arena.core.parts import RESTORED_ABOVE
from arena.errors import ArenaError
from arena.host.settings import load_settings
from arena.play.matches import playing
from arena.play.rounds.planning import cancel
from arena.queries.tournaments import list_tournaments
from arena.results.luck.references import weigh_due
from arena.results.ratings.rebuild import rebuild
from arena.running.backups import deal_anew
from arena.store.models import OpenDeal, TournamentEvent
from arena.store.storage import open_storage
from arena.tournaments import corrections, creation, entry, lifecycle
from arena.tournaments.corrections import NewCorrection
from arena.tournaments.referees import nobody_asked
from arena.trust.keys import register_key
from arena.trust.verify import check_export, check_links, compare, sessions_in
from arena.trust.verify.botlogs import BotLog, LogLine
from referee.bot.evidence import Entry
from referee.errors import MatchRefused, NotBegun
from referee.matches.match import MatchSpec, Update
from referee.ruleset import Ruleset
from referee.signing import SigningKey
from tests.arena.databases import open_new
from tests.arena.exported import lines_of
from tests.arena.fakes import ROOT, Clock
from tests.arena.hall import Hall, Weather
from tests.arena.world import LEASE, World
from tests.referee.key import KEY
from tests.referee.strategies import rulesets

NAMES = ("first", "second", "third")
FORMATS = ("swiss", "round-robin", "gauntlet", "knockout", "continuous")

AWAY = ("this log has no other in place of it", "of which this log has no result")
"""What the log of a bot says that was away when something was played again: only its author knows why."""
MISSING = "is missing from the export"

WEIGHED_SECONDS = 0.5
"""How long a worker has to compute what cards were worth in a season."""


class WorkerKilled(BaseException):
    """A worker ends where it is."""


class Season:
    """An arena with a few tournaments."""

    def __init__(self, folder: Path, ruleset: Ruleset, random: Random) -> None:
        self.random = random
        self._settings = load_settings({"data": folder})
        self._backup = folder / "backup.db"
        self._file = self._settings.data / "arena.db"
        self._open = ExitStack()
        self.world = World(self._open.enter_context(open_new(self._settings)), Clock())
        self.seen: Counter[str] = Counter()
        """What has happened."""
        self._ruleset = ruleset
        self._logs: dict[str, list[LogLine]] = {}
        self._away: set[str] = set()
        self._cut: set[str] = set()
        """The matches that were played when their tournaments were cancelled."""
        self._undone: dict[str, set[str]] = {}
        """For each tournament that went on from a backup, the bots that have not played in it since."""
        self._halls: dict[str, Hall] = {}
        """The referees of the matches that are being played."""
        self._playing: list[int] = []
        """The ids of these matches."""
        trouble, absence, failure = random.choice((0, 0.01, 0.1)), random.choice((0, 0, 0.2)), 0.5
        starved = random.choice((0, 0.1))
        self._weather = Weather(trouble, absence, random.choice((0, failure)), starved)
        count = ruleset.players * random.randint(1, 3) + random.randint(0, 2)
        self._bots = self.world.register(count, owners=random.choice((count, ruleset.players + 1)))
        self._to_come = list(NAMES)
        self.tournaments: dict[str, int] = {}
        """The ids of those that were started."""

    # What happens

    def play(self) -> None:
        """Play until all tournaments have ended."""
        world, random = self.world, self.random
        for _ in range(1000):
            if self._to_come and (not self.tournaments or random.random() < 0.3):
                self._create(self._to_come.pop(0))
            for tournament in random.sample(sorted(self.tournaments.values()), len(self.tournaments)):
                if random.random() < 0.7:
                    world.advance(tournament)
            waiting, world.messages = random.sample(world.messages, len(world.messages)), []
            for match in waiting[: random.randint(1, 4)]:
                self._play(match)
            self._go_on()
            self._restore()
            if not self._to_come and all(world.status(name).ended for name in self.tournaments):
                break
            world.clock.move(random.choice((0, 1, 30, 90)))
        else:
            raise AssertionError([world.status(name) for name in self.tournaments])
        for name in self.tournaments:
            self._judge(name)

    def _create(self, name: str) -> None:
        """Create a tournament, and start it, unless its terms do not suit the ruleset."""
        storage, now = self.world.storage, self.world.clock()
        with suppress(ArenaError):
            spec = self.world.spec(**self._terms(name))
            creation.create(storage, ROOT, spec, now, self.random.randbytes(32))
            lifecycle.lock(storage, ROOT, name, now)
            value = None if spec.beacon is None else "7f3a"
            self.tournaments[name] = lifecycle.start(storage, ROOT, name, now, nobody_asked, value).id
            self.seen.update([spec.format, *(["duplicate"] if spec.duplicate else [])])

    def _terms(self, name: str) -> dict[str, Any]:
        random = self.random
        entrants = random.sample(self._bots, random.randint(self._ruleset.players, len(self._bots)))
        format, duplicate = random.choice(FORMATS), random.random() < 0.25
        rated, sessions = random.random() < 0.8, random.randint(1, 3)
        deals = None if duplicate else random.randint(1, 3)
        whole = sessions * (deals or 1)
        has_rounds = format in ("swiss", "continuous") or (format != "knockout" and random.random() < 0.5)
        return {
            "name": name,
            "format": format,
            "ruleset": self._ruleset.to_object(),
            "entrants": entrants,
            "rounds": random.randint(1, 3) if has_rounds else None,
            "sessions": sessions,
            "deals": deals,
            "duplicate": duplicate,
            "rated": rated,
            "allow_same_owner": random.random() < 0.5,
            "confirm": random.random() < 0.3,
            "beacon": random.choice((None, None, "drand round 4829341")),
            "join_seconds": 10,
            "faults": random.choice((3, 4, 5) if rated else (1, 2, 4)),
            "on_forfeit": random.choice(("default_action", "stand_in", "end_session")),
            "credit_ms": random.choice((100, 200) if rated else (0, 100)),
            "ask_forced": random.random() < 0.3,
            "decision_ms": random.choice((1000, 1000, 100)),
            "match_seconds": random.choice(
                (0, *(2 * (10 + 2 * self._ruleset.players * whole if rated else 11,)))
            ),
            "bank_ms": (bank := random.choice((0, 0, 500 * (deals or 1)) if rated else (0, 0, 150, 2000))),
            "increment_ms": (50 if rated else random.choice((0, 50))) if bank else 0,
        }

    def _play(self, match: int) -> None:
        world = self.world
        self._playing.append(match)
        with suppress(WorkerKilled):
            playing.play(world.storage, match, self._run, clock=world.clock, lease=LEASE, hold=self._hold)
        self._playing.pop()
        if self.random.random() < 0.1:
            self._damage(match)

    def _run(self, _route: int, spec: MatchSpec) -> Generator[Update]:
        chance = self.random.random() / self._weather.failure if self._weather.failure else 1
        if chance < 0.1:
            raise NotBegun("no referee answers")
        if chance < 0.15:
            raise MatchRefused("a field that the referee does not know")
        hall = Hall(spec, self.random, self._weather, self._keep, self._away, self._decide)
        self._halls[spec.match_id] = hall
        playing_ = hall.play()
        try:
            for update in playing_:
                yield update
                if chance < 1 and self.random.random() < 0.002:
                    self.seen["worker killed"] += 1
                    raise WorkerKilled
        finally:
            playing_.close()
            if self._halls.get(spec.match_id) is hall:
                del self._halls[spec.match_id]

    def _hold(self, match_id: str) -> None:
        if match_id in self._halls:
            self._halls[match_id].hold()

    def _keep(self, entry: Entry) -> None:
        """Add to a bot's log, as it is read from its file."""
        line = LogLine.model_validate_json(json.dumps(entry.line))
        if line.attempt > RESTORED_ABOVE:
            self._undone[line.tournament].discard(entry.bot)
        self._logs.setdefault(entry.bot, []).append(line)

    def _damage(self, match: int) -> None:
        """Make a finished deal of an open session unreadable."""
        with self.world.storage.write() as tx:
            kept = tx.exec(select(OpenDeal).where(OpenDeal.match_id == match)).all()
            if kept:
                self.random.choice(kept).record = "{"

    def _decide(self) -> None:
        """Let an organiser or an author do something, seldom."""
        if self.random.random() < 0.04:
            name, bot = self.random.choice(sorted(self.tournaments)), self.random.choice(self._bots)
            with suppress(ArenaError):
                self._change(name, bot)

    def _change(self, name: str, bot: str) -> None:
        storage, now, random = self.world.storage, self.world.clock(), self.random
        change = random.choice(("pause", "withdraw", "enter", "enter", "key", "end", "backup", "lapse"))
        if change == "pause":
            lifecycle.pause(storage, ROOT, name, now)
        elif change == "withdraw":
            entry.withdraw(storage, ROOT, name, bot, now)
        elif change == "enter":
            entry.enter(storage, ROOT, name, bot, now, nobody_asked)
        elif change == "key" and random.random() < 0.1:
            register_key(storage, f"referee-{random.random()}", SigningKey.draw().public, now)
        elif change == "lapse" and self._playing and random.random() < 0.2:
            self.seen["lapse"] += 1
            self.world.clock.move(LEASE.total_seconds() + 1)
            self._play(self._playing[-1])
        elif change == "backup":
            with closing(sqlite3.connect(self._file)) as file, closing(sqlite3.connect(self._backup)) as copy:
                file.backup(copy)
        elif change == "end" and random.random() < 0.2:
            lifecycle.stop(storage, ROOT, name, now)
        elif change == "end" and random.random() < 0.2:
            cancel(storage, ROOT, name, now)
            self._cut |= {match for match in self._halls if match.startswith(f"{name}/")}

    def _restore(self) -> None:
        """Go on from the backup if there is one, once in a while."""
        if not self._backup.exists() or self.random.random() > 0.1:
            return
        self.close()
        for file in self._settings.data.glob("arena.db*"):
            file.unlink()
        self._backup.rename(self._file)
        storage = self.world.storage = self._open.enter_context(open_storage(self._settings))
        self.world.messages = []
        for name in deal_anew(storage, ROOT, self.world.clock()):
            self._undone[name] = set(self._bots)
        left = {status.tournament for status in list_tournaments(storage).tournaments}
        self.tournaments = {name: id_ for name, id_ in self.tournaments.items() if name in left}
        for bot, lines in self._logs.items():
            self._logs[bot] = [line for line in lines if line.tournament in left]

    def _go_on(self) -> None:
        """Let tournaments go on that are paused, or that a referee has refused."""
        storage, now = self.world.storage, self.world.clock()
        for name in self.tournaments:
            with suppress(ArenaError):
                lifecycle.resume(storage, ROOT, name, now)
            with suppress(ArenaError):
                lifecycle.start(storage, ROOT, name, now, nobody_asked)
            if self.world.status(name).format == "continuous" and self.random.random() < 0.1:
                with suppress(ArenaError):
                    lifecycle.stop(storage, ROOT, name, now)

    def _judge(self, name: str) -> None:
        """Correct and confirm the results, or not."""
        storage, now, random = self.world.storage, self.world.clock(), self.random
        bot, points = random.choice(self._bots), random.choice((-3, 5))
        wanted = [
            NewCorrection(bot, "disqualified", "a reason"),
            NewCorrection(bot, "reinstated", "a reason"),
            NewCorrection(random.choice(self._bots), "points", "a reason", round=1, table=1, points=points),
        ]
        for one in wanted[: random.randint(0, 3)]:
            with suppress(ArenaError):
                corrections.correct(storage, ROOT, name, one, now, KEY)
        with suppress(ArenaError):
            corrections.confirm(storage, ROOT, name, now, KEY)

    def close(self) -> None:
        """Close the arena's database."""
        self._open.close()

    # What is exported

    def problems(self) -> list[str]:
        """Return what ``arena verify`` says against the exports, given the logs of all bots."""
        logs = [log for bot, lines in self._logs.items() for log in self._files(bot, lines)]
        wanted = sessions_in(logs)
        weigh_due(self.world.storage, self.world.clock, time.monotonic, seconds=WEIGHED_SECONDS)
        exports = {name: lines_of(self.world, name) for name in self.tournaments}
        reports = [
            check_export(map(str.encode, lines), session_names=wanted, references=True)
            for lines in exports.values()
        ]
        self.seen["weighed"] += sum(report.weighed for report in reports)
        found = [f"{report.tournament}: {report.problem}" for report in reports if report.problem]
        found += filter(None, [rebuild(self.world.storage).problem])
        found += filter(None, [check_links(reports)])
        for log in logs:
            told = compare(log, reports, logs).problems
            found += [f"{log.name}: {one}" for one in told if not self._is_known(log.name, one)]
        return found

    def _files(self, bot: str, lines: Sequence[LogLine]) -> list[BotLog]:
        """Return a bot's log, in two files if the first was put away when it was full."""
        numbered = list(enumerate(lines, start=1))
        at = self.random.choice((0, self.random.randint(0, len(lines))))
        return [BotLog(bot, dict(part)) for part in (numbered[:at], numbered[at:]) if part]

    def _is_known(self, bot: str, problem: str) -> bool:
        """Return whether this difference is one that docs/formats.md says honest play can make."""
        session = problem.split()[3].removesuffix(":")
        tournament, match = session.split("/")[0], session.rpartition("/")[0]
        undone = bot in self._undone.get(tournament, ())
        if problem.endswith(MISSING):
            return undone or match in self._cut
        return problem.endswith(AWAY) and (undone or bot in self._away)

    def count(self) -> None:
        """Count what has happened, as the exports say."""
        with self.world.storage.read() as tx:
            self.seen.update(tx.exec(select(TournamentEvent.kind)))
        for name in self.tournaments:
            for line in map(json.loads, lines_of(self.world, name)):
                self.seen.update(_features(line))


def _features(line: Mapping[str, Any]) -> list[str]:
    """Return what a line of an export says has happened."""
    if line.get("part") == "round":
        return ["bye"] * bool(line["byes"])
    if line.get("part") == "match":
        return ["attempt"] * any(one["attempts"] > 1 for one in line["sessions"])
    kinds = [fault["kind"] for fault in line.get("faults", ())]
    turns = [str(answer["turn"]) for answer in line.get("answers", ())]
    forfeits = [f"played for: {one['why']}" for one in line.get("played_for", ())]
    return kinds + turns + forfeits + [name for name in ("forfeit", "absent", "used_ms") if name in line]


def sweep(count: int, first: int) -> tuple[list[str], Counter[str]]:
    """Play ``count`` seasons, drawn from the number ``first``.

    Return the seasons that were not found right, each with the reasons, and how often what has happened.
    """
    wrong: list[str] = []
    seen: Counter[str] = Counter()

    @seed(first)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(rulesets(most_players=5, most_cards=9), st.integers(0, 2**32))
    def play(ruleset: Ruleset, number: int) -> None:
        with TemporaryDirectory() as folder:
            season = Season(Path(folder), ruleset, Random(f"{ruleset.hash}/{number}"))
            with closing(season):
                season.play()
                season.count()
                if problems := season.problems():
                    head = f"season {number} of {json.dumps(ruleset.to_object())}:"
                    wrong.append("\n  ".join([head, *problems]))
        seen.update(season.seen)

    play()
    return wrong, seen


def main(count: int = 200, first: int = 0) -> None:
    """Play and verify seasons; exit with status 1 if one of them is not found right."""
    logging.disable(logging.ERROR)
    start = time.perf_counter()
    wrong, seen = sweep(count, first)
    print(*wrong, sep="\n")
    print(", ".join(f"{what} {times}" for what, times in sorted(seen.items())))
    took = time.perf_counter() - start
    print(f"{count} seasons of honest play were verified, and {len(wrong)} refused ({took:.0f} s)")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
