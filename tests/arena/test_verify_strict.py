"""Whatever becomes of a field of an export, verify says what is wrong; it never falls over."""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.core.canonical import MOST_VALUES, JsonError, decision_digest, read_json
from arena.errors import StateError
from arena.host.settings import Settings, load_settings
from arena.tournaments import corrections, creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from arena.trust.exports.write import export_lines
from arena.trust.keys import register_key
from arena.trust.verify import check_export, compare, read_log, sessions_in
from referee.bot.evidence import FORMAT, SHORT
from referee.matches.match import MatchSpec, Progress, SessionResult
from referee.records.reading import LONGEST_LINE
from referee.records.results import shown_digest
from referee.signing import SigningKey
from tests.arena.cli import make_arena
from tests.arena.databases import open_new
from tests.arena.exported import lines_of, play_by_table, with_new_digests
from tests.arena.fakes import DECISION_KEY, ROOT, Clock, signed
from tests.arena.test_tampered_databases import seat_that_passed
from tests.arena.world import World
from tests.referee.key import KEY

Steps = tuple[str | int, ...]

MARK = "the field that is changed"

VALUES = {
    "null": "null",
    "negative": "-1",
    "huge": "1" + "0" * 400,
    "large": "1e308",
    "infinite": "1e400",
    "NaN": "NaN",
    "fraction": "0.5",
    "text": '"\\u001b[2J\\n"',
    "list": "[]",
    "lists": "[[[]]]",
    "object": "{}",
    "true": "true",
}
"""What a field may become, as JSON."""

CHANGES = (*VALUES, "gone", "twice", "with another")


def timed(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play at random, with times; the first pass of each session is a time-out."""
    for result in play_by_table(route, spec):
        assert isinstance(result, SessionResult)
        [session] = [one for one in spec.sessions if one.number == result.number]
        record = json.loads(result.records[0])
        record["ms"] = record["ms"].replace("5", "7")
        action, seat = seat_that_passed(record)
        fault = {"action": action, "seat": seat, "kind": "timeout", "ms": 7, "credit_ms": 0}
        faults = tuple(int(one == seat) for one in range(len(result.points)))
        records = (json.dumps(record | {"faults": [fault]}), *result.records[1:])
        yield signed(spec, session, replace(result, records=records, faults=faults))


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Export a tournament in which much happened: a pause, a new key, a late entry, a correction …"""
    with open_new(load_settings({"data": tmp_path_factory.mktemp("arena")})) as storage:
        return make_cup(World(storage, Clock()))


def make_cup(world: World) -> list[str]:
    names, storage, now = world.register(5, owners=5), world.storage, world.clock()
    fields = {"format": "swiss", "rounds": 2, "sessions": 1, "deals": 1, "confirm": True}
    cup = world.tournament_of(names[:4], **fields)
    lifecycle.pause(storage, ROOT, "cup", now)
    lifecycle.resume(storage, ROOT, "cup", now)
    register_key(storage, "second", SigningKey.draw().public, now)
    world.advance(cup.id)
    entry.enter(storage, ROOT, "cup", names[4], now, nobody_asked)
    entry.withdraw(storage, ROOT, "cup", names[0], now)
    world.finish(cup.id, timed)
    wanted = corrections.NewCorrection(names[1], "points", "late", round=1, table=1, points=5)
    corrections.correct(storage, ROOT, "cup", wanted, now, DECISION_KEY)
    corrections.confirm(storage, ROOT, "cup", now, DECISION_KEY)
    return lines_of(world)


def paths(value: object, path: Steps = ()) -> Iterator[Steps]:
    """Yield where each value inside a value is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield (*path, step)
        yield from paths(one, (*path, step))


def kind_of(line: dict[str, Any]) -> str:
    return str(line.get("event", line.get("part", "deal")))


def changed(line: dict[str, Any], path: Steps, change: str) -> str:
    """Return a line in which something became of one field, as JSON."""
    whole = deepcopy(line)
    parent: Any = whole
    for step in path[:-1]:
        parent = parent[step]
    last, old = path[-1], json.dumps(parent[path[-1]])
    parent[last] = MARK
    raw = VALUES.get(change, old)
    if change == "gone":
        del parent[last]
    elif isinstance(parent, list):
        raw = f"{old},{old}" if change in ("twice", "with another") else raw
    elif change in ("twice", "with another"):
        raw = f"{old},{json.dumps(last if change == 'twice' else 'unknown')}:{old}"
    return json.dumps(whole).replace(json.dumps(MARK), raw)


def choices(lines: list[str], seed: str) -> Iterator[tuple[int, Steps, str]]:
    """Yield a line, a field and a change: each change once for each kind of line, at some field."""
    rng = Random(seed)
    parsed = [json.loads(line) for line in lines]
    by_kind = {kind_of(line): at for at, line in enumerate(parsed)}
    for at in by_kind.values():
        own = [path for path in paths(parsed[at]) if path[0] != "ruleset" or len(path) == 1]
        yield from ((at, rng.choice(own), change) for change in CHANGES)


def is_as_it_was(text: str, line: str) -> bool:
    return text.replace(" ", "") == line.replace(" ", "")


def problem_of(lines: list[str]) -> str | None:
    return check_export(line.encode() for line in lines).problem


def test_field_when_anything_becomes_of_it_then_verify_says_so_and_never_falls_over(cup: list[str]) -> None:
    assert problem_of(cup) is None
    missed = []
    for at, path, change in choices(cup, "a field"):
        text = changed(json.loads(cup[at]), path, change)
        lines = [*cup[:at], text, *cup[at + 1 :]]
        found = problem_of(lines)
        if found is None and not is_as_it_was(text, cup[at]):
            missed.append((at, path, change))
    assert missed == []


def test_field_when_digests_are_made_anew_then_only_a_referees_key_hides_a_time(cup: list[str]) -> None:
    """With the key, anybody can sign other times: then only the bots' logs tell."""
    missed = []
    for number, (at, path, change) in enumerate(choices(cup, "digests")):
        text = changed(json.loads(cup[at]), path, change)
        key = KEY if number % 2 else None
        try:
            lines = with_new_digests([*cup[:at], text, *cup[at + 1 :]], key)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue  # so much is wrong that no digest can be made
        same = [json.loads(line) for line in lines] == [json.loads(line) for line in cup]
        measured = key is not None and path[0] in ("ms", "faults")
        if problem_of(lines) is None and not same and not measured:
            missed.append((at, path, change, key))
    assert missed == []


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"part":"head","part":"head"}', "line 1: part: is there twice"),
        ('{"a":[1,{"b":NaN}]}', "line 1: a[1].b: NaN is not a number of JSON"),
        ('{"a":-Infinity}', "line 1: a: -Infinity is not a number of JSON"),
        ('{"a":1e400}', "line 1: a: 1e400 is beyond ±9007199254740991"),
        ('{"a":9007199254740992}', "line 1: a: 9007199254740992 is beyond ±9007199254740991"),
        ("1" * 5000, "line 1: 111111111111111111111111… is beyond ±9007199254740991"),
        ("[" * 100_000, "line 1: is not JSON: maximum recursion depth exceeded"),
        ("[]", "line 1: the line is not a JSON object"),
    ],
)
def test_line_when_programs_would_read_it_differently_then_it_is_refused(raw: str, said: str) -> None:
    found = problem_of([raw])
    assert found is not None
    assert found.startswith(said)


def test_line_when_it_is_longer_or_has_more_values_than_any_then_it_is_refused_unread() -> None:
    longer, more = b" " * (LONGEST_LINE + 1), b"[" + b"[],{}," * (MOST_VALUES // 4) + b"]"
    with pytest.raises(JsonError, match="the line is longer than 32 MiB"):
        read_json(longer)
    with pytest.raises(JsonError, match="has more than 4194304 values"):
        read_json(more)
    with pytest.raises(JsonError, match="is not JSON"):  # it has fewer than its bytes
        read_json(b"1" + b" " * MOST_VALUES + b"x")


def test_number_when_it_is_the_largest_that_all_programs_read_alike_then_it_is_read() -> None:
    assert read_json(b'{"a":9007199254740991,"b":-9007199254740991,"c":[0.5,-0]}') == {
        "a": 2**53 - 1,
        "b": 1 - 2**53,
        "c": [0.5, 0],
    }


def edited(lines: list[str], kind: str, change: Callable[[dict[str, Any]], object]) -> list[str]:
    """Change the first line of a kind, and recompute all digests, with the referee's key too."""
    objects = [json.loads(line) for line in lines]
    change(next(one for one in objects if kind_of(one) == kind))
    return with_new_digests([json.dumps(one) for one in objects], KEY)


EARLY = "2025-12-31T00:00:00+00:00"


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("paused", lambda one: one.update(at=EARLY), f"at: {EARLY} is before 2026-01-01"),
        ("head", lambda one: one.update(locked_at=EARLY), f"locked_at: {EARLY} is before 2026-01-01"),
        ("tournament", lambda one: one.update(started_at=EARLY), f"started_at: {EARLY} is before 2026-01"),
        ("tournament", lambda one: one.update(finished_at="2027-01-01T00:00:00+00:00"), "at: is '2026-01-01"),
        ("finished", lambda one: one["details"].update(rounds=3), "details.rounds: is 3, should be 2"),
        ("entered", lambda one: one["details"].pop("bot"), "details.bot: is missing"),
        ("paused", lambda one: one["details"].update(why="rain"), "details.why: is not a field of these"),
        ("deal", lambda one: one.update(weather="rain"), "weather: is not a field of a deal record"),
        ("deal", lambda one: one["faults"][0].update(x=1), "faults[0].x: is not a field of a deal record"),
        ("deal", lambda one: one["faults"][0].update(kind="sloth"), "faults[0].kind: must be one of illegal"),
    ],
)
def test_line_when_it_says_what_cannot_be_then_verify_names_the_field(
    cup: list[str], kind: str, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    assert said in str(problem_of(edited(cup, kind, change)))


@pytest.mark.parametrize(
    ("event", "details", "said"),
    [
        ("lost", {"after": {"1": 0}}, "the events name round 7, table 1, which is not there"),
        ("refused", {"problem": "busy"}, "the events name round 7, table 1, which is not there"),
        ("void", {"attempts": {"1": 1}}, "the events name attempts at round 7, table 1, which is not there"),
        ("lost", {"after": {"1": 1}}, "details.after.1: is 1, but a session has 1 deals"),
        ("lost", {"after": {"1": -1}}, "details.after.1: must be a whole number from 0 on, not -1"),
        ("refused", {}, "details.problem: is missing"),
    ],
)
def test_event_when_it_is_about_a_match_that_is_not_then_verify_says_so(
    cup: list[str], event: str, details: dict[str, object], said: str
) -> None:
    def instead(pause: dict[str, Any]) -> None:
        pause |= {"event": event, "details": {"round": 7, "table": 1, **details}}

    objects = [json.loads(line) for line in edited(cup, "paused", instead)]
    again = next(one for one in objects if kind_of(one) == "resumed")
    again["event"] = "started"  # after a refused match
    gone = ("corrected", "confirmed", *(() if event == "refused" else ("started",)))
    first = next(one for one in objects if kind_of(one) == "started")
    left = [one for one in objects if one is first or kind_of(one) not in gone]
    for place, one in enumerate(left):
        if one.get("part") == "event":
            one["number"] = place - 1
    assert said in str(problem_of(with_new_digests([json.dumps(one) for one in left], KEY)))


def test_key_when_it_is_added_after_the_end_then_it_signs_nothing(cup: list[str]) -> None:
    """Nobody can sign anew what was played before with a key that nobody had at that time."""
    key = SigningKey.draw()
    lines = [line for line in cup if kind_of(json.loads(line)) != "confirmed"]
    at = next(at for at, line in enumerate(lines) if kind_of(json.loads(line)) == "corrected")
    event = json.loads(lines[at]) | {"event": "key_added"}
    event["details"] = {"referee": "late", "key": key.public}
    lines[at] = json.dumps(event)
    found = problem_of(with_new_digests(lines, key))
    assert found == f"line {at + 1}: event: key_added in a tournament that is finished"


def test_clock_when_it_is_set_back_then_the_export_is_right_and_its_times_stay(world: World) -> None:
    names = world.register(4, owners=4)
    creation.create(world.storage, ROOT, world.spec(names, rounds=1, deals=1), world.clock())
    world.clock.move(-400 * 86_400)
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.clock.move(-5)
    world.finish(1, play_by_table)
    wanted = corrections.NewCorrection(names[1], "disqualified", "late")
    corrections.correct(world.storage, ROOT, "cup", wanted, world.clock(), DECISION_KEY)
    lines = lines_of(world)
    assert problem_of(lines) is None
    times = {json.loads(line).get("at", "2026-01-01T00:00:00+00:00") for line in lines}
    assert times == {"2026-01-01T00:00:00+00:00"}


def test_text_when_it_would_be_obeyed_then_verify_shows_it_on_one_line(
    world: World, migrated: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.finish(world.tournament_of(world.register(4, owners=4), rounds=1, deals=1).id, play_by_table)
    wanted = corrections.NewCorrection("owner-0/bot-0", "disqualified", "late")
    corrections.correct(world.storage, ROOT, "cup", wanted, world.clock(), DECISION_KEY)
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if kind_of(json.loads(line)) == "corrected")
    event = json.loads(lines[at])
    event["details"]["reason"] = "late\n  confirmed\x1b[2J"
    digest = decision_digest("corrected", event["previous"], event["at"], event["details"])
    event["details"]["signed"] = DECISION_KEY.sign(digest)._asdict()
    file = tmp_path / "cup.jsonl"
    lines[at] = json.dumps(event)
    file.write_text("\n".join(with_new_digests(lines)))
    said = make_arena(migrated.data, capsys)("verify", str(file)).out
    assert "late\\n  confirmed\\x1b[2J (event 3, 2026-01-01)" in said


@pytest.mark.parametrize(
    ("table", "column"),
    [("seats", "entrant_id"), ("sessions", "number"), ("rating_changes", "seat_id"), ("entrants", "id")],
)
def test_row_when_an_id_in_it_is_nobodys_then_the_export_says_that_it_is_damaged(
    world: World, migrated: Settings, table: str, column: str
) -> None:
    world.finish(world.tournament(4, rounds=1, deals=1).id, play_by_table)
    with closing(sqlite3.connect(migrated.data / "arena.db")) as database:
        database.execute(f"UPDATE {table} SET {column} = -100 WHERE id = 1")
        database.commit()
    with pytest.raises(StateError, match="tournament cup cannot be exported: its rows in the database are"):
        list(export_lines(world.storage, "cup"))


def test_log_when_anything_becomes_of_a_field_then_its_line_is_left_out_or_compared(
    cup: list[str], tmp_path: Path
) -> None:
    """Only what the referee did not sign, such as when the line was written, may change unnoticed."""
    objects = [json.loads(line) for line in cup]
    head, match = objects[0], next(one for one in objects if kind_of(one) == "match")
    [session] = match["sessions"]
    records = [one for one in objects if kind_of(one) == "deal"][:1]
    fault = records[0]["faults"][0]
    seats = [match["bots"][position] for position in session["seating"]]
    line: dict[str, Any] = {"format": FORMAT, "at": "2026-01-01T00:00:00+00:00", "end": "played"}
    line |= {"tournament": "cup", "session": "cup/1/1/1", "commitment": head["digest"], "attempt": 1}
    line |= {"seats": seats, "seat": fault["seat"], "deals": 1, "deals_digest": shown_digest(records)}
    line |= {"digests": {"1": shown_digest(records)[:SHORT]}, "resumed": False, "signed": session["signed"]}
    line["own_faults"] = [{name: fault[name] for name in ("action", "kind", "ms", "credit_ms")} | {"deal": 1}]
    line |= {name: session[name] for name in ("points", "faults", "forfeits")}
    file = tmp_path / "my.log"

    def found(text: str) -> tuple[dict[int, str], list[str]]:
        file.write_text(text)
        log = read_log(file)
        report = check_export((line.encode() for line in cup), session_names=sessions_in([log]))
        return log.unreadable, compare(log, [report]).problems

    assert found(json.dumps(line)) == ({}, [])
    rng = Random("a log")
    missed = set()
    for change in CHANGES:
        path = rng.choice([*paths(line)])
        text = changed(line, path, change)
        if found(text) == ({}, []) and not is_as_it_was(text, json.dumps(line)):
            missed.add(path[0])
    assert missed <= {"at", "end", "resumed", "seat", "deals", "digests", "own_faults"}
