"""Standings that are computed once for all readers."""

from threading import Thread

import pytest
from fastapi.testclient import TestClient

from arena.core.luck import LuckLine, luck_told, share_told
from arena.errors import UnknownError
from arena.tournaments.corrections import NewCorrection, correct
from arena.web.cache import Computed, Rule
from arena.web.pages.tournaments import place_of
from arena.web.readings import STANDINGS, Readings
from tests.arena.fakes import DECISION_KEY, ROOT
from tests.arena.random_play import play_randomly
from tests.arena.test_luck import weigh
from tests.arena.web.markup import Read
from tests.arena.web.test_pages import client as client
from tests.arena.world import World


class Watch:
    """A clock that advances by one step whenever it is read."""

    def __init__(self, step: float) -> None:
        self.at, self.step = 0.0, step

    def __call__(self) -> float:
        self.at += self.step
        return self.at


def test_standings_when_nothing_has_changed_then_they_are_not_worked_out_again(world: World) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    readings = Readings(world.storage, Watch(1.0))
    first = readings.standings(world.status("cup"))
    assert readings.standings(world.status("cup")) is first


def test_standings_when_more_was_played_then_they_are_older_only_where_they_take_long(world: World) -> None:
    cup = world.tournament(4, rounds=2)
    quick, slow = Readings(world.storage, Watch(0.0)), Readings(world.storage, Watch(1.0))
    before = [one.standings(world.status("cup")) for one in (quick, slow)]
    world.advance(cup.id)
    world.play(world.match_ids()[0], play_randomly)
    assert quick.standings(world.status("cup")) is not before[0]
    assert slow.standings(world.status("cup")) is before[1]


def test_standings_when_they_take_long_and_are_older_then_a_reader_does_not_wait_for_newer_ones(
    world: World,
) -> None:
    cup = world.tournament(4, rounds=2)
    watch = Watch(1.0)
    readings = Readings(world.storage, watch)
    before = readings.standings(world.status("cup"))
    world.advance(cup.id)
    world.play(world.match_ids()[0], play_randomly)
    watch.at += STANDINGS.share * 2
    assert readings.standings(world.status("cup")) is before
    readings.wait()
    after = readings.standings(world.status("cup"))
    assert sum(line.deals for line in after.standings) > 0
    world.finish(cup.id, play_randomly)
    watch.at += STANDINGS.oldest
    assert sum(line.matches for line in readings.standings(world.status("cup")).standings) == 8


def test_reading_when_another_reader_is_computing_it_then_it_is_waited_for_and_a_failure_is_not_shared() -> (
    None
):
    cache: Computed[int] = Computed(Rule(most=1))
    found: list[int] = []
    other = Thread(target=lambda: found.append(cache.get("key", lambda: 2)))

    def compute() -> int:
        other.start()
        return 1

    assert cache.get("key", compute) == 1
    other.join()
    assert found == [1]
    failing = Thread(target=lambda: found.append(cache.get("another key", lambda: 3)))

    def fail() -> int:
        failing.start()
        raise UnknownError("no cup")

    with pytest.raises(UnknownError):
        cache.get("another key", fail)
    failing.join()
    assert found == [1, 3]
    assert cache.get("key", lambda: 4) == 4  # only one is kept


def test_standings_when_a_tournament_is_large_then_they_are_computed_ahead(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.readings.MANY", 4)
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    watch = Watch(1.0)
    readings = Readings(world.storage, watch)
    readings.prepare()
    before = watch.at
    readings.standings(world.status("cup"))
    assert watch.at == before + 1.0  # a look at the cache; computing takes two more


def test_standings_when_the_organiser_decides_then_they_are_worked_out_at_once(world: World) -> None:
    world.finish(world.tournament(4, rounds=1, confirm=True).id, play_randomly)
    readings = Readings(world.storage, Watch(1.0))
    first = readings.standings(world.status("cup")).standings[0].bot
    wanted = NewCorrection(first, "disqualified", "late")
    correct(world.storage, ROOT, "cup", wanted, world.clock(), DECISION_KEY)
    assert readings.standings(world.status("cup")).standings[-1].bot == first


def test_standings_when_it_is_known_what_cards_were_worth_then_luck_is_beside_them(
    world: World, client: TestClient
) -> None:
    world.finish(world.tournament(4, rounds=2, sessions=4, deals=8).id, play_randomly)
    standings, bot = "/api/v1/tournaments/cup/standings", "/api/v1/bots/owner-0/bot-0"
    assert {line["luck"] for line in client.get(standings).json()["standings"]} == {None}
    assert "Its luck" not in client.get("/tournaments/cup").text
    weigh(world)
    lines = client.get(standings).json()["standings"]
    first = lines[0]["luck"]
    assert first["deals"] == lines[0]["deals"] == 64
    average = sum(line["points"] for line in lines) / 4
    assert first["points"] == pytest.approx((lines[0]["points"] - average) / 64)
    assert first["made"] == pytest.approx(first["points"] - first["expected"])
    shown = Read(client.get("/tournaments/cup").text).text
    assert f"Its luck: {luck_told(LuckLine(**first))}." in shown
    assert "Neither decides anything." in shown
    told = share_told([LuckLine(**line["luck"]) for line in lines])
    assert told is not None  # bots that play at random make little of good cards
    assert told in shown
    [own] = client.get(bot).json()["pools"]
    [in_cup] = [line["luck"] for line in lines if line["bot"] == own["bot"]]
    assert own["luck"] == in_cup
    assert f"{luck_told(LuckLine(**in_cup))}." in Read(client.get("/bots/owner-0/bot-0").text).text


def test_bot_when_its_place_is_asked_for_then_its_line_is_marked(world: World, client: TestClient) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    board = Readings(world.storage).standings(world.status("cup"))
    last = board.standings[-1].bot
    assert [place_of(board, one) for one in (last, last.partition("@")[0].upper(), "no/body")] == [3, 3, None]
    assert "aria-current" in Read(client.get(f"/tournaments/cup?around={last}").text).attributes
