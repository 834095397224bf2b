"""Exports compared with bots' logs: any author finds what an organiser with the referees' keys alters."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from arena.host.settings import Settings
from arena.play.rounds import planning
from arena.store.models import Match, Round, Session, Tournament
from arena.store.records import lean_records, names_and_points
from arena.store.storage import Storage
from arena.tournaments import lifecycle
from arena.trust.exports.write import export_lines
from arena.trust.keys import register_key, signing_key
from arena.trust.verify import Report, check_export, check_links, compare, read_log, sessions_in
from arena.trust.verify.botlogs import BotLog, Comparison
from referee.bot.evidence import FORMAT
from referee.matches.match import MatchSpec, Progress, SessionResult
from referee.records.results import shown_digest
from referee.signing import SigningKey
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.exported import lines_of, play_by_table
from tests.arena.fakes import ROOT, signed
from tests.arena.resigning import sign_anew
from tests.arena.running import kept_log, running_arena
from tests.arena.test_tampered_databases import blame, seat_that_passed
from tests.arena.world import World

Line = dict[str, Any]

BOTS = [f"owner-{number}/bot-{number}@1" for number in range(8)]
LATE = {"kind": "timeout", "ms": 40, "credit_ms": 0}
ALTERED = "cup/1/1"
"""The altered match."""


def played(world: World, run: Callable[..., Any] = play_by_table, **fields: object) -> None:
    """Play the cup of eight owners at two tables."""
    names = world.register(8, owners=8)
    fields = {"format": "swiss", "rounds": 1, "sessions": 2, "deals": 2} | fields
    world.finish(world.tournament_of(names, **fields).id, run)


def play_otherwise(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play as an organiser would who invents the play at one table, with the cards that were dealt."""
    return play_by_table(route, spec, how="otherwise" if spec.match_id == ALTERED else "")


def one_is_late(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play at random; the first pass of each session is a time-out."""
    for result in play_by_table(route, spec):
        assert isinstance(result, SessionResult)
        [session] = [one for one in spec.sessions if one.number == result.number]
        record = json.loads(result.records[0])
        action, seat = seat_that_passed(record)
        record["faults"] = [LATE | {"action": action, "seat": seat}]
        records = (json.dumps(record), *result.records[1:])
        faults = tuple(int(one == seat) for one in range(len(result.points)))
        yield signed(spec, session, replace(result, records=records, faults=faults))


def digests_of(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what a line keeps of the digest after each deal, by number."""
    return {str(deal): shown_digest(records[:deal]) for deal in range(1, len(records) + 1)}


def kept_by(storage: Storage, bot: str) -> list[Line]:
    """Return the log that an SDK bot has kept of a tournament, which this database holds as it was played."""
    kept: list[Line] = []
    with storage.read() as tx:
        cup = tx.get_one(Tournament, 1)
        for session, match in tx.exec(select(Session, Match).join(Match)):
            names, _ = names_and_points(tx, match)
            seats = [names[position] for position in session.seating]
            records = lean_records(tx, session)
            round = tx.get_one(Round, match.round_id).number
            if bot in seats:
                line: Line = {"format": FORMAT, "at": "2026-01-01T00:00:00+00:00", "tournament": "cup"}
                line |= {"session": f"cup/{round}/{match.table_number}/{session.number}", "end": "played"}
                line |= {"commitment": cup.commitment, "attempt": match.attempts[session.number - 1]}
                line |= {"seats": seats, "seat": seats.index(bot), "deals": len(records)}
                line |= {"deals_digest": shown_digest(records), "points": session.points}
                line |= {"digests": digests_of(records)}
                line |= {"faults": session.faults, "forfeits": session.forfeits, "signed": session.signed}
                kept.append(line)
    return kept


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[Line]], BotLog]:
    """Return a function that writes a log and reads it."""

    def write(lines: list[Line]) -> BotLog:
        path = tmp_path / "my-bot.log"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return read_log(path)

    return write


Write = Callable[[list[Line]], BotLog]


def held(world: World, log: BotLog) -> tuple[Report, Comparison]:
    """Check the export on its own, and against a log."""
    report = check_export((line.encode() for line in lines_of(world)), session_names=sessions_in([log]))
    return report, compare(log, [report])


def problems(world: World, log: BotLog) -> list[str]:
    """Return the problems that a log finds in an export that is valid on its own, without line names."""
    report, found = held(world, log)
    assert report.problem is None
    return [problem.partition(": ")[2] for problem in found.problems]


def test_export_when_it_is_honest_then_it_is_as_every_bot_has_it(world: World, write: Write) -> None:
    played(world)
    for bot in BOTS:
        report, found = held(world, write(kept_by(world.storage, bot)))
        assert report.problem is None
        assert (found.bots, found.same, found.problems, found.remarks) == ((bot,), 2, [], [])


def test_session_when_altered_and_signed_anew_then_each_author_at_its_table_finds_it(
    make_world: Callable[[], World], write: Write
) -> None:
    honest, altered = make_world(), make_world()
    played(honest)
    played(altered, play_otherwise)
    found = {bot: problems(altered, write(kept_by(honest.storage, bot))) for bot in BOTS}
    finders = {bot for bot, told in found.items() if told}
    assert finders == {
        bot for bot in BOTS if any(ALTERED in line["session"] for line in kept_by(honest.storage, bot))
    }
    assert len(finders) == 4
    for bot in finders:
        for session in (f"session {ALTERED}/1", f"session {ALTERED}/2"):
            assert f"{session}: its deals are not those that the bot saw: it was altered" in found[bot]
            assert (
                f"{session}: the bot was sent another signature than the export has: it was signed again"
                in found[bot]
            )


def test_session_when_altered_and_signed_with_the_organisers_own_key_then_authors_find_it(
    make_world: Callable[[], World], write: Write
) -> None:
    """The key is added by an event, like that of a referee that was started later."""
    honest, altered = make_world(), make_world()
    played(honest)
    own = SigningKey.draw()
    names = altered.register(8, owners=8)
    cup = altered.tournament_of(names, format="swiss", rounds=1, sessions=2, deals=2)
    register_key(altered.storage, "mine", own.public, altered.clock())
    altered.finish(cup.id, play_otherwise)
    with altered.storage.write() as tx:
        sign_anew(tx, own)
    for bot in BOTS:
        told = problems(altered, write(kept_by(honest.storage, bot)))
        assert any(one.endswith("another key than the export has: it was signed again") for one in told)


def test_head_when_it_is_another_then_the_commitment_that_the_bot_was_sent_tells(
    make_world: Callable[[], World], write: Write
) -> None:
    honest, altered = make_world(), make_world()
    played(honest)
    played(altered, faults=3)
    [first, _] = problems(altered, write(kept_by(honest.storage, BOTS[0])))
    assert "the bot was sent the commitment " in first


@pytest.mark.parametrize("signed", [True, False], ids=["signed", "lost"])
@pytest.mark.parametrize("end", [lifecycle.stop, planning.cancel])
def test_session_when_it_is_left_out_then_its_bots_miss_it(
    make_world: Callable[[], World], write: Write, end: Callable[..., object], signed: bool
) -> None:
    """A tournament of two rounds is made to look as if it had ended after the first."""
    honest, altered = make_world(), make_world()
    played(honest, rounds=2)
    names = altered.register(8, owners=8)
    cup = altered.tournament_of(names, format="swiss", rounds=2, sessions=2, deals=2)
    altered.advance(cup.id)
    if end == planning.cancel:
        for match in altered.messages:
            altered.play(match, play_by_table)
    end(altered.storage, ROOT, "cup", altered.clock())
    altered.finish(cup.id, play_by_table)
    lines = kept_by(honest.storage, BOTS[0])
    if not signed:
        lines = [part_of(line, line["deals"], line["deals_digest"]) for line in lines]
    told = problems(altered, write(lines))
    assert [one.rpartition(": ")[2] for one in told] == ["is missing from the export"] * 2


def test_export_of_another_tournament_of_the_same_name_is_named_beside_the_genuine_one(
    make_world: Callable[[], World], write: Write
) -> None:
    genuine, impostor = make_world(), make_world()
    played(genuine)
    played(impostor, faults=3)
    log = write(kept_by(genuine.storage, BOTS[0]))
    reports = [held(world, log)[0] for world in (genuine, impostor)]
    for given in (reports, reports[::-1]):
        found = compare(log, given)
        [told] = found.problems
        assert told.startswith("cup: one export is of another tournament of this name: ")
        assert f"commitment is {reports[1].commitment}, and the bot was sent {reports[0].commitment}" in told
        assert found.same == 2
        assert "cup: is the name of two tournaments" in str(check_links(given))
    assert compare(log, [reports[0]] * 2).problems == []


def test_export_of_a_tournament_of_which_the_log_has_nothing_is_named_beside_another(
    make_world: Callable[[], World], write: Write
) -> None:
    world, other = make_world(), make_world()
    played(world)
    log = write(kept_by(world.storage, BOTS[0]))
    played(other, name="other")
    reports = [held(world, log)[0], check_export(line.encode() for line in lines_of(other, "other"))]
    found = compare(log, reports)
    assert found.problems == []
    assert found.remarks == [f"other: 2 sessions of {BOTS[0]} are not in this log"]


NOT_LAST = "the line was altered: the digest of its last deal is not that of all deals"
UNTRUE = "the signature in the log is not that of its key: the line was altered, or the referee sent it so"
SIGNED_ELSE = "the referee signed something else than the bot saw, or the line was altered"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"points": [99, -33, -33, -33]}, SIGNED_ELSE),
        ({"deals_digest": "00" * 32}, NOT_LAST),
        ({"deals_digest": "00" * 32, "digests": {"2": "00" * 32}}, SIGNED_ELSE),
        ({"attempt": 2}, SIGNED_ELSE),
        ({"commitment": "00" * 32}, SIGNED_ELSE),
        ({"signed": SigningKey.draw().sign("00" * 32)._replace(signature="00" * 64)._asdict()}, UNTRUE),
        ({"tournament": "another"}, "has no session of these tournaments"),
    ],
)
def test_log_when_it_was_altered_itself_then_it_is_said(
    world: World, write: Write, changed: Line, why: str
) -> None:
    played(world)
    line = kept_by(world.storage, BOTS[0])[0] | changed
    _, found = held(world, write([line]))
    assert [problem.removeprefix(f"line 1: session {line['session']}: ") for problem in found.problems] == [
        why
    ]


def test_line_when_the_bot_could_not_read_a_session_then_the_signature_alone_is_compared(
    make_world: Callable[[], World], write: Write
) -> None:
    honest, altered = make_world(), make_world()
    played(honest)
    played(altered, play_otherwise)
    bot = next(bot for bot in BOTS if ALTERED in kept_by(honest.storage, bot)[0]["session"])
    log = write([line | {"deals_digest": None} for line in kept_by(honest.storage, bot)])
    assert problems(honest, log) == []
    assert any("it was signed again" in one for one in problems(altered, log))


@pytest.mark.parametrize(
    ("told", "differs"),
    [
        ([], True),
        ([("timeout", 40)], False),
        ([("illegal", 40)], True),
        ([("timeout", 41)], True),
        ([("timeout", 40)] * 2, True),
    ],
)
def test_fault_when_the_bot_was_told_of_another_then_its_log_finds_it(
    world: World, write: Write, told: list[tuple[str, int]], differs: bool
) -> None:
    """The referee recorded, and signed, a time-out after 40 ms in the first deal."""
    played(world, one_is_late)
    line = next(line for bot in BOTS for line in kept_by(world.storage, bot) if line["faults"][line["seat"]])
    with world.storage.read() as tx:
        [row] = [row for row in tx.exec(select(Session)).all() if row.signed == line["signed"]]
        records = lean_records(tx, row)
    at = records[0]["faults"][0]["action"]
    faults = [{"deal": 1, "action": at, "kind": kind, "ms": ms, "credit_ms": 0} for kind, ms in told]
    digests = digests_of(records[:2])
    found = problems(world, write([line | {"digests": digests, "own_faults": faults}]))
    texts = ", ".join(f"{kind} at action {at} ({ms} ms)" for kind, ms in told) or "no fault"
    assert [one.rpartition(": deal 1: ")[2] for one in found] == [
        f"the bot was told of {texts} of its own, the export has timeout at action {at} (40 ms)"
    ] * differs


def part_of(line: Line, deals: int, digest: str, attempt: int = 1) -> Line:
    """Return the line that is kept of a session whose end the bot did not see."""
    nothing = dict.fromkeys(("points", "faults", "forfeits", "signed"))
    part = {"deals": deals, "deals_digest": digest, "digests": {str(deals): digest}}
    return line | nothing | part | {"attempt": attempt, "end": "lost"}


def test_session_when_the_bot_saw_a_part_of_it_then_that_part_is_compared(world: World, write: Write) -> None:
    played(world)
    line = kept_by(world.storage, BOTS[0])[0]
    with world.storage.read() as tx:
        rows = {
            f"cup/1/{m.table_number}/{s.number}": s for s, m in tx.exec(select(Session, Match).join(Match))
        }
        first = lean_records(tx, rows[line["session"]])[0]
    right = shown_digest([first])
    assert problems(world, write([part_of(line, 1, right)])) == []
    [told] = problems(world, write([part_of(line, 1, "00" * 32)]))
    assert told.endswith("its deals up to deal 1 are not those that the bot saw: it was altered")
    [told] = problems(world, write([part_of(line, 1, "00" * 32, attempt=7)]))
    assert told.endswith("attempt: the bot was in attempt 7, the export has 1")


def test_log_when_lines_are_missing_or_broken_then_that_is_a_remark(world: World, tmp_path: Path) -> None:
    played(world)
    path = tmp_path / "my-bot.log"
    path.write_text(json.dumps(kept_by(world.storage, BOTS[0])[0]) + '\n{"format":"bigtwo-bot-l')
    _, found = held(world, read_log(path))
    assert found.problems == []
    assert found.remarks == [
        "line 2 is left out: is not JSON: Unterminated string starting at: line 1 column 11 (char 10)",
        f"cup: 1 sessions of {BOTS[0]} are not in this log",
    ]


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_verify_with_logs_when_all_is_right_then_each_is_said_to_be(
    arena: Arena, world: World, tmp_path: Path
) -> None:
    played(world)
    export, logs = tmp_path / "cup.jsonl", [tmp_path / "one.log", tmp_path / "two.log"]
    arena("export", "cup", "--output", export)
    for log, bot in zip(logs, BOTS, strict=False):
        log.write_text("".join(json.dumps(line) + "\n" for line in kept_by(world.storage, bot)))
    found = arena("verify", export, "--with", logs[0], "--with", logs[1])
    assert found.status == 0
    for log, bot in zip(logs, BOTS, strict=False):
        assert f"{log}: ok: 2 sessions are in the exports as {bot} saw them\n" in found.out
    [first, second] = arena("verify", export, "--with", logs[0], "--with", logs[1], "--json").json["logs"]
    assert (first["bots"], first["same"], first["problems"]) == ([BOTS[0]], 2, [])
    assert second["log"] == str(logs[1])


def test_verify_with_logs_when_one_differs_then_it_is_named_and_the_status_is_1(
    arena: Arena, world: World, tmp_path: Path
) -> None:
    played(world, deals=1)
    export, log = tmp_path / "cup.jsonl", tmp_path / "my.log"
    bot = next(bot for bot in BOTS if f"{ALTERED}/1" in str(kept_by(world.storage, bot)))
    log.write_text("".join(json.dumps(line) + "\n" for line in kept_by(world.storage, bot)))
    with world.storage.write() as tx:
        blame(seat_that_passed)(tx)
        sign_anew(tx)
    arena("export", "cup", "--output", export)
    assert arena("verify", export).status == 0
    found = arena("verify", export, "--with", log)
    assert found.status == 1
    assert f"{log}: failed: the exports are not as {bot} saw it:\n" in found.out
    assert f"session {ALTERED}/1: faults: the bot was told [0, 0, 0, 0], the export has " in found.out


def test_verify_with_a_log_that_is_not_there_is_an_error(arena: Arena, world: World, tmp_path: Path) -> None:
    assert_one_line(arena("verify", "x", "--with", tmp_path / "no.log"), 1, "cannot read", "no.log")


SAMPLES = {
    "ann/greedy": "greedy.py",
    "bob/keeper": "keeper.py",
    "cy/pairs": "pairs_first.py",
    "dee/lowest": "lowest.py",
}
CUP = {"format": "round-robin", "rounds": 1, "ruleset": "chinese", "sessions": 2, "deals": 1}


def test_tournament_of_real_bots_when_an_organiser_blames_one_then_the_log_of_each_finds_it(
    tmp_path: Path,
) -> None:
    """The organiser has the referee's own key, from the data folder; on its own, the export is valid."""
    with running_arena(tmp_path / "arena", SAMPLES) as running:
        running.start_tournament("cup", bytes(32), **CUP, entrants=list(SAMPLES))
        assert running.wait("cup", lambda status: status.ended).state == "finished"
        storage, settings = running.storage, running.settings
        lines = list(export_lines(storage, "cup"))
        with storage.write() as tx:
            blame(seat_that_passed)(tx)
            sign_anew(tx, signing_key(settings, settings.referees[0]))
        altered = list(export_lines(storage, "cup"))
    logs = [read_log(kept_log(settings, bot)) for bot in SAMPLES]
    for export, problems_ in ((lines, 0), (altered, 3)):
        report = check_export((line.encode() for line in export), session_names=sessions_in(logs))
        assert report.problem is None
        for log in logs:
            found = compare(log, [report])
            assert len(found.problems) == problems_, found
            assert found.same == 2 - bool(problems_)
            assert found.remarks == []
