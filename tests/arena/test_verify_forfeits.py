"""Who forfeits when bots are absent, or when the time of a match is up: in exports, and verified."""

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest

from arena.errors import SpecError
from referee.matches.match import MatchSpec, SessionResult
from tests.arena.exported import check, lines_of, problem, signed_again
from tests.arena.world import World
from tests.referee.harness import Harness
from tests.referee.test_shares import play_slowly

Record = dict[str, Any]


def played_with(
    here: Callable[[int], bool] = lambda number: True, **thinks: float
) -> Callable[[int, MatchSpec], Generator[SessionResult]]:
    """Play at a referee with some of a match's bots; ``_1=0.5`` makes the second think half a second."""

    def run(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
        harness = Harness()
        bots = [harness.connect(bot.version_id, 2) for bot in spec.bots if here(bot.version_id)]
        seconds = {number: thinks.get(f"_{number}", 0.002) for number in range(1, 5)}
        yield from play_slowly(harness, harness.open(spec), bots, seconds)

    return run


def finished(
    world: World, run: Callable[[int, MatchSpec], Generator[SessionResult]], **fields: object
) -> None:
    limits = {"decision_ms": 5000, "join_seconds": 2, "sessions": 6, "deals": 2}
    world.finish(world.tournament(4, **limits | fields).id, run)


def absent(world: World) -> list[str]:
    """Export a tournament whose last two bots never came."""
    finished(world, played_with(lambda number: number < 3))
    return lines_of(world)


def overrun(world: World) -> list[str]:
    """Export a tournament whose match took too long because of its second bot."""
    finished(world, played_with(_2=0.6), match_seconds=30)
    return lines_of(world)


def with_records(lines: list[str], change: Callable[[Record], object]) -> list[str]:
    """Change all records that are forfeits, and recompute all digests."""
    objects = [json.loads(line) for line in lines]
    forfeits = [one for one in objects if "forfeit" in one and "part" not in one]
    assert forfeits
    for one in forfeits:
        change(one)
    return signed_again([json.dumps(one) for one in objects])


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
        (
            set_field("used_ms", lambda record: [ms + record["session"] for ms in record["used_ms"]]),
            "used_ms",
        ),
        (set_field("absent", lambda record: [record["forfeit"]]), "more than one reason"),
    ],
)
def test_time_of_a_match_when_altered_then_verify_finds_it(
    world: World, change: Callable[[Record], object], told: str
) -> None:
    assert told in problem(with_records(overrun(world), change))


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
