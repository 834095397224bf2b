"""Transactions in the middle of others, on a server, where nobody waits for a single writer."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel, select

from arena.bots.versions import register_version
from arena.errors import StateError, TakenError
from arena.leagues import applying, membership
from arena.leagues.seasons import start_season
from arena.play.matches.leases import claim, hand_back
from arena.play.rounds import planning
from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import (
    Entrant,
    EntryInvitation,
    EntryRequest,
    EntryState,
    League,
    Match,
    MatchState,
    Rating,
    Season,
    TournamentEvent,
)
from arena.store.storage import Storage
from arena.tournaments import entry
from arena.tournaments.referees import nobody_asked
from tests.arena.fakes import ROOT, Clock
from tests.arena.interleaving import once_at
from tests.arena.leagues import START, LeagueWorld, winter
from tests.arena.servers import Postgres
from tests.arena.world import LEASE, World
from tests.waiting import wait_for


@pytest.fixture
def world(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[World]:
    """Make an arena in a database of its own on the server."""
    with Storage(postgres.create_migrated(request.node.name[5:50])) as storage:
        yield World(storage, Clock())


def test_mending_when_a_round_closes_meanwhile_then_its_changes_stay(world: World) -> None:
    names = world.register(8)
    world.finish(world.tournament_of(names, name="one", rounds=1).id)
    late = world.tournament_of(names[4:], name="two", rounds=1).id
    with world.storage.write() as tx:
        tx.exec(select(Rating).where(Rating.version_id == 1)).one().value += 1  # who is not in two
    with once_at("sessions.deal_points", lambda: world.finish(late)):
        found = mend(world.storage, ROOT, world.clock())
    assert (found.problem, found.matches, found.mended) == (None, 2 + 1, 1)
    assert rebuild(world.storage).problem is None


def test_match_when_it_is_claimed_while_it_is_handed_out_then_no_message_is_noted(world: World) -> None:
    cup = world.tournament(4)
    world.advance(cup.id, at_once=0)

    def take() -> None:
        assert claim(world.storage, 1, world.clock(), LEASE)

    with once_at("UPDATE matches SET handed_out_at", take):
        world.advance(cup.id)
    with world.storage.read() as tx:
        match = tx.get_one(Match, 1)
        assert (match.state, match.handed_out_at) == (MatchState.RUNNING, None)
    assert world.messages == []


def test_bot_when_it_enters_again_twice_at_once_then_it_comes_back_once(world: World) -> None:
    names = world.register(9)
    cup = world.tournament_of(names, format="swiss", rounds=3)
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    world.advance(cup.id)
    enter = partial(entry.enter, world.storage, ROOT, "cup", names[0], world.clock(), nobody_asked)
    told = []
    with (
        once_at("UPDATE tournaments SET advanced_at", lambda: told.append(enter())),
        pytest.raises(TakenError, match="is in tournament cup already"),
    ):
        enter()
    assert told == [2]
    with world.storage.read() as tx:
        assert tx.exec(select(Entrant.absences).where(Entrant.number == 1)).one() == [[1, 1]]
        assert [event.kind for event in tx.exec(select(TournamentEvent))] == [
            "started",
            "withdrew",
            "entered",
        ]


def check_cancelled_while_void(world: World, postgres: Postgres, act: Callable[[], object]) -> None:
    """Check that a cancellation in the middle of ``act`` succeeds, and that then no void attempt is noted."""
    with ThreadPoolExecutor() as others:
        cancelled: list[Future[object]] = []

        def cancel() -> None:
            cancelled.append(others.submit(planning.cancel, world.storage, ROOT, "cup", world.clock()))
            wait_for(lambda: cancelled[0].done() or is_locked_out(postgres))

        with once_at("UPDATE tournaments SET commitment", cancel):
            act()
        cancelled[0].result()
    with world.storage.read() as tx:
        assert [event.kind for event in tx.exec(select(TournamentEvent))] == ["started", "cancelled"]


def test_claim_after_a_crash_when_cancelled_meanwhile_then_there_is_none(
    world: World, postgres: Postgres
) -> None:
    world.advance(world.tournament(4).id)
    assert claim(world.storage, 1, world.clock(), LEASE)
    world.clock.move(LEASE.total_seconds() + 1)

    def take() -> None:
        assert claim(world.storage, 1, world.clock(), LEASE) is None

    check_cancelled_while_void(world, postgres, take)


def test_hand_back_when_cancelled_meanwhile_then_nothing_is_noted(world: World, postgres: Postgres) -> None:
    world.advance(world.tournament(4).id)
    taken = claim(world.storage, 1, world.clock(), LEASE)
    assert taken
    check_cancelled_while_void(
        world, postgres, lambda: hand_back(world.storage, taken, world.clock(), "gone")
    )


def is_locked_out(postgres: Postgres) -> bool:
    """Return whether any transaction waits for a row that another one has locked."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    return postgres.sql(waiting).strip() != "0"


def test_season_when_it_starts_while_the_league_is_applied_then_it_starts_once(
    world: World, postgres: Postgres
) -> None:
    league = LeagueWorld(world, winter())
    league.join(*(f"owner-{number}/bot-{number}" for number in range(8)))
    with ThreadPoolExecutor() as others:
        starts: list[Future[bool]] = []

        def start() -> None:
            starts.append(others.submit(start_season, world.storage, 1, START))
            wait_for(lambda: starts[0].done() or is_locked_out(postgres))

        with once_at("UPDATE leagues SET spec", start):
            applying.apply(world.storage, ROOT, winter(interval_hours=24), START)
        assert starts[0].result()
    assert not start_season(world.storage, 1, START)
    check_seasons(world, START + timedelta(days=1))


def test_season_when_it_started_just_before_the_league_is_applied_then_it_is_not_due_again(
    world: World,
) -> None:
    league = LeagueWorld(world, winter())
    league.join(*(f"owner-{number}/bot-{number}" for number in range(8)))
    with once_at("FROM leagues", lambda: start_season(world.storage, 1, START)):
        applying.apply(world.storage, ROOT, winter(interval_hours=24), START)
    check_seasons(world, START + timedelta(days=1))


def test_bots_of_an_owner_when_they_join_at_once_then_only_as_many_as_the_league_allows(world: World) -> None:
    for bot in ("ann/a", "ann/b"):
        register_version(world.storage, ROOT, bot, world.clock())
    applying.apply(world.storage, ROOT, winter(versions_per_owner=1), world.clock())
    join = partial(membership.join, world.storage, ROOT, "winter", now=world.clock())
    with (
        once_at("FOR UPDATE", lambda: join("ann/b")),
        pytest.raises(StateError, match="league winter allows 1 per owner; in it already: ann/b"),
    ):
        join("ann/a")


@pytest.mark.parametrize("belongs", [{}, {"tournament_id": 1, "league_id": 1}])
@pytest.mark.parametrize("table", [EntryInvitation, EntryRequest])
def test_entries_when_they_belong_to_no_tournament_or_league_or_to_both_then_no_database_takes_them(
    world: World, storage: Storage, table: type[SQLModel], belongs: dict[str, int]
) -> None:
    now = world.clock()
    common = {"invited": "ann", "invited_by": "", "invited_at": now, "asked_by": "", "asked_at": now}
    values = {**common, "bot": "ann/a", "bot_id": 1, "state": EntryState.ASKED, **belongs}
    for database in (world.storage, storage):
        with pytest.raises(IntegrityError, match=f"ck_{table.__tablename__}_either"), database.write() as tx:
            tx.add(table(**{name: values[name] for name in values if name in table.model_fields}))


def check_seasons(world: World, next_at: datetime) -> None:
    """Check that there has been one season, and when the next one is due."""
    with world.storage.read() as tx:
        league = tx.get_one(League, 1)
        assert (league.seasons, league.next_at) == (1, next_at)
        assert len(tx.exec(select(Season)).all()) == 1
