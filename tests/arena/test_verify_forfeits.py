"""Who forfeits when bots are absent or the time of a match is up: in exports, and when verified."""

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest

from arena.core.parts import LimitsLine, SessionLine
from arena.errors import SpecError
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.forfeits import Forfeits
from referee.deals.action import Stage
from referee.matches.match import Limits, MatchSpec, SessionResult, Update
from tests.arena.exported import check, lines_of, problem, with_new_digests
from tests.arena.world import World
from tests.referee.harness import Harness
from tests.referee.key import KEY
from tests.referee.test_forfeits import fail_when
from tests.referee.test_shares import play_slowly

Record = dict[str, Any]


def played_with(
    here: Callable[[int], bool] = lambda number: True, **thinks: float
) -> Callable[[int, MatchSpec], Generator[SessionResult]]:
    """Play at a referee with some of a match's bots; ``_1=0.5`` makes the first one think half a second."""

    def run(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
        harness = Harness()
        bots = [harness.connect(bot.version_id, 2) for bot in spec.bots if here(bot.version_id)]
        seconds = {number: thinks.get(f"_{number}", 0.002) for number in range(1, 9)}
        yield from play_slowly(harness, harness.open(spec), bots, seconds)

    return run


def finished(world: World, run: Callable[[int, MatchSpec], Generator[Update]], **fields: object) -> None:
    limits = {"decision_ms": 5000, "join_seconds": 10, "sessions": 6, "deals": 2}
    world.finish(world.tournament(4, **limits | fields).id, run)


def absent(world: World) -> list[str]:
    """Export a tournament whose last two bots never came."""
    finished(world, played_with(lambda number: number < 3), on_forfeit="end_session")
    return lines_of(world)


def going_on(world: World, mode: str = "default_action", **fields: object) -> list[str]:
    """Export a tournament whose last bot never came and whose third one made too many faults."""
    finished(world, failing, on_forfeit=mode, faults=3, **fields)
    return lines_of(world)


def failing(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """Play at a referee with all bots of a match but the last; the one before it answers illegally."""
    harness = Harness()
    bots = [harness.connect(bot.version_id, 2) for bot in spec.bots[:-1]]
    match = harness.open(spec)
    yield from fail_when(harness, match, bots, lambda bot, turn: bot.number == bots[-1].number)


def overrun(world: World) -> list[str]:
    """Export a tournament whose match ran out of time because of its second bot."""
    finished(world, played_with(_2=0.9), match_seconds=106)
    return lines_of(world)


def with_records(lines: list[str], change: Callable[[Record], object]) -> list[str]:
    """Change all records with forfeits, recompute all digests, and sign anew."""
    objects = [json.loads(line) for line in lines]
    forfeits = [one for one in objects if "forfeit" in one and "part" not in one]
    assert forfeits
    for one in forfeits:
        change(one)
    return with_new_digests([json.dumps(one) for one in objects], KEY)


def set_field(name: str, make: Callable[[Record], object]) -> Callable[[Record], object]:
    def change(record: Record) -> None:
        record[name] = make(record)

    return change


def test_absent_bots_when_several_then_the_export_names_them_and_is_right(world: World) -> None:
    lines = absent(world)
    assert check(lines).problem is None
    records = [one for line in lines if "forfeit" in (one := json.loads(line)) and "part" not in one]
    assert {len(record["absent"]) for record in records} == {2}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda record: record.pop("absent"), "has 0 faults of 10"),
        (set_field("absent", lambda record: [record["forfeit"]] * 2), "not in order"),
        (set_field("absent", lambda record: sorted({0, 1, 2, 3} - {record["forfeit"]})), "forfeit: is"),
        (set_field("absent", lambda record: [(record["forfeit"] + 1) % 4]), "forfeit: is"),
        (set_field("used_ms", lambda record: [0, 0, 0, 0]), "more than one reason"),
        (set_field("faults", lambda record: [fault_at_the_end(record)]), "being played already"),
    ],
)
def test_absent_bots_when_altered_then_verify_finds_it(
    world: World, change: Callable[[Record], object], told: str
) -> None:
    assert told in problem(with_records(absent(world), change))


def fault_at_the_end(record: Record) -> Record:
    return {"action": 0, "seat": record["forfeit"], "kind": "timeout"}


def test_match_when_its_time_was_up_then_the_export_says_so_and_is_right(world: World) -> None:
    lines = overrun(world)
    assert check(lines).problem is None
    records = [one for line in lines if "used_ms" in (one := json.loads(line))]
    assert {record["seats"][record["forfeit"]] for record in records} == {"owner-1/bot-1@1"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda record: record.pop("used_ms"), "has 0 faults of 10"),
        (
            set_field("used_ms", lambda record: [int(seat == record["forfeit"]) for seat in range(4)]),
            "had used",
        ),
        (set_field("used_ms", lambda record: [ms * 100 for ms in record["used_ms"]]), "had used"),
        (set_field("used_ms", lambda record: [9999 * seat for seat in range(4)]), "forfeit: is"),
        (set_field("absent", lambda record: [record["forfeit"]]), "the deal was being played already"),
        (set_field("absent", lambda record: [0, 1, 2, 3]), "more than one reason"),
    ],
)
def test_time_of_a_match_when_altered_then_verify_finds_it(
    world: World, change: Callable[[Record], object], told: str
) -> None:
    assert told in problem(with_records(overrun(world), change))


def test_times_of_a_match_when_it_ran_out_of_time_in_two_attempts_then_they_differ_and_are_right(
    world: World,
) -> None:
    """The first referee is to begin no more sessions, so that it leaves no void attempt."""

    def play_part(_route: int, spec: MatchSpec) -> Generator[Update]:
        whole = len(spec.sessions) < 6
        harness = Harness()
        bots = [harness.connect(bot.version_id, 2) for bot in spec.bots]
        match = harness.open(spec)
        if not whole:
            harness.lobby.hold(match)
        yield from play_slowly(harness, match, bots, {2: 0.9, 3: 0.6 * whole})
        yield harness.lobby.progress(match)

    finished(world, play_part, match_seconds=11, rated=False)
    world.clock.move(60)
    world.finish(1, play_part)
    lines = lines_of(world)
    assert check(lines).problem is None
    records = [one for line in lines if "used_ms" in (one := json.loads(line))]
    assert {record.get("attempt", 1) for record in records} == {1}
    assert len({tuple(sorted(record["used_ms"])) for record in records}) == 2


def test_time_of_a_match_when_the_tournament_has_none_then_verify_finds_it(world: World) -> None:
    lines = absent(world)

    def change(record: Record) -> None:
        del record["absent"]
        record["used_ms"] = [int(seat == record["forfeit"]) for seat in range(4)]

    assert "matches have no time limit" in problem(with_records(lines, change))


def test_spec_when_a_match_is_over_before_absent_bots_were_waited_for_then_it_is_refused(
    world: World,
) -> None:
    with pytest.raises(
        SpecError, match=r"match_seconds: must be more than join_seconds \(30\), or 0, not 30"
    ):
        world.spec(world.register(4), match_seconds=30)


@pytest.mark.parametrize("fields", [{}, {"duplicate": True, "deals": 1}], ids=["plain", "duplicate"])
@pytest.mark.parametrize("mode", ["default_action", "stand_in"])
def test_forfeits_when_sessions_go_on_then_the_export_says_who_was_played_for_and_is_right(
    world: World, mode: str, fields: dict[str, object]
) -> None:
    lines = going_on(world, mode, sessions=8, **fields)
    assert check(lines).problem is None
    objects = [json.loads(line) for line in lines]
    sessions = [session for one in objects if one.get("part") == "match" for session in one["sessions"]]
    assert {(session["forfeit"], len(session["forfeits"])) for session in sessions} <= {(None, 1), (None, 2)}
    assert {one["by"] for record in objects for one in record.get("played_for", ())} == {mode}
    assert {one["why"] for record in objects for one in record.get("played_for", ())} >= {"absent"}


def test_forfeit_when_the_bot_declined_to_bomb_just_before_its_turn_then_the_export_is_right(
    world: World,
) -> None:
    def fail_in_turn(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
        harness = Harness()
        bots = [harness.connect(bot.version_id, 2) for bot in spec.bots]
        match = harness.open(spec)
        number = bots[2].number
        fails = lambda bot, turn: bot.number == number and turn.stage is Stage.PLAY and turn.deal.to_beat  # noqa: E731
        yield from fail_when(harness, match, bots, fails)

    finished(world, fail_in_turn, ruleset="gamesky", faults=1, rated=False)
    lines = lines_of(world)
    assert check(lines).problem is None
    objects = [json.loads(line) for line in lines]
    declined = [
        (one["seat"], one["action"]) in [(answer["seat"], answer["action"]) for answer in record["answers"]]
        for record in objects
        for one in record.get("played_for", ())
        if one["deal"] == record["deal"]
    ]
    assert any(declined)


def first_with(lines: list[str], why: str, change: Callable[[Record], object]) -> list[str]:
    """Change the first record in which a bot forfeits for this reason, and recompute all digests."""
    objects = [json.loads(line) for line in lines]
    change(
        next(
            one
            for one in objects
            if any(gone["why"] == why and gone["deal"] == one["deal"] for gone in one.get("played_for", ()))
        )
    )
    return with_new_digests([json.dumps(one) for one in objects], KEY)


def entry(record: Record, why: str) -> Record:
    return next(one for one in record["played_for"] if one["why"] == why)


def another_action(record: Record) -> None:
    """Have an absent bot play the first card of its hand, which is not the default action."""
    seat = entry(record, "absent")["seat"]
    at = next(at for at, action in enumerate(record["actions"]) if action.startswith(f"{seat}:"))
    record["actions"][at] = f"{seat}:{record['hands'][seat].split()[0]}"


def with_time(record: Record) -> None:
    """Have an absent bot take time for its first action."""
    seat = entry(record, "absent")["seat"]
    at = next(at for at, action in enumerate(record["actions"]) if action.startswith(f"{seat}:"))
    times = record["ms"].split()
    record["ms"] = " ".join([*times[:at], "17", *times[at + 1 :]])


def blame(record: Record) -> None:
    """Blame an absent bot for what was done in its place."""
    seat = entry(record, "absent")["seat"]
    at = next(at for at, action in enumerate(record["actions"]) if action.startswith(f"{seat}:"))
    record["faults"] = [{"action": at, "seat": seat, "kind": "timeout"}, *record.get("faults", ())]


def one_fault_fewer(record: Record) -> None:
    record["faults"] = record["faults"][1:]


@pytest.mark.parametrize(
    ("why", "change", "told"),
    [
        ("absent", lambda one: one.pop("played_for"), "does not forfeit"),
        ("absent", lambda one: entry(one, "absent").update(why="faults"), "has 0 faults of 3"),
        ("absent", lambda one: entry(one, "absent").update(by="stand_in"), "is not what stand_in does"),
        ("absent", lambda one: entry(one, "absent").update(action=1), "was being played already"),
        ("absent", another_action, "played_for: the action is not what default_action does"),
        ("absent", with_time, "was asked after its forfeit"),
        ("absent", blame, "is not asked any more"),
        ("faults", lambda one: entry(one, "faults").update(why="absent"), "was being played already"),
        ("faults", lambda one: entry(one, "faults").update(action=0), "does not forfeit"),
        ("faults", lambda one: one["played_for"].remove(entry(one, "faults")), "does not forfeit"),
        ("faults", one_fault_fewer, "has 2 faults of 3"),
    ],
)
def test_played_for_when_altered_then_verify_finds_it(
    world: World, why: str, change: Callable[[Record], object], told: str
) -> None:
    lines = going_on(world, sessions=8, deals=4)
    assert told in problem(first_with(lines, why, change))


def check_deal(record: Record, **limits: object) -> str:
    """Check the forfeits of a session's only deal; return what is wrong."""
    given = {"faults": 3, **Limits().model_dump(), **limits}
    line = SessionLine(
        session=1,
        seating=(0, 1, 2, 3),
        points=(0, 0, 0, 0),
        faults=(0, 0, 0, 0),
        forfeit=None,
        forfeits=(),
        attempts=1,
        deals=1,
        digest="",
        signed=None,
    )
    with pytest.raises(Difference) as told:
        Forfeits(Export([]), LimitsLine.model_validate(given), line).add(
            "deal 1", {"deal": 1, "actions": ()} | record
        )
    return str(told.value)


GONE = {"seat": 2, "deal": 1, "action": 0, "why": "absent", "by": "default_action"}


@pytest.mark.parametrize(
    ("record", "limits", "told"),
    [
        ({"played_for": [GONE]}, {"on_forfeit": "stand_in"}, "by: is 'default_action'"),
        ({"played_for": [GONE]}, {"on_forfeit": "end_session"}, "by: is 'default_action'"),
        ({"played_for": [GONE | {"deal": 0}]}, {}, "deal: is 0"),
        ({"played_for": [GONE | {"seat": seat} for seat in range(4)]}, {}, "no bot is left"),
        ({"forfeit": 2, "absent": [2]}, {}, "the session should have gone on without seat 2"),
        ({"forfeit": 2, "faults": [{"seat": 2, "action": 0}]}, {"faults": 1}, "should have gone on"),
    ],
)
def test_forfeit_when_it_led_to_something_else_than_was_agreed_then_verify_finds_it(
    record: Record, limits: dict[str, object], told: str
) -> None:
    assert told in check_deal(record, **limits)


@pytest.mark.parametrize("seats", [[], [0, 1, 2, 3]])
def test_forfeits_of_a_session_when_altered_then_verify_finds_it(world: World, seats: list[int]) -> None:
    objects = [json.loads(line) for line in going_on(world)]
    next(one for one in objects if one.get("part") == "match")["sessions"][0]["forfeits"] = seats
    assert "forfeits: is" in problem(with_new_digests([json.dumps(one) for one in objects]))
