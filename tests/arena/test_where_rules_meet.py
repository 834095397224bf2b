"""What counts where two rules meet in a score: the cells of the table in docs/tournaments.md, each played."""

import json
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlmodel import col, select

from arena.errors import StateError
from arena.queries import scoreboard
from arena.queries.scoreboard import StandingLine
from arena.results.ratings.rebuild import rebuild
from arena.store.models import Round
from arena.tournaments import corrections, entry
from arena.tournaments.referees import nobody_asked
from arena.trust.exports.write import export_records
from referee.deals.session import Session as Deals
from referee.errors import RefereeUnavailable
from referee.matches.match import DealsFinished, MatchSpec, Progress, SessionResult, Update
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.exported import check, lines_of
from tests.arena.fakes import DECISION_KEY, ROOT, signed, timed_json
from tests.arena.random_play import finish_deal
from tests.arena.world import World

RULES = ("duplicate", "forfeit", "correction", "attempt", "late entry", "bye", "void attempt")

PAIRS = [*combinations(RULES, 2)]

MORE = 1000
"""The points that a correction adds."""


Record = dict[str, Any]


@dataclass
class Cup:
    """A Swiss tournament that was played under some of the rules; of two rounds if bots enter late.

    At table 1 of round 1 the bot of seat 0 forfeits session 1 in its second deal; an attempt ends after the
    first deal of session 1, another one before any deal; the bot of seat 1 gets points by correction.
    """

    world: World
    rules: tuple[str, ...]
    names: list[str]
    """All bots; those from the tenth on may enter late."""
    records: list[Record]
    lines: dict[str, StandingLine]
    byes: list[list[str]]
    """By round."""

    def of_match(self, **fields: int) -> list[Record]:
        """Return the deals of round 1, or those that ``fields`` name."""
        wanted = {"round": 1} | fields
        return [one for one in self.records if all(one[name] == value for name, value in wanted.items())]

    @property
    def table(self) -> list[str]:
        """The bots at table 1 of round 1, by seat in session 1."""
        return list(self.of_match(table=1, session=1)[0]["seats"])

    def adjust(self, bot: str, round: int, points: int = MORE) -> None:
        wanted = corrections.NewCorrection(bot, "points", "a fault", points=points, round=round, table=1)
        corrections.correct(self.world.storage, ROOT, "cup", wanted, self.world.clock(), DECISION_KEY)


def playing(rules: tuple[str, ...], fail_after: int | None = None) -> Callable[..., Generator[Update]]:
    """Return a referee that plays at random; with ``fail_after`` it fails after so many deals."""

    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        compiled = compile_ruleset(load_ruleset(spec.ruleset))
        for given in spec.sessions:
            session = Deals(compiled, given.seed, spec.deals, given.attempt)
            if given.after is not None:
                session.go_on(given.after.last, given.after.scores)
            records: list[str] = []
            forfeits = "forfeit" in rules and (spec.round, spec.table, given.number) == (1, 1, 1)
            while not session.over:
                deal = session.next_deal()
                finish_deal(deal, Random(f"{spec.table} {given.attempt}"))
                session.close_deal()
                record = json.loads(timed_json(deal, attempt=given.attempt))
                if forfeits and record["deal"] == 2:
                    record["played_for"] = [{"seat": 0, "deal": 2, "action": 0, "why": "faults"}]
                records.append(json.dumps(record))
                if fail_after is not None and len(records) > fail_after:
                    if fail_after:
                        yield DealsFinished(given.number, tuple(records[:-1]))
                    yield Progress(0, 1, ())
                    raise RefereeUnavailable("gone")
            faults, gone = (0,) * len(given.seating), (0,) if forfeits else ()
            result = SessionResult(
                given.number, tuple(session.scores), None, tuple(records), faults, forfeits=gone
            )
            yield signed(spec, given, result)

    return run


def play(world: World, *rules: str) -> Cup:
    names = world.register(13)
    count = 9 if "bye" in rules else 8
    fields: dict[str, Any] = {"format": "swiss", "sessions": 2, "ruleset": "choi-dai-di"}
    fields |= {"rounds": 2 if "late entry" in rules else 1, "duplicate": "duplicate" in rules}
    cup = world.tournament_of(names[:count], **fields)
    world.advance(cup.id)
    for fails, deals in (("void attempt", 0), ("attempt", 1)):
        if fails in rules:
            world.play(world.messages[0], playing(rules, deals))
            world.clock.move(60)
    for name in names[9:] if "late entry" in rules else ():
        entry.enter(world.storage, ROOT, "cup", name, world.clock(), nobody_asked)
    world.finish(cup.id, playing(rules))
    with world.storage.read() as tx:
        byes = tx.exec(select(Round.byes).order_by(col(Round.number))).all()
    records = [json.loads(line) for line in export_records(world.storage, "cup")]
    played = Cup(world, rules, names, records, {}, [[names[at - 1] for at in numbers] for numbers in byes])
    if "correction" in rules:
        played.adjust(played.table[1], 1)
    played.lines = {line.bot: line for line in scoreboard.standings(world.storage, "cup")}
    return played


def scores_of(cup: Cup, record: Record) -> list[float]:
    """Return by seat what a deal counts, by the words of docs/fairness.md."""
    if "duplicate" not in cup.rules:
        return list(record["points"])
    which = ("round", "session", "deal", "attempt")
    others = [
        one["points"]
        for one in cup.records
        if one is not record
        and "played_for" not in one
        and all(one.get(name, 1) == record.get(name, 1) for name in which)
    ]
    means = [sum(column) / len(others) for column in zip(*others, strict=True)] or [0.0] * 4
    beside = [own - mean for own, mean in zip(record["points"], means, strict=True)]
    if "played_for" in record:
        return [min(0.0, beside[0]), 0.0, 0.0, 0.0]
    return beside if others else [0.0] * 4


def check_standings(cup: Cup) -> None:
    """Compare points, match scores and forfeits of the standings with those that the deals come to."""
    matches: Mapping[tuple[int, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for record in cup.records:
        for bot, score in zip(record["seats"], scores_of(cup, record), strict=True):
            matches[record["round"], record["table"]][bot] += score
    if "correction" in cup.rules:
        matches[1, 1][cup.table[1]] += MORE
    points: dict[str, float] = defaultdict(float)
    scored: dict[str, float] = defaultdict(float)
    for place, found in matches.items():
        for bot, own in found.items():
            points[bot] += own
        if "forfeit" in cup.rules and place == (1, 1):
            found[cup.table[0]] -= 1e-3  # who forfeited a session is behind those with equal points
        for bot, own in found.items():
            scored[bot] += (
                sum((own - 1e-6 > other) + (own + 1e-6 > other) for other in found.values()) / 2 - 0.5
            )
    for name in chain.from_iterable(cup.byes):
        scored[name] += 1.5
    assert {name: line.points for name, line in cup.lines.items()} == pytest.approx(
        {name: points[name] for name in cup.lines}
    )
    assert {name: line.score for name, line in cup.lines.items()} == {
        name: scored[name] for name in cup.lines
    }
    lost = [cup.table[0]] if "forfeit" in cup.rules else []
    assert [name for name, line in cup.lines.items() if line.forfeits] == lost


def forfeits_of_all(cup: Cup) -> int:
    return sum(line.forfeits for line in cup.lines.values())


def attempts_at_table_1(cup: Cup) -> list[int]:
    return [one.get("attempt", 1) for one in cup.of_match(table=1)]


def cannot_be_adjusted(cup: Cup, bot: str, round: int) -> bool:
    with pytest.raises(StateError, match="has no finished match in round"):
        cup.adjust(bot, round)
    return True


CELLS: dict[tuple[str, str], Callable[[Cup], bool]] = {
    ("duplicate", "forfeit"): lambda cup: all(
        scores_of(cup, one)[1:] == [0, 0, 0] for one in cup.of_match(table=1, session=1, deal=2)
    ),
    ("duplicate", "correction"): lambda cup: (
        sum(line.points for line in cup.lines.values()) == pytest.approx(MORE)
    ),
    ("duplicate", "attempt"): lambda cup: (
        [any(scores_of(cup, one)) for one in cup.of_match(session=1)] == [True, False] * 2
    ),
    ("duplicate", "late entry"): lambda cup: (
        sum(cup.lines[name].points for name in cup.names[9:])
        == pytest.approx(
            sum(
                score
                for one in cup.of_match(round=2)
                for name, score in zip(one["seats"], scores_of(cup, one), strict=True)
                if name in cup.names[9:]
            )
        )
    ),
    ("duplicate", "bye"): lambda cup: sum(line.points for line in cup.lines.values()) == pytest.approx(0),
    ("duplicate", "void attempt"): lambda cup: (
        not any(any(scores_of(cup, one)) for one in cup.of_match(session=1))
    ),
    ("forfeit", "correction"): lambda cup: forfeits_of_all(cup) == 1,
    ("forfeit", "attempt"): lambda cup: (
        [("played_for" in one, one.get("attempt", 1)) for one in cup.of_match(table=1, session=1)]
        == [(False, 1), (True, 2)]
    ),
    ("forfeit", "late entry"): lambda cup: all(not cup.lines[name].forfeits for name in cup.names[9:]),
    ("forfeit", "bye"): lambda cup: forfeits_of_all(cup) == 1,
    ("forfeit", "void attempt"): lambda cup: forfeits_of_all(cup) == 1,
    ("correction", "attempt"): lambda cup: attempts_at_table_1(cup) == [1, 2, 2, 2],
    ("correction", "late entry"): lambda cup: cannot_be_adjusted(cup, cup.names[9], 1),
    ("correction", "bye"): lambda cup: cannot_be_adjusted(cup, cup.byes[0][0], 1),
    ("correction", "void attempt"): lambda cup: attempts_at_table_1(cup) == [2] * 4,
    ("attempt", "late entry"): lambda cup: not {*cup.names[9:]} & {*cup.table},
    ("attempt", "bye"): lambda cup: [len(names) for names in cup.byes] == [1],
    ("attempt", "void attempt"): lambda cup: attempts_at_table_1(cup) == [2, 3, 3, 3],
    ("late entry", "bye"): lambda cup: not {*cup.names[9:]} & {*cup.byes[0]},
    ("late entry", "void attempt"): lambda cup: not {*cup.names[9:]} & {*cup.table},
    ("bye", "void attempt"): lambda cup: [len(names) for names in cup.byes] == [1],
}


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_standings_where_two_rules_meet_are_what_the_table_says(world: World, pair: tuple[str, str]) -> None:
    cup = play(world, *pair)
    check_standings(cup)
    assert CELLS[pair](cup)
    assert rebuild(world.storage).problem is None
    if "forfeit" not in pair:  # what is played for a seat is random here, and signed all the same
        assert check(lines_of(world)).problem is None


def test_standings_where_all_rules_meet_are_what_the_deals_come_to(world: World) -> None:
    check_standings(play(world, *RULES))
    assert rebuild(world.storage).problem is None


def test_docs_have_each_pair_of_rules_that_is_played_here() -> None:
    text = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()
    _, _, section = text.partition("### Where two rules meet")
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert rows[1:] == [" and ".join(pair) for pair in PAIRS]
