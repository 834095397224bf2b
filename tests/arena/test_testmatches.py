"""Test matches: a bot against house bots immediately, with no organiser."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import col, select

from arena.actors import HOUSE, Actor, Role
from arena.bots.versions import HOUSE_BOTS, register_version
from arena.errors import NotAllowed, SpecError, StateError, UnknownError
from arena.people.accounts import create_account, sign_up
from arena.queries.highlights import HighlightQuery, find_deals
from arena.queries.matches import MatchQuery, find_matches
from arena.store.models import BotVersion, Entrant, HighlightKind
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import NO_REFEREE, Answer, Ask, nobody_asked
from arena.tournaments.testmatches import start_test_match
from referee.errors import RulesetError
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from tests.arena.cli import Result, make_arena
from tests.arena.fakes import ROOT
from tests.arena.running import running_arena
from tests.arena.world import World
from tests.waiting import wait_for

ANN = Actor(Role.AUTHOR, "ann", frozenset({"ann"}))


def connected(*version_ids: int, lacking: Mapping[int, tuple[str, ...]] = {}) -> Ask:
    """Stand in for a referee to which these versions are connected."""

    def ask(asked: Sequence[int], ruleset: Mapping[str, object] | None) -> list[Answer]:
        here = tuple(Presence(one in version_ids, 4, 0, lacking.get(one, ())) for one in asked)
        return [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, here))]

    return ask


def away(_asked: Sequence[int], _ruleset: Mapping[str, object] | None) -> list[Answer]:
    """Stand in for a referee at whose address nothing listens."""
    return [Answer("a:1", None, "cannot be reached: nothing listens there")]


@pytest.fixture
def house(world: World) -> World:
    """Register three house bots, with the ids 1 to 3, and after them ann/bot and ann/other."""
    for name in ("keeper", "greedy", "lowest"):
        register_version(world.storage, ROOT, f"{HOUSE}/{name}", world.clock())
    for name in ("bot", "other"):
        register_version(world.storage, ROOT, f"ann/{name}", world.clock())
    return world


def start(
    world: World, ask: Ask, bot: str = "ann/bot", ruleset: str = "chinese", against: Sequence[str] = ()
) -> TournamentStatus:
    return start_test_match(world.storage, ANN, bot, ruleset, world.clock(), ask, against)


def seated(world: World, status: TournamentStatus) -> list[str]:
    with world.storage.read() as tx:
        names = select(BotVersion.name).join(Entrant, col(Entrant.version_id) == BotVersion.id)
        return sorted(tx.exec(names.where(Entrant.tournament_id == status.id)))


def test_test_match_when_started_then_it_is_played_unrated_and_lists_leave_it_out(house: World) -> None:
    status = start(house, connected(1, 2, 3, 4))
    assert (status.state, status.rated, status.entrants, status.sessions) == ("running", False, 4, 4)
    house.finish(status.id)
    assert house.status(status.tournament).state == "finished"
    assert house.statuses() == []
    swings = HighlightQuery(HighlightKind.SWING)
    assert find_deals(house.storage, swings).deals == ()
    of_bot = find_deals(house.storage, replace(swings, bot="ann/bot")).deals
    assert {one.tournament for one in of_bot} == {status.tournament}
    for asked, listed in (
        (MatchQuery(), 0),
        (MatchQuery(faults=True), 0),
        (MatchQuery(ruleset="chinese"), 0),
        (MatchQuery(bot="ann/bot", tests=False), 0),
        (MatchQuery(bot="ann/bot"), 1),
        (MatchQuery(tournament=status.tournament), 1),
    ):
        assert len(find_matches(house.storage, asked).matches) == listed


def test_test_match_when_one_of_the_owner_is_open_then_a_second_has_to_wait(house: World) -> None:
    ask = connected(1, 2, 3, 4, 5)
    status = start(house, ask)
    with pytest.raises(StateError, match=f"the test match {status.tournament} of ann is still being played"):
        start(house, ask, "ann/other")
    house.finish(status.id)
    assert start(house, ask, "ann/other").state == "running"


def test_test_match_when_house_bots_are_named_then_they_sit_there(house: World) -> None:
    ask = connected(1, 2, 3, 4)
    status = start(house, ask, ruleset="chinese-2", against=["lowest"])
    assert seated(house, status) == ["ann/bot@1", f"{HOUSE}/lowest@1"]
    house.finish(status.id)
    status = start(house, ask, ruleset="chinese-3", against=["lowest", "lowest"])
    assert seated(house, status) == ["ann/bot@1", f"{HOUSE}/greedy@1", f"{HOUSE}/lowest@1"]


@pytest.mark.parametrize(
    ("against", "error", "words"),
    [
        (["lowst"], UnknownError, "no house bot 'lowst'; did you mean 'lowest'"),
        (["lowest"], StateError, f"{HOUSE}/lowest@1 is not connected to a referee"),
        (["keeper", "greedy"], StateError, "a table of chinese-2@1 has seats for 1 house bots, not 2"),
    ],
)
def test_test_match_when_a_named_house_bot_cannot_sit_there_then_it_is_said(
    house: World, against: Sequence[str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        start(house, connected(1, 2, 4), ruleset="chinese-2", against=against)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (nobody_asked, f"cannot determine whether ann/bot@1 is connected: {NO_REFEREE}"),
        (
            away,
            "cannot determine whether ann/bot@1 is connected: "
            "referee a:1 cannot be reached: nothing listens there",
        ),
        (connected(1, 2, 3), "ann/bot@1 is not connected to a referee"),
        (connected(1, 2, 4), "needs 3 house bots, and 2 are connected"),
        (connected(1, 2, 3, 4, lacking={3: ("draws",)}), "needs 3 house bots, and 2 are connected"),
        (
            connected(1, 2, 3, 4, lacking={4: ("draws",)}),
            "cannot play chinese@1: it asks for draws",
        ),
    ],
)
def test_test_match_when_somebody_is_missing_then_it_is_said_and_nothing_is_stored(
    house: World, ask: Ask, words: str
) -> None:
    with pytest.raises(StateError, match=words):
        start(house, ask)
    with house.storage.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM tournaments").scalar() == 0


def test_test_match_when_bot_or_ruleset_are_not_right_then_it_is_refused(house: World) -> None:
    ask = connected(1, 2, 3, 4)
    with pytest.raises(NotAllowed):
        start(house, ask, f"{HOUSE}/keeper")
    with pytest.raises(RulesetError):
        start(house, ask, ruleset="chines")
    with pytest.raises(UnknownError):
        start(house, ask, "ann/bott")


def test_house_when_somebody_wants_an_account_of_its_name_then_it_is_refused(world: World) -> None:
    with pytest.raises(SpecError, match="house bots"):
        sign_up(world.storage, HOUSE, "correct horse battery", world.clock(), None, open_to_all=True)
    with pytest.raises(SpecError, match="house bots"):
        create_account(world.storage, ROOT, HOUSE, Role.AUTHOR, world.clock())


def test_arena_when_it_is_up_then_a_connected_bot_plays_its_house_bots_and_new_baselines_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_arena(tmp_path / "arena", {"ann/bot": "greedy.py"}, house_bots=2) as running:
        for name, value in running.settings.environment().items():
            monkeypatch.setenv(name, value)
        arena = make_arena(running.settings.data, capsys)
        started: list[Result] = []
        assert arena("rating", "baseline", f"{HOUSE}/lowest").status == 0

        def start() -> bool:
            started.append(arena("bot", "test", "ann/bot", "--against", "lowest", "--json"))
            return started[-1].status == 0

        wait_for(start, seen=lambda: started[-1])
        name = started[-1].json["tournament"]
        running.wait(name, lambda status: status.ended)
        shown = arena("match", "show", name, "1", "1", "--json").json
    expected = {f"{HOUSE}/{bot}@1" for bot in (*HOUSE_BOTS[:2], "lowest")}
    assert {*shown["bots"]} == {"ann/bot@1", *expected}
    assert [session["faults"] for session in shown["sessions"]] == [[0, 0, 0, 0]] * 4
