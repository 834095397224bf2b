"""Notable deals on pages: looked up once, and again after a bot's next match."""

from arena.queries.highlights import notable_deals
from arena.queries.profiles import profile
from arena.store.storage import Storage
from arena.web.readings import DEALS, Readings
from tests.arena.exported import play_by_table
from tests.arena.world import World


def test_deals_of_a_bot_when_it_played_again_or_a_minute_is_over_then_they_are_looked_up_anew(
    world: World,
) -> None:
    names = world.register(4, owners=4)
    seconds = 0.0
    readings = Readings(world.storage, lambda: seconds)

    def told() -> object:
        return readings.deals_of_bot(names[0], profile(world.storage, names[0]).matches)

    assert told() == ()
    world.finish(world.tournament_of(names, name="one", rounds=1).id, play_by_table)
    first = told()
    assert first == notable_deals(world.storage, names[0], 2) != ()
    assert told() is first
    world.finish(world.tournament_of(names, name="two", rounds=1).id, play_by_table)
    assert (second := told()) == notable_deals(world.storage, names[0], 2) is not first
    seconds = DEALS.seconds
    assert told() == second
    assert told() is not second


def test_deals_of_a_tournament_when_it_still_runs_then_none_are_shown(world: World, storage: Storage) -> None:
    cup = world.tournament(4, rounds=1)
    readings = Readings(storage)
    assert readings.deals_of_tournament(world.status("cup")) == ()
    world.finish(cup.id, play_by_table)
    found = readings.deals_of_tournament(world.status("cup"))
    places = [(line.round, line.table, line.session, line.deal) for line in found]
    assert places
    assert len(set(places)) == len(places)
    assert readings.deals_of_tournament(world.status("cup")) is found
