"""What bots keep of void attempts: nobody can replace what bots saw by calling the attempt void."""

import json
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlmodel import select

from arena.host.settings import Settings
from arena.play.rounds import planning
from arena.store.models import OpenDeal
from arena.store.storage import Storage, open_storage
from arena.trust.verify.botlogs import BotLog, Comparison, compare, read_log
from referee.bot.evidence import FORMAT, SHORT
from referee.deals.session import Session as Deals
from referee.matches.match import DealsFinished, MatchSpec, SessionResult, SessionSpec, Update
from referee.records.results import NO_DEALS, add_deal, record_as_shown
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.cli import make_arena
from tests.arena.fakes import ROOT, Clock, timed_json
from tests.arena.random_play import finish_deal
from tests.arena.test_attempts import GONE, deals_of, play_whole
from tests.arena.test_bot_logs import Line, Write, held
from tests.arena.test_bot_logs import write as write
from tests.arena.test_plain import is_plain
from tests.arena.world import World

Referee = Callable[[int, MatchSpec], Generator[Update]]


class Bots:
    """The bots of a tournament, with the log lines that each keeps of what it sees."""

    def __init__(self) -> None:
        self.kept: defaultdict[str, list[Line]] = defaultdict(list)
        self.specs: list[MatchSpec] = []
        """The matches that referees were asked to play."""

    def play(self, deals: int | None = None, told: int | None = None, *, stored: bool = True) -> Referee:
        """Return a referee at which all sessions end, or are void after ``deals`` deals.

        It reports ``told`` deals, or all. Unless ``stored``, bots are sent the results but the worker is not.
        """

        def run(_route: int, spec: MatchSpec) -> Generator[Update]:
            self.specs.append(spec)
            for session in spec.sessions:
                records, result = played(spec, session, deals)
                self._keep(spec, session, records, result)
                if result is not None and stored:
                    yield result
                elif records[:told]:
                    yield DealsFinished(session.number, tuple(records[:told]))
            if deals is not None or not stored:
                raise GONE

        return run

    def _keep(
        self, spec: MatchSpec, session: SessionSpec, records: list[str], result: SessionResult | None
    ) -> None:
        seats = [spec.bots[position].name for position in session.seating]
        before, first = NO_DEALS, 1
        if session.after is not None:
            before, first = session.after.deals_digest, session.after.last.number + 1
        shown = (record_as_shown(json.loads(record)) for record in records)
        digests = [*accumulate(shown, add_deal, initial=before)]
        for seat, bot in enumerate(seats):
            line: Line = {"format": FORMAT, "at": "2026-01-01T00:00:00+00:00", "tournament": spec.tournament}
            line |= {"session": f"{spec.match_id}/{session.number}", "commitment": spec.commitment}
            line |= {"attempt": session.attempt, "seats": seats, "seat": seat, "end": "void"}
            line |= {"deals": first + len(records) - 1, "deals_digest": digests[-1]}
            line |= dict.fromkeys(("points", "faults", "forfeits", "signed"))
            line["digests"] = {str(first + at): digest[:SHORT] for at, digest in enumerate(digests[1:])}
            if result is not None:
                assert result.signed is not None
                line |= {"end": "played", "points": result.points, "faults": result.faults}
                line |= {"forfeits": result.forfeits, "signed": result.signed._asdict()}
            self.kept[bot].append(line)


def played(
    spec: MatchSpec, session: SessionSpec, deals: int | None
) -> tuple[list[str], SessionResult | None]:
    """Play a session to its end, or only ``deals`` deals; return the records, and the result if it ended."""
    records: list[str] = []
    playing = deals_of(spec, session)
    while deals is None or len(records) < deals:
        try:
            records.append(next(playing))
        except StopIteration as stop:
            return records, stop.value
    return records, None


@pytest.fixture
def bots() -> Bots:
    return Bots()


@pytest.fixture
def match(world: World) -> int:
    """Make a cup with one match of two sessions of three deals."""
    world.advance(world.tournament(4, sessions=2, deals=3).id)
    return world.messages[0]


def compared(world: World, bots: Bots, write: Write) -> dict[str, Comparison]:
    """Compare the export, which is valid on its own, with the log of each bot."""
    found = {}
    for bot, lines in bots.kept.items():
        report, found[bot] = held(world, write(lines))
        assert report.problem is None
    return found


def told(found: dict[str, Comparison]) -> list[str]:
    """Return the problems that each bot's log finds, which are the same for all, without line numbers."""
    [problems] = {tuple(one.partition(": ")[2] for one in bot.problems) for bot in found.values()}
    return [*problems]


def test_deal_when_it_was_dealt_again_and_the_bot_saw_that_then_all_is_right(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    world.play(match, bots.play(2, told=1))
    world.clock.move(1)
    world.finish(1, bots.play())
    for found in compared(world, bots, write).values():
        assert (found.problems, found.same) == ([], 4)
        assert [one.partition(": ")[2] for one in found.remarks] == [
            f"session cup/1/1/{session}: deal 2 of attempt 1 does not count" for session in (1, 2)
        ]


def test_result_when_it_was_lost_and_the_bot_saw_the_next_then_all_is_right(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    world.play(match, bots.play(stored=False, told=2))
    world.clock.move(1)
    world.finish(1, bots.play())
    for found in compared(world, bots, write).values():
        assert (found.problems, found.same) == ([], 2)
        assert "which came to nothing; attempt 2 counts" in found.remarks[0]
    lines = next(iter(bots.kept.values()))
    report, _ = held(world, write(lines))
    file = Path(write(lines[2:]).name)
    newer = read_log(file.rename(file.with_name("newer.log")))
    older = write(lines[:2])  # the file that was renamed when it was full
    assert compare(older, [report]).problems != []
    assert compare(older, [report], [newer]).problems == []
    of_another = BotLog("", {1: newer.lines[1].model_copy(update={"seat": 1 - newer.lines[1].seat})})
    assert compare(older, [report], [of_another]).problems != []


def test_attempt_when_it_is_invented_to_replace_a_session_then_each_author_finds_it(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    """An organiser throws results away, and makes others without the bots."""
    world.play(match, bots.play(stored=False, told=0))
    world.clock.move(1)
    world.finish(1, play_whole)
    again = "deal 1 to 3 of attempt 1 does not count, and this log has no other in place of it"
    sent = "the bot was sent the result of attempt 1, but attempt 2 counts, of which this log has no result"
    assert told(compared(world, bots, write)) == [
        f"session cup/1/1/{session}: {what}" for session in (1, 2) for what in (again, sent)
    ]


def forge(storage: Storage, spec: MatchSpec, deals: int, attempt: int) -> None:
    """Replace the kept deals of a match by others, played differently, as if this attempt had dealt them."""
    rules = compile_ruleset(load_ruleset(spec.ruleset))
    with storage.write() as tx:
        for session in spec.sessions:
            playing = Deals(rules, session.seed, spec.deals, attempt)
            for number in range(1, deals + 1):
                deal = playing.next_deal()
                finish_deal(deal, Random(f"forged/{number}"))
                playing.close_deal()
                where = (OpenDeal.session == session.number, OpenDeal.deal == number)
                tx.exec(select(OpenDeal).where(*where)).one().record = timed_json(deal, attempt=attempt)


@pytest.mark.parametrize(
    ("attempt", "found"),
    [
        (1, "its deals up to deal 1 are not those that the bot saw: it was altered"),
        (2, "deal 1 to 2 of attempt 1 does not count, and this log has no other in place of it"),
    ],
)
@pytest.mark.parametrize("seen", [2, 3])
def test_deals_when_they_are_altered_before_the_next_attempt_then_each_author_finds_it(
    world: World, match: int, bots: Bots, write: Write, attempt: int, found: str, seen: int
) -> None:
    """The referee continues from what it is given, and signs it: nobody needs its key."""
    world.play(match, bots.play(seen, told=2, stored=seen < 3))
    forge(world.storage, bots.specs[0], 2, attempt)
    world.clock.move(1)
    world.finish(1, bots.play())
    assert told(compared(world, bots, write)) == [f"session cup/1/1/{session}: {found}" for session in (1, 2)]


def test_session_when_the_bot_was_in_more_attempts_than_the_export_has_then_it_is_found(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    world.finish(1, bots.play())
    for lines in bots.kept.values():
        lines.append(lines[0] | {"attempt": 2, "signed": None, "end": "void"})
    assert told(compared(world, bots, write)) == [
        "session cup/1/1/1: attempt: the bot was in attempt 2, the export has 1"
    ]


def test_session_when_it_was_being_played_at_the_cancellation_then_only_a_result_is_missed(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    world.play(match, bots.play(2, told=0))
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    for found in compared(world, bots, write).values():
        assert found.problems == []
        assert [one.partition(": ")[2] for one in found.remarks] == [
            f"session cup/1/1/{session}: is not in the export: it was being played at the cancellation"
            for session in (1, 2)
        ]
    bots.kept.clear()
    list(bots.play()(0, bots.specs[0]))
    missing = [f"session cup/1/1/{session}: is missing from the export" for session in (1, 2)]
    assert told(compared(world, bots, write)) == missing


def assert_nothing_before_the_backup_is_excused(world: World, bots: Bots, write: Write) -> None:
    """Claim that others played the one match that was finished then, or that nobody did."""
    before = bots.specs[0]
    log = write(bots.kept[before.bots[0].name])
    report, _ = held(world, log)
    session = f"{before.match_id}/1"
    genuine = report.sessions.pop(session)
    assert [one.rpartition(": ")[2] for one in compare(log, [report]).problems] == [
        "is missing from the export"
    ]
    others = tuple(bot for bot in bots.kept if bot not in genuine.seats)[:4]
    report.sessions[session] = replace(genuine, seats=others)
    assert any(": seats: the bot was told" in one for one in compare(log, [report]).problems)


def test_logs_when_a_backup_was_restored_then_what_was_played_again_is_noted_and_nothing_differs(
    migrated: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path, bots: Bots, write: Write
) -> None:
    arena, copy = make_arena(migrated.data, capsys), tmp_path / "backup.db"
    with open_storage(migrated) as storage:
        world = World(storage, Clock())
        # Enough bots that chance never pairs all of them as before when the first round ends differently.
        cup = world.tournament(16, format="swiss", rounds=2, sessions=2, deals=2).id
        world.advance(cup)
        world.play(world.messages[0], bots.play())
        assert arena("backup", copy).status == 0
        world.finish(cup, bots.play())
    before = {bot: len(lines) for bot, lines in bots.kept.items()}
    assert arena("restore", copy, "--yes").status == 0
    with open_storage(migrated) as storage:
        world = World(storage, Clock())
        world.clock.move(120)
        world.finish(cup, bots.play())
        found = compared(world, bots, write)
        assert [one.problems for one in found.values()] == [[]] * 16
        remarks = " ".join(remark for one in found.values() for remark in one.remarks)
        assert "the bot was sent the result of attempt 1, which came to nothing; attempt " in remarks
        assert "is not in the export: the arena went back to an earlier state" in remarks
        assert_nothing_before_the_backup_is_excused(world, bots, write)
        for bot, lines in bots.kept.items():
            del lines[before[bot] :]
        assert all(one.problems for one in compared(world, bots, write).values())


def test_log_when_names_in_it_are_evil_then_they_are_only_shown(
    world: World, match: int, bots: Bots, write: Write, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    world.finish(1, bots.play())
    [line, *_] = next(iter(bots.kept.values()))
    evil = "\x1b[2J\u202e"
    names = [name + evil for name in line["seats"]]
    log = write([line | {"session": evil}, line | {"commitment": evil, "seats": names}])
    arena, export = make_arena(migrated.data, capsys), Path(log.name).with_name("cup.jsonl")
    assert arena("export", "cup", "--output", export).status == 0
    found = arena("verify", export, "--with", log.name)
    assert (found.status, "\\x1b[2J" in found.out) == (1, True)
    assert is_plain(found.out + found.err)


def test_line_when_what_it_says_of_deals_is_nonsense_then_it_is_left_out(
    world: World, match: int, bots: Bots, write: Write
) -> None:
    world.finish(1, bots.play())
    lines: list[dict[str, Any]] = next(iter(bots.kept.values()))
    nonsense: list[dict[str, Any]] = [{"x": "0" * 16}, {"0": "0" * 16}, {"1": ""}, {"9" * 9: "0" * 16}]
    log = write([lines[0], *(lines[1] | {"digests": one} for one in nonsense), lines[1] | {"deals": -1}])
    assert (len(log.lines), [*log.unreadable.values()]) == (
        1,
        [
            "digests: 'x' is not the number of a deal",
            "digests: '0' is not the number of a deal",
            "digests: '' is not 16 to 64 hexadecimal digits",
            "digests: '999999999' is not the number of a deal",
            "deals: must be a whole number from 0 on, not -1",
        ],
    )
    altered = lines[0] | {"digests": {**lines[0]["digests"], "3": "0" * 16}}
    assert "the line was altered" in held(world, write([altered]))[1].problems[0]
