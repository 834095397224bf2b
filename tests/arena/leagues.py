"""A league whose weeks pass as fast as they are played, with a controlled clock and a function as referee."""

import json
from collections.abc import Generator, Mapping
from datetime import UTC, datetime, timedelta

from arena.bots.versions import register_version
from arena.leagues import applying, membership, overview
from arena.leagues.overview import LeagueShown, SeasonShown
from arena.leagues.seasons import advance_leagues
from arena.leagues.spec import LeagueSpec, make_league
from arena.play.matches.playing import Run
from arena.play.rounds.advance import running_tournaments
from referee.matches.match import MatchSpec, Progress, SessionResult
from tests.arena.fakes import ROOT
from tests.arena.world import SEED, World

START = datetime(2026, 1, 5, 18, tzinfo=UTC)
WEEK = timedelta(weeks=1)

WINTER: dict[str, object] = {
    "name": "winter",
    "start": START,
    "interval_hours": 168,
    "allow_same_owner": True,
    "tournament": {"format": "round-robin", "ruleset": "chinese", "rounds": 1, "sessions": 1, "deals": 1},
    "divisions": [
        {"name": "first", "size": 4},
        {"name": "second", "size": 4, "promoted": 1},
    ],
    "qualification": {"promoted": 1},
}
"""Two divisions of one table each, and a qualification."""


def winter(**fields: object) -> LeagueSpec:
    """Return the winter league with these fields changed, and without those that are None."""
    return make_league({key: value for key, value in (WINTER | fields).items() if value is not None})


def by_strength(strengths: Mapping[str, int]) -> Run:
    """Return a referee that gives the stronger bot more points, whatever its version."""

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        for session in spec.sessions:
            names = [spec.bots[position].name.partition("@")[0] for position in session.seating]
            points = [strengths[name] for name in names]
            record = json.dumps({"deal": 1, "points": points})
            yield SessionResult(session.number, tuple(points), None, (record,), (0,) * len(points))

    return run


class LeagueWorld:
    """A league, its bots by strength, and what the beat and the workers do."""

    def __init__(self, world: World, spec: LeagueSpec) -> None:
        self.world = world
        self.spec = spec
        self.strengths: dict[str, int] = {}
        world.clock.now = START - timedelta(days=1)
        applying.apply(world.storage, ROOT, spec, world.clock())

    def join(self, *bots: str) -> None:
        """Register a version of each of these bots, and let it join; a new bot is weaker than all others."""
        for bot in bots:
            self.register(bot)
            membership.join(self.world.storage, ROOT, self.spec.name, bot, self.world.clock())

    def register(self, bot: str) -> str:
        """Register a version of a bot, and return its name."""
        self.strengths.setdefault(bot, -len(self.strengths))
        return register_version(self.world.storage, ROOT, bot, self.world.clock()).bot

    def beat(self) -> None:
        """Do what the beat and the workers do until nothing changes any more at this time."""
        self.tick()
        for tournament_id in running_tournaments(self.world.storage):
            self.world.finish(tournament_id, by_strength(self.strengths))
        self.tick()

    def tick(self) -> None:
        """Advance the leagues once."""
        advance_leagues(self.world.storage, self.world.clock(), lambda: SEED)

    def week(self, number: int) -> SeasonShown:
        """Move to the start of a season, counted from 1, play it, and return its final state."""
        self.world.clock.now = START + (number - 1) * WEEK
        self.beat()
        return self.season()

    def show(self) -> LeagueShown:
        return overview.show(self.world.storage, self.spec.name, self.world.clock())

    def season(self) -> SeasonShown:
        """Return the latest season."""
        [season] = self.show().seasons
        return season


def members(season: SeasonShown) -> list[list[str]]:
    """Return the bots of each division in the order of its table."""
    return [[line.member for line in division.lines] for division in season.divisions]
