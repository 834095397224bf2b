"""After the end: results are provisional until they are confirmed, and corrections are events."""

import json
from typing import Any

import pytest
from sqlmodel import select

from arena.core.canonical import decision_digest
from arena.core.corrections import Kind
from arena.errors import ArenaError, SpecError, StateError, TakenError
from arena.host.settings import Settings
from arena.play.rounds import planning
from arena.queries import scoreboard
from arena.queries.scoreboard import StandingLine
from arena.results.ratings.rebuild import rebuild
from arena.store.models import AuditEntry, RatingChange, TournamentEvent
from arena.tournaments import corrections, creation
from referee.signing import SigningKey
from tests.arena.cli import make_arena
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import DECISION_KEY as KEY
from tests.arena.fakes import ROOT
from tests.arena.world import World

SHORT: dict[str, Any] = {"sessions": 1, "deals": 2}


def play(world: World, count: int = 8, **fields: Any) -> list[StandingLine]:
    """Play a tournament to its end, and return its standings."""
    world.finish(world.tournament(count, **SHORT | fields).id, play_by_table)
    return scoreboard.standings(world.storage, "cup")


def correct(world: World, bot: str, kind: Kind, reason: str = "a reason", **match: int) -> None:
    wanted = corrections.NewCorrection(bot, kind, reason, **match)
    corrections.correct(world.storage, ROOT, "cup", wanted, world.clock(), KEY)


def disqualify(world: World, bot: str, reason: str = "two bots, one author") -> None:
    correct(world, bot, "disqualified", reason)


def adjust(world: World, bot: str, points: int, round: int = 1) -> None:
    correct(world, bot, "points", "a fault", points=points, round=round, table=1)


def confirm(world: World) -> None:
    corrections.confirm(world.storage, ROOT, "cup", world.clock(), KEY)


def shown(world: World) -> list[tuple[int, str]]:
    return [(one.rank, one.bot) for one in scoreboard.standings(world.storage, "cup")]


def exported(world: World) -> list[tuple[int, str]]:
    """Return the standings at the end of the export, which must be valid."""
    lines = lines_of(world)
    assert check(lines).problem is None
    return [(one["rank"], one["bot"]) for one in json.loads(lines[-1])["standings"]]


def test_bot_when_it_is_disqualified_then_it_stands_behind_all_others_who_close_up(world: World) -> None:
    before = [line.bot for line in play(world, format="swiss", rounds=2)]
    disqualify(world, before[0])
    disqualify(world, before[2].partition("@")[0])
    after = scoreboard.standings(world.storage, "cup")
    left = [name for name in before if name not in (before[0], before[2])]
    assert [line.bot for line in after] == [*left, before[0], before[2]]
    assert [line.rank for line in after[-2:]] == [7, 7]
    assert after[0].rank == 1
    assert [line.disqualified for line in after] == [False] * 6 + [True] * 2
    assert exported(world) == shown(world)
    found = scoreboard.scoreboard(world.storage, "cup")
    assert [(one.bot, one.correction, one.reason) for one in found.corrections] == [
        (name, "disqualified", "two bots, one author") for name in (before[0], before[2])
    ]
    assert [one.key for one in check(lines_of(world)).corrections] == [KEY.public] * 2


def test_bot_when_it_is_reinstated_then_the_standings_are_as_before(world: World) -> None:
    play(world)
    before = shown(world)
    disqualify(world, before[1][1])
    correct(world, before[1][1], "reinstated")
    assert shown(world) == before == exported(world)


@pytest.mark.parametrize(
    "fields",
    [
        {"format": "swiss", "rounds": 2},
        {"format": "knockout"},
        {"format": "round-robin", "rounds": 2, "duplicate": True, "deals": None, "sessions": 2},
    ],
    ids=lambda fields: fields["format"],
)
def test_points_of_a_match_when_they_are_adjusted_then_the_whole_match_counts_anew(
    world: World, fields: dict[str, Any]
) -> None:
    before = play(world, **fields)
    with world.storage.read() as tx:
        ratings = [(row.before, row.after) for row in tx.exec(select(RatingChange))]
    played = json.loads(next(line for line in lines_of(world) if '"part":"match"' in line))["bots"]
    last = min(played, key=lambda bot: next(one.points for one in before if one.bot == bot))
    adjust(world, last, 10_000)
    adjust(world, played[0], -1)
    old = {line.bot: line for line in before}
    new = {line.bot: line for line in scoreboard.standings(world.storage, "cup")}
    more = {name: new[name].points - old[name].points for name in new}
    expected = {last: 10_000, played[0]: -1} if last != played[0] else {last: 9_999}
    assert {name: points for name, points in more.items() if points} == pytest.approx(expected)
    total = sum(line.score for line in before)
    assert sum(line.score for line in new.values()) == total  # a match still has the same total to share
    assert new[last].wins - old[last].wins in (0, 1)
    assert [new[name].raw for name in new] == [old[name].raw for name in new]
    assert exported(world) == shown(world)
    with world.storage.read() as tx:
        assert [(row.before, row.after) for row in tx.exec(select(RatingChange))] == ratings
    assert rebuild(world.storage).problem is None


def test_correction_when_somebody_changes_it_then_the_export_is_wrong(world: World) -> None:
    before = play(world, format="swiss", rounds=1)
    disqualify(world, before[0].bot)
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if '"corrected"' in line)
    without = with_new_digests(lines[:at] + lines[at + 1 :])
    assert "standings.0.bot" in problem(without)
    for name, value, said in (
        ("reason", "another", "details.signed: the arena signed something else"),
        ("entrant", 2, "details.signed: the arena signed something else"),
        ("signed", None, "details.signed: must be an object, not null"),
        ("signed", {"digest": "", "signature": "", "key": KEY.public}, "the arena signed something else"),
    ):
        assert said in problem(changed(lines, at, **{name: value}))
    digest = json.loads(lines[at])["details"]["signed"] | {"signature": "00" * 64}
    assert "the signature is not that of the key" in problem(changed(lines, at, signed=digest))


def changed(lines: list[str], at: int, **details: object) -> list[str]:
    """Return an export with changed details of an event, and with digests recomputed to match."""
    part = json.loads(lines[at])
    part["details"] |= details
    return with_new_digests([*lines[:at], json.dumps(part), *lines[at + 1 :]])


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"correction": "hanged"}, "must be one of disqualified, reinstated, points, not 'hanged'"),
        ({"correction": "reinstated"}, "is not disqualified"),
        ({"entrant": 99}, "entrant 99 does not exist yet"),
        ({"entrant": "1"}, "details.entrant: must be a whole number from 1 on, not '1'"),
        ({"bot": "ann/a@1"}, "details.bot: is 'ann/a@1'"),
        ({"points": 3}, "points: does not belong to it"),
        ({"reason": None}, "details.reason: must be a text, not null"),
        ({"why": "late"}, "details.why: is not a field of these details"),
        ({"correction": "points", "round": 1, "points": 1}, "details.table: is missing"),
        (
            {"correction": "points", "round": 9, "table": 1, "points": 1},
            "entrant 1 has no finished match at round 9, table 1",
        ),
        (
            {"correction": "points", "round": 1, "table": 1, "points": 0},
            "points: is not 1 to 1000000000, up or down",
        ),
    ],
)
def test_correction_when_it_can_be_none_then_signing_it_does_not_help(
    world: World, details: dict[str, object], said: str
) -> None:
    play(world, 4, rounds=1)
    disqualify(world, "owner-0/bot-0")
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if '"corrected"' in line)
    part = json.loads(lines[at])
    part["details"] |= details
    digest = decision_digest("corrected", part["previous"], part["at"], part["details"])
    assert said in problem(changed(lines, at, **details, signed=KEY.sign(digest)._asdict()))


def test_decision_when_it_is_signed_by_another_key_than_the_head_names_then_it_is_none(world: World) -> None:
    play(world, 4, rounds=1)
    other = SigningKey.draw()
    wanted = corrections.NewCorrection("owner-0/bot-0", "disqualified", "late")
    with pytest.raises(StateError, match="the arena's key for decisions is not the one in its head"):
        corrections.correct(world.storage, ROOT, "cup", wanted, world.clock(), other)
    disqualify(world, "owner-0/bot-0")
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if '"corrected"' in line)
    part = json.loads(lines[at])
    digest = decision_digest("corrected", part["previous"], part["at"], part["details"])
    anew = changed(lines, at, signed=other.sign(digest)._asdict())
    assert "details.signed.key: is not the decision_key of the head" in problem(anew)


def test_results_when_they_are_to_be_confirmed_then_they_are_provisional_until_then(world: World) -> None:
    play(world, 4, rounds=1, confirm=True)
    assert (world.status().provisional, world.status().confirmed_at) == (True, None)
    assert scoreboard.scoreboard(world.storage, "cup").provisional
    assert (check(lines_of(world)).provisional, check(lines_of(world)).problem) == (True, None)
    disqualify(world, "owner-0/bot-0")
    confirm(world)
    assert (world.status().provisional, world.status().confirmed_at) == (False, world.clock())
    assert not scoreboard.scoreboard(world.storage, "cup").provisional
    assert (check(lines_of(world)).provisional, check(lines_of(world)).problem) == (False, None)
    for again in (confirm, lambda world: disqualify(world, "owner-1/bot-1")):
        with pytest.raises(StateError, match="the results of tournament cup are confirmed"):
            again(world)
    with world.storage.read() as tx:
        actions = list(tx.exec(select(AuditEntry.action).where(AuditEntry.subject == "cup")))
        events = list(tx.exec(select(TournamentEvent.kind)))
    assert actions[-2:] == ["tournament.correct", "tournament.confirm"]
    assert events[-2:] == ["corrected", "confirmed"]


def test_correction_when_it_follows_the_confirmation_then_the_export_is_wrong(world: World) -> None:
    play(world, 4, rounds=1, confirm=True)
    confirm(world)
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if '"confirmed"' in line)
    again = json.loads(lines[at]) | {"number": json.loads(lines[at])["number"] + 1}
    twice = with_new_digests([*lines[: at + 1], json.dumps(again), *lines[at + 1 :]])
    assert "event: confirmed in a tournament that is confirmed" in problem(twice)
    never = [json.loads(line) for line in lines]
    del next(one for one in never if one.get("part") == "tournament")["confirm"]
    wrong = "event: confirmed in a tournament whose results were not provisional"
    assert wrong in problem(with_new_digests([json.dumps(one) for one in never]))


def test_decision_when_the_tournament_has_not_ended_then_it_is_refused(world: World) -> None:
    world.tournament(4, confirm=True)
    for decide in (confirm, lambda world: disqualify(world, "owner-0/bot-0")):
        with pytest.raises(StateError, match="tournament cup is running; it must end first"):
            decide(world)


def test_results_when_they_are_not_provisional_then_they_need_not_be_confirmed(world: World) -> None:
    play(world, 4, rounds=1)
    with pytest.raises(StateError, match="the results of tournament cup are not provisional"):
        confirm(world)


def test_correction_when_it_makes_no_sense_then_one_line_says_why(world: World) -> None:
    play(world, 4, rounds=1)
    disqualify(world, "owner-0/bot-0")
    wrong: list[tuple[Any, type[ArenaError], str]] = [
        (lambda: disqualify(world, "ann/a"), StateError, "ann/a is not in tournament cup"),
        (lambda: disqualify(world, "owner-0/bot-0"), TakenError, "owner-0/bot-0@1 is disqualified already"),
        (lambda: disqualify(world, "owner-1/bot-1", " "), SpecError, "reason: must be one line"),
        (lambda: adjust(world, "owner-1/bot-1", 0), SpecError, "points: must be 1 to 1000000000"),
        (lambda: correct(world, "owner-1/bot-1", "points", round=1), SpecError, "table: is missing"),
        (
            lambda: correct(world, "owner-1/bot-1", "disqualified", table=1),
            SpecError,
            "table: belongs to the correction points alone",
        ),
        (lambda: adjust(world, "owner-1/bot-1", 5, 2), StateError, "no finished match in round 2 at table 1"),
        (
            lambda: correct(world, "owner-1/bot-1", "reinstated"),
            StateError,
            "owner-1/bot-1@1 is not disqualified",
        ),
    ]
    for decide, error, said in wrong:
        with pytest.raises(error, match=said):
            decide()


def test_tournament_when_it_was_cancelled_before_it_was_locked_then_it_has_no_results(world: World) -> None:
    creation.create(world.storage, ROOT, world.spec(world.register(4), confirm=True), world.clock())
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    with pytest.raises(StateError, match="tournament cup was never locked: it has no results"):
        confirm(world)


def test_command_when_results_are_corrected_and_confirmed_then_standings_say_so(
    world: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    play(world, 4, rounds=1, confirm=True)
    arena = make_arena(migrated.data, capsys)
    assert (
        "this is provisional until the organiser confirms it" in arena("tournament", "standings", "cup").out
    )
    call = ("tournament", "correct", "cup", "owner-0/bot-0", "--reason", "late")
    points = ("--points=-5", "--round", "1", "--table", "1")
    for options in ((), ("--disqualify", "--reinstate"), ("--points", "5"), ("--disqualify", "--round", "1")):
        assert arena(*call, *options).status
    said = arena(*call, "--disqualify").out
    assert said.startswith("owner-0/bot-0@1 is disqualified: late (event 3, ")
    arena(*call, *points)
    key = arena("tournament", "confirm", "cup", "--yes").out.split()[-1]
    shown = arena("tournament", "standings", "cup").out
    assert "owner-0/bot-0@1 (disqualified)" in shown
    assert "round 1, table 1: -5 points for owner-0/bot-0@1: late (event 4, " in shown
    assert "provisional" not in shown
    assert key in said
