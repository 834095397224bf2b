"""What a season made in bulk lacks, for ``benchmarks.pages``: real deals, a bracket and a league."""

from datetime import datetime

from arena.actors import Role
from arena.people import accounts, browsers
from arena.store.storage import Storage
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT, Clock
from tests.arena.leagues import LeagueWorld, winter
from tests.arena.world import World

PASSWORD = "correct horse battery"
WEEKS = 6
MEMBERS = 10


def exhibit(storage: Storage, bots: list[str], now: datetime) -> str:
    """Play some tournaments of these bots and a league; return the cookie of a signed-in operator."""
    world = World(storage, Clock())
    league = LeagueWorld(world, winter())
    league.join(*(f"member-{number}/bot" for number in range(MEMBERS)))
    for week in range(1, WEEKS + 1):
        league.week(week)
    world.clock.now = now
    same = world.tournament_of(bots, name="same-cards", format="swiss", rounds=1, deals=1, duplicate=True)
    world.finish(same.id, play_by_table)
    bracket = world.tournament_of(bots, name="bracket", format="knockout", sessions=1, deals=1)
    world.finish(bracket.id, play_by_table)
    flow = world.tournament_of(bots, name="flow", format="continuous", sessions=1, deals=1)
    world.advance(flow.id)
    for match in world.messages[:]:
        world.play(match, play_by_table)
    accounts.create_account(storage, ROOT, "reader", Role.OPERATOR, now, PASSWORD)
    cookie, _ = browsers.sign_in(storage, "reader", PASSWORD, now)
    return cookie
