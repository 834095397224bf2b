"""More of what an organiser can alter in a database, here that of an eventful tournament.

As in ``test_tampered_databases``, but all digests are recomputed, and sessions are signed again with the
referee's key.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from arena.host.settings import load_settings
from arena.store.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    RatingChange,
    Round,
    RoundState,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
    TournamentEvent,
    TournamentHead,
    TournamentState,
)
from arena.store.records import lean_records, pack_records
from arena.store.storage import Storage, Transaction
from arena.tournaments import entry
from arena.tournaments.referees import nobody_asked
from arena.trust.verify import unproven
from arena.trust.verify.report import ELSEWHERE
from tests.arena.databases import open_copy, open_new
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import ROOT, Clock
from tests.arena.resigning import sign_anew
from tests.arena.tampering import chain_anew
from tests.arena.test_attempts import play_whole, void_after
from tests.arena.test_tampered_databases import Tamper
from tests.arena.world import World

CUP = 2
"""The id of the tournament."""

Record = dict[str, Any]


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a Swiss of three rounds: an attempt is void, one bot withdraws, and one enters late."""
    folder = tmp_path_factory.mktemp("arena")
    with open_new(load_settings({"data": folder})) as storage:
        world = World(storage, Clock())
        names = world.register(10, owners=10)
        world.finish(world.tournament_of(names[:4], name="before", sessions=1, deals=1).id, play_by_table)
        cup = world.tournament_of(names[:9], format="swiss", rounds=3, sessions=2, deals=2)
        assert cup.id == CUP
        world.advance(CUP)
        world.play(world.messages[0], void_after(1))
        world.clock.move(60)
        entry.withdraw(storage, ROOT, "cup", names[0], world.clock())
        entry.enter(storage, ROOT, "cup", names[9], world.clock(), nobody_asked)
        world.finish(CUP, play_whole)
        assert check(lines_of(world)).problem is None
    return folder


@pytest.fixture
def copied(eventful: Path, tmp_path: Path) -> Iterator[Storage]:
    """Open a copy of the arena's database."""
    with open_copy(eventful, tmp_path / "copy") as storage:
        yield storage


def matches(tx: Transaction) -> Sequence[Match]:
    return tx.exec(select(Match).where(Match.tournament_id == CUP).order_by(col(Match.id))).all()


def rounds(tx: Transaction) -> Sequence[Round]:
    return tx.exec(select(Round).where(Round.tournament_id == CUP).order_by(col(Round.number))).all()


def sessions(tx: Transaction) -> Sequence[Session]:
    """Return the sessions of the first match, in which an attempt was void."""
    of_it = select(Session).where(Session.match_id == matches(tx)[0].id)
    return tx.exec(of_it.order_by(col(Session.number))).all()


def event(tx: Transaction, kind: str) -> TournamentEvent:
    of_it = (TournamentEvent.tournament_id == CUP, TournamentEvent.kind == kind)
    return tx.exec(select(TournamentEvent).where(*of_it)).one()


def entrant(tx: Transaction, number: int) -> Entrant:
    return tx.exec(select(Entrant).where(Entrant.tournament_id == CUP, Entrant.number == number)).one()


def rewrite(tx: Transaction, session: Session, change: Callable[[list[Record]], list[Record]]) -> None:
    """Alter a session's deals, and everything that is summed up from them."""
    records = change(lean_records(tx, session))
    tx.get_one(SessionRecords, session.id).records = pack_records([json.dumps(one) for one in records])
    session.deal_points = [one["points"] for one in records]
    before, session.points = session.points, [sum(one) for one in zip(*session.deal_points, strict=True)]
    for seat in tx.exec(select(Seat).where(Seat.match_id == session.match_id)):
        at = session.seating.index(seat.position)
        seat.points += session.points[at] - before[at]


def exchange(tx: Transaction, one: Any, other: Any, name: str) -> None:
    """Swap the values that two rows have in a column in which they must differ."""
    first, second = getattr(one, name), getattr(other, name)
    setattr(one, name, "x/x@9" if isinstance(first, str) else 99)
    tx.flush()
    setattr(other, name, first)
    tx.flush()
    setattr(one, name, second)


def exchange_what_two_sessions_were(tx: Transaction) -> None:
    one, two = sessions(tx)
    first, second = lean_records(tx, one), lean_records(tx, two)
    rewrite(tx, one, lambda _: second)
    rewrite(tx, two, lambda _: first)


def exchange_two_deals(tx: Transaction) -> None:
    rewrite(tx, sessions(tx)[0], lambda one: [{**one[1], "deal": 1}, {**one[0], "deal": 2}])


def drop_the_last_deal(tx: Transaction) -> None:
    rewrite(tx, sessions(tx)[0], lambda records: records[:-1])


def count_the_last_deal_twice(tx: Transaction) -> None:
    rewrite(tx, sessions(tx)[0], lambda records: [*records, {**records[-1], "deal": 3}])


def hide_an_attempt(tx: Transaction) -> None:
    matches(tx)[0].attempts = [1, 1]
    for session in sessions(tx):
        rewrite(tx, session, lambda records: [{**one, "attempt": 1} for one in records])
    event(tx, "void").kind = "key_added"
    event(tx, "key_added").details = {"referee": "mine", "key": "0" * 64}


def say_that_another_table_had_the_attempt(tx: Transaction) -> None:
    event(tx, "void").details = {**event(tx, "void").details, "table": 2}


def say_that_the_later_attempt_dealt_all(tx: Transaction) -> None:
    for session in sessions(tx):
        rewrite(tx, session, lambda records: [{**one, "attempt": 2} for one in records])


def invent_a_restored_backup(tx: Transaction) -> None:
    event(tx, "void").details, event(tx, "void").kind = {"attempts_above": 1}, "restored"


def withdraw_a_bot_later(tx: Transaction) -> None:
    entrant(tx, 1).withdrawn_after = 2
    event(tx, "withdrew").details = {**event(tx, "withdrew").details, "last_round": 2}


def let_a_late_bot_come_earlier(tx: Transaction) -> None:
    entrant(tx, 10).entered_at_round = 1
    event(tx, "entered").details = {**event(tx, "entered").details, "first_round": 1}


def have_a_bot_miss_a_round(tx: Transaction) -> None:
    entrant(tx, 2).absences = [[2, 2]]


def exchange_two_names(tx: Transaction) -> None:
    exchange(tx, tx.get_one(BotVersion, 2), tx.get_one(BotVersion, 3), "name")


def exchange_two_names_in_the_head_as_well(tx: Transaction) -> None:
    exchange_two_names(tx)
    locked = tx.get_one(TournamentHead, CUP)
    head: Any = locked.head
    entrants = [dict(one) for one in head["entrants"]]
    for name in ("bot", "owner"):
        entrants[1][name], entrants[2][name] = entrants[2][name], entrants[1][name]
    locked.head = {**head, "entrants": entrants}


def exchange_two_tables(tx: Transaction) -> None:
    one, two, *_ = matches(tx)
    exchange(tx, one, two, "table_number")


def exchange_two_rounds(tx: Transaction) -> None:
    one, two, *_ = rounds(tx)
    exchange(tx, one, two, "number")


def leave_a_round_open(tx: Transaction) -> None:
    rounds(tx)[-1].state = RoundState.OPEN


def leave_a_match_unfinished(tx: Transaction) -> None:
    matches(tx)[0].state = MatchState.RUNNING


def say_that_it_was_cancelled(tx: Transaction) -> None:
    tx.get_one(Tournament, CUP).state = TournamentState.CANCELLED


def play_under_another_ruleset(tx: Transaction) -> None:
    ruleset = tx.get_one(StoredRuleset, tx.get_one(Tournament, CUP).ruleset_id)
    ruleset.content = {**ruleset.content, "announce_at": 1}


def call_it_otherwise(tx: Transaction) -> None:
    locked = tx.get_one(TournamentHead, CUP)
    tx.get_one(Tournament, CUP).name, locked.head = "cap", {**locked.head, "tournament": "cap"}
    tx.get_one(Tournament, 1).name = "cup"
    tx.flush()


def forget_where_ratings_came_from(tx: Transaction) -> None:
    earlier = select(RatingChange).join(Match).where(Match.tournament_id == 1)
    for change in tx.exec(earlier).all():
        tx.delete(change)


def name_a_forfeit(tx: Transaction) -> None:
    sessions(tx)[0].forfeits = [0]


FOUND: tuple[Tamper, ...] = (
    *(exchange_what_two_sessions_were, exchange_two_deals, drop_the_last_deal, count_the_last_deal_twice),
    *(hide_an_attempt, say_that_another_table_had_the_attempt, say_that_the_later_attempt_dealt_all),
    *(invent_a_restored_backup, withdraw_a_bot_later, let_a_late_bot_come_earlier, have_a_bot_miss_a_round),
    *(exchange_two_names, exchange_two_names_in_the_head_as_well, exchange_two_tables, exchange_two_rounds),
    *(leave_a_round_open, leave_a_match_unfinished, say_that_it_was_cancelled, play_under_another_ruleset),
    *(forget_where_ratings_came_from, name_a_forfeit),
)


def altered(storage: Storage, tamper: Tamper) -> World:
    """Alter the database, recomputing all digests and signatures."""
    with storage.write() as tx:
        tamper(tx)
        tx.flush()
        chain_anew(tx, CUP)
        sign_anew(tx, tournament_id=CUP)
    return World(storage, Clock())


@pytest.mark.parametrize("tamper", FOUND, ids=lambda tamper: tamper.__name__)
def test_database_that_was_altered_is_found_in_its_export(copied: Storage, tamper: Tamper) -> None:
    assert check(lines_of(altered(copied, tamper))).problem is not None


def think_less(tx: Transaction) -> None:
    def quick(records: list[Record]) -> list[Record]:
        return [{**one, "ms": one["ms"].replace("5", "1")} for one in records]

    rewrite(tx, sessions(tx)[0], quick)


def wait_for_confirmation(tx: Transaction) -> None:
    tx.get_one(Tournament, CUP).confirm = True


def rate_others_in_between(tx: Transaction) -> None:
    for round in rounds(tx):
        assert round.rated_after is not None
        round.rated_after += 5


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (think_less, "how long bots thought"),
        (wait_for_confirmation, "provisional"),
        (
            rate_others_in_between,
            ELSEWHERE.format("before"),
        ),
    ],
)
def test_database_that_was_altered_where_nothing_follows_is_told_of(
    copied: Storage, tamper: Tamper, told: str
) -> None:
    report = check(lines_of(altered(copied, tamper)))
    assert report.problem is None
    assert report.provisional or any(told in line for line in unproven([report]))
