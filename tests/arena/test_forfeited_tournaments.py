"""Whole tournaments with bots that are absent or fail at every table, in each format and mode, verified."""

import json
from datetime import timedelta
from itertools import product
from typing import get_args

import pytest
from sqlmodel import select

from arena.core.ranking import match_scores
from arena.play.rounds.advance import running_tournaments
from arena.queries import scoreboard
from arena.results.ratings.rebuild import rebuild
from arena.results.standings.counted import wrong_seats
from arena.results.standings.outcomes import outcomes
from arena.store.models import Entrant, EntrantSum, Seat, Tournament
from arena.tournaments.referees import nobody_asked
from arena.tournaments.roster import roster
from referee.deals.action import OnForfeit
from tests.arena.exported import check, lines_of
from tests.arena.leagues import WEEK, LeagueWorld, winter
from tests.arena.test_verify_forfeits import failing, played_with
from tests.arena.world import World
from tests.examples import some

FORMATS: dict[str, dict[str, object]] = {
    "round-robin": {},
    "swiss": {"rounds": 3},
    "gauntlet": {"rounds": 2},
    "knockout": {},
    "continuous": {"rounds": 2},
}
LIMITS = {"decision_ms": 5000, "join_seconds": 10, "faults": 3, "sessions": 4, "deals": 2}
MODES = get_args(OnForfeit)
in_formats = pytest.mark.parametrize(("format", "mode"), some([*product(FORMATS, MODES)], 2))


def forfeited(world: World, name: str) -> tuple[set[int], int]:
    """Verify a finished tournament; return which numbers of forfeits its sessions have, and their count."""
    lines = lines_of(world, name)
    assert check(lines).problem is None
    matches = [one for line in lines if (one := json.loads(line)).get("part") == "match"]
    sessions = [session for match in matches for session in match["sessions"]]
    return {len(one["forfeits"]) for one in sessions}, len(sessions)


@in_formats
def test_tournament_when_bots_forfeit_at_each_table_then_it_ends_and_is_right(
    world: World, format: str, mode: OnForfeit
) -> None:
    fields = LIMITS | FORMATS[format] | {"format": format, "on_forfeit": mode}
    world.finish(world.tournament(8, **fields).id, failing)
    assert world.status().state == "finished"
    each, sessions = forfeited(world, "cup")
    assert sessions == world.status().sessions_total > 0
    assert each == ({1} if mode == "end_session" else {2})
    standings = scoreboard.standings(world.storage, "cup")
    assert sum(line.forfeits for line in standings) == sessions * max(each)
    with world.storage.read() as tx:
        kept = dict(tx.exec(select(Entrant.number, EntrantSum.forfeits).join(EntrantSum)).all())
        [cup] = tx.exec(select(Tournament)).all()
        assert [*wrong_seats(tx, cup)] == []
        places = tx.exec(select(Seat.place)).all()
        assert None not in places
        assert len(places) == 4 * world.status().matches_total
    assert rebuild(world.storage).problem is None
    told = {line.entrant: line.forfeits for line in standings}
    assert {number: count for number, count in kept.items() if count} == {n: c for n, c in told.items() if c}
    entered = roster(world.storage, "cup", world.clock(), nobody_asked)
    assert {line.bot: line.forfeits for line in entered} == {line.bot: line.forfeits for line in standings}


@in_formats
def test_tournament_when_the_best_seeds_never_come_then_they_are_behind_all_who_play(
    world: World, format: str, mode: OnForfeit
) -> None:
    """Two of them sit at one table, where only one pays for the single session if it ends with that."""
    fields = LIMITS | FORMATS[format] | {"format": format, "on_forfeit": mode, "sessions": 1, "deals": 1}
    world.finish(world.tournament(8, **fields).id, played_with(lambda number: number > 3))
    assert check(lines_of(world)).problem is None
    played = scoreboard.standings(world.storage, "cup")
    with world.storage.read() as tx:
        ended = outcomes(tx, tx.exec(select(Tournament)).one())
    assert rebuild(world.storage).problem is None
    for match in ended:
        scores = match_scores(match.merits)
        gone = [scores[entrant] for entrant in scores if entrant <= 3]
        assert max(gone, default=-1) < min(scores[entrant] for entrant in scores if entrant > 3)
    if format == "knockout":
        assert {1, 2, 3}.isdisjoint(ended[-1].points)
    assert not any(line.wins for line in played if line.entrant <= 3)


@pytest.mark.parametrize("mode", MODES)
def test_league_when_bots_forfeit_at_each_table_then_its_seasons_go_on_and_are_right(
    world: World, mode: OnForfeit
) -> None:
    tournament = {"format": "swiss", "ruleset": "chinese", "rounds": 2, "on_forfeit": mode, **LIMITS}
    league = LeagueWorld(world, winter(tournament=tournament))
    league.join(*(f"owner-{number}/bot" for number in range(12)))
    for season in (1, 2):
        world.clock.now += timedelta(days=1) if season == 1 else WEEK
        league.tick()
        for tournament_id in running_tournaments(world.storage):
            world.finish(tournament_id, failing)
        league.tick()
        for division in ("first", "second", "qualification"):
            each, sessions = forfeited(world, f"winter-{season}-{division}")
            assert sessions == 8
            assert each == ({1} if mode == "end_session" else {2})
