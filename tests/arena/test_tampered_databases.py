"""An organiser who alters the database, in Python and SQL, and what ``arena verify`` finds in the export.

Nothing here alters a file: exports are written from the altered rows, so all their digests are valid.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update
from sqlmodel import col, select

from arena.bots.versions import find_versions
from arena.host.settings import load_settings
from arena.store.models import (
    Encounter,
    Entrant,
    EntrantSum,
    Match,
    RatingChange,
    Round,
    Seat,
    Session,
    SessionRecords,
    Tournament,
    TournamentEvent,
    TournamentHead,
)
from arena.store.records import lean_records, pack_records
from arena.store.storage import Storage, Transaction
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from arena.trust.verify import check_links
from referee.signing import SigningKey
from tests.arena.databases import open_copy, open_new
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import ROOT, Clock
from tests.arena.resigning import sign_anew
from tests.arena.tampering import chain_anew, drop_session
from tests.arena.world import SEED, World
from tests.referee.key import KEY

Tamper = Callable[[Transaction], None]

SIGNED = "round 1, table 1, session 1: signed"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a tournament in an arena's folder: nine of ten bots, two rounds of two tables."""
    folder = tmp_path_factory.mktemp("arena")
    with open_new(load_settings({"data": folder})) as storage:
        world = World(storage, Clock())
        names = world.register(10, owners=10)
        cup = world.tournament_of(names[:9], format="swiss", rounds=2, sessions=2, deals=1)
        world.finish(cup.id, play_by_table)
    return folder


@pytest.fixture
def copied(played: Path, tmp_path: Path) -> Iterator[Storage]:
    """Open a copy of the arena's database."""
    with open_copy(played, tmp_path / "copy") as storage:
        yield storage


def found_in(storage: Storage) -> str | None:
    """Return what verify finds in the tournament's export."""
    return check(lines_of(World(storage, Clock()))).problem


def round_two(tx: Transaction) -> Round:
    return tx.exec(select(Round).where(Round.number == 2)).one()


def seats_of(tx: Transaction, round: int, table: int) -> list[Seat]:
    match = select(Match.id).join(Round).where(Round.number == round, Match.table_number == table)
    return list(
        tx.exec(select(Seat).where(Seat.match_id == tx.exec(match).one()).order_by(col(Seat.position)))
    )


def drop_match(tx: Transaction, match: Match) -> None:
    for session in tx.exec(select(Session).where(Session.match_id == match.id)):
        drop_session(tx, session)
    for kind in (RatingChange, Seat):
        for row in tx.exec(select(kind).where(kind.match_id == match.id)):
            tx.delete(row)
        tx.flush()
    tx.delete(match)
    tx.flush()


def reverse_seating(tx: Transaction) -> None:
    session = tx.get_one(Session, 1)
    session.seating = session.seating[::-1]


def leave_a_match_out(tx: Transaction) -> None:
    seats = seats_of(tx, 2, 2)
    numbers = [tx.get_one(Entrant, seat.entrant_id).number for seat in seats]
    drop_match(tx, tx.get_one(Match, seats[0].match_id))
    round_two(tx).byes = [*round_two(tx).byes, *numbers]


def invent_an_entrant(tx: Transaction) -> None:
    [version] = find_versions(tx, ["owner-9/bot-9"], None)
    tx.add(Entrant(tournament_id=1, version_id=version.id, number=10))


def exchange_bots(tx: Transaction) -> None:
    one, two = seats_of(tx, 2, 1)[0], seats_of(tx, 2, 2)[0]
    first, second = one.entrant_id, two.entrant_id
    one.entrant_id, two.entrant_id = second, first


def invent_a_bye(tx: Transaction) -> None:
    round_two(tx).byes = []


def exchange_numbers(tx: Transaction) -> None:
    one, two = tx.get_one(Entrant, 1), tx.get_one(Entrant, 2)
    one.number = 99
    tx.flush()
    two.number = 1
    tx.flush()
    one.number = 2


def drop_a_round(tx: Transaction) -> None:
    for table in (1, 2):
        drop_match(tx, tx.get_one(Match, seats_of(tx, 2, table)[0].match_id))
    tx.delete(round_two(tx))
    tx.get_one(Tournament, 1).rounds = 1
    event = tx.exec(select(TournamentEvent).where(TournamentEvent.kind == "finished")).one()
    event.details = {"rounds": 1}
    chain_anew(tx)


def change_head(**changed: object) -> Tamper:
    def change(tx: Transaction) -> None:
        locked = tx.get_one(TournamentHead, 1)
        locked.head = {**locked.head, **changed}
        chain_anew(tx)

    return change


def change_limits(tx: Transaction) -> None:
    head = tx.get_one(TournamentHead, 1).head
    change_head(limits={**head["limits"], "faults": 3})(tx)  # type: ignore[dict-item]


def change_seed(tx: Transaction) -> None:
    tx.get_one(Tournament, 1).seed = "00" * 32


def change_seed_and_hash(tx: Transaction) -> None:
    change_seed(tx)
    change_head(seed_hash="66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925")(tx)


def invent_a_beacon(tx: Transaction) -> None:
    tx.get_one(Tournament, 1).beacon_value = "0042"


def raise_a_rating(tx: Transaction) -> None:
    tx.get_one(RatingChange, 1).before += 100


def rate_twice(tx: Transaction) -> None:
    for seat in seats_of(tx, 1, 1):
        change = tx.exec(select(RatingChange).where(RatingChange.seat_id == seat.id)).one()
        change.after += change.after - change.before


def rate_out_of_turn(tx: Transaction) -> None:
    round_two(tx).rated_after = 0


def withdraw_a_bot(tx: Transaction) -> None:
    tx.get_one(Entrant, 1).withdrawn_after = 1


def move_points(tx: Transaction) -> None:
    session = tx.get_one(Session, 1)
    session.points = [session.points[0] + 5, session.points[1] - 5, *session.points[2:]]
    for seat in tx.exec(select(Seat).where(Seat.match_id == session.match_id)):
        seat.points += {session.seating[0]: 5, session.seating[1]: -5}.get(seat.position, 0)


def drop_an_event(tx: Transaction) -> None:
    tx.delete(tx.exec(select(TournamentEvent).where(TournamentEvent.kind == "started")).one())


def change_an_event(tx: Transaction) -> None:
    tx.exec(select(TournamentEvent).where(TournamentEvent.kind == "started")).one().details = {"why": "x"}


def blame(place: Callable[[Mapping[str, Any]], tuple[int, int]]) -> Tamper:
    """Return a change that adds a fault to the first deal, where ``place`` says, and counts it everywhere."""

    def change(tx: Transaction) -> None:
        session = tx.get_one(Session, 1)
        [record] = lean_records(tx, session)
        action, seat = place(record)
        record["faults"] = [{"action": action, "seat": seat, "kind": "timeout"}]
        tx.get_one(SessionRecords, session.id).records = pack_records([json.dumps(record)])
        session.faults = [int(one == seat) for one in range(4)]
        for row in tx.exec(select(Seat).where(Seat.match_id == session.match_id)):
            row.faults = int(row.position == session.seating[seat])

    return change


def seat_that_did_not_act(record: Mapping[str, Any]) -> tuple[int, int]:
    return 0, (int(record["actions"][0][0]) + 1) % 4


def seat_that_played(record: Mapping[str, Any]) -> tuple[int, int]:
    actions = record["actions"]
    at = next(at for at, action in enumerate(actions[1:], start=1) if "-" not in action)
    at = next((at for at in range(at, len(actions)) if " " in actions[at] and "-" not in actions[at]), at)
    return at, int(actions[at][0])


def seat_that_passed(record: Mapping[str, Any]) -> tuple[int, int]:
    """Return where a bot passed that could have played."""
    decisions = enumerate(zip(record["actions"], record["ms"].split(), strict=True))
    return next((at, int(action[0])) for at, (action, ms) in decisions if action.endswith("-") and ms != "-")


def invent_a_forfeit(tx: Transaction) -> None:
    tx.get_one(Session, 1).forfeit = 0


FOUND: dict[str, Tamper] = {
    tamper.__name__: tamper
    for tamper in (
        *(
            reverse_seating,
            leave_a_match_out,
            invent_an_entrant,
            exchange_bots,
            invent_a_bye,
            exchange_numbers,
        ),
        *(drop_a_round, change_limits, change_seed, change_seed_and_hash, invent_a_beacon, raise_a_rating),
        *(rate_twice, rate_out_of_turn, withdraw_a_bot, move_points, drop_an_event, change_an_event),
        invent_a_forfeit,
    )
} | {
    "blame_a_seat_that_did_not_act": blame(seat_that_did_not_act),
    "blame_a_seat_that_played": blame(seat_that_played),
    "allow_more_rounds": change_head(rounds=3),
    "let_owners_meet": change_head(allow_same_owner=False),
}
"""Changes that verify finds on its own, whether or not digests are recomputed."""


@pytest.mark.parametrize("name", FOUND)
def test_database_that_was_altered_is_found_in_its_export(copied: Storage, name: str) -> None:
    assert found_in(copied) is None
    with copied.write() as tx:
        FOUND[name](tx)
        sign_anew(tx)
    assert found_in(copied) is not None


def test_fault_blamed_on_a_bot_that_passed_by_itself_is_found_unless_signed_anew(copied: Storage) -> None:
    with copied.write() as tx:
        blame(seat_that_passed)(tx)
    assert found_in(copied) == f"line 7: {SIGNED}: the referee signed another result, or other deals"
    with copied.write() as tx:
        sign_anew(tx)
    assert found_in(copied) is None


def with_another_key(tx: Transaction) -> None:
    sign_anew(tx, SigningKey.draw())


def with_another_key_in_its_name(tx: Transaction) -> None:
    sign_anew(tx, SigningKey.draw())
    for session in tx.exec(select(Session)):
        session.signed = {**(session.signed or {}), "key": KEY.public}


def as_another_session(tx: Transaction) -> None:
    tx.get_one(Session, 1).signed = tx.get_one(Session, 2).signed


def not_at_all(tx: Transaction) -> None:
    tx.get_one(Session, 1).signed = None


@pytest.mark.parametrize(
    ("sign", "why"),
    [
        (with_another_key, "by a key that neither the head nor an event names"),
        (with_another_key_in_its_name, "the signature is not that of the key"),
        (as_another_session, "the referee signed another result, or other deals"),
        (not_at_all, "no referee has signed it"),
    ],
)
def test_session_that_is_signed_wrongly_is_named(copied: Storage, sign: Tamper, why: str) -> None:
    with copied.write() as tx:
        sign(tx)
    assert found_in(copied) == f"line 7: {SIGNED}: {why}"


def stop_early(tx: Transaction) -> None:
    """Drop a round, and pretend that the tournament was stopped before it."""
    drop_a_round(tx)
    finished = tx.exec(select(TournamentEvent).where(TournamentEvent.kind == "finished")).one()
    finished.number = 3
    tx.flush()
    tx.add(
        TournamentEvent(
            tournament_id=1, number=2, at=finished.at, kind="stopped", details={"rounds": 1}, digest=""
        )
    )
    tx.flush()
    chain_anew(tx)


def test_round_dropped_with_an_invented_stop_is_not_found_but_told(copied: Storage) -> None:
    with copied.write() as tx:
        stop_early(tx)
        for table in (EntrantSum, Encounter):  # or else the standings of the export would show it
            tx.exec(delete(table))
        tx.exec(update(Round).values(summed=False))
    assert found_in(copied) is None
    assert any('"stopped"' in line for line in lines_of(World(copied, Clock())))


def test_two_tournaments_of_one_seed_are_found_when_both_exports_are_given(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two"):
        spec = world.spec(names, name=name, sessions=1, deals=1)
        creation.create(world.storage, ROOT, spec, world.clock(), SEED)
        world.finish(
            lifecycle.start(world.storage, ROOT, name, world.clock(), nobody_asked).id, play_by_table
        )
    reports = [check(lines_of(world, name)) for name in ("one", "two")]
    assert [report.problem for report in reports] == [None, None]
    assert check_links(reports) == "two: has the seed of one"


def test_rating_carried_from_an_older_match_is_found_when_all_exports_are_given(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two", "three"):
        world.finish(world.tournament_of(names, name=name, sessions=1, deals=1).id, play_by_table)
    reports = [check(lines_of(world, name)) for name in ("one", "two", "three")]
    assert check_links(reports) is None
    assert check_links([reports[0], reports[2]]) is None
    [rated] = reports[2].rated
    bot = next(iter(rated.sources))
    old = reports[0].rated[0].places[bot]
    rated.sources[bot] = old  # type: ignore[index]
    reports[2].links = [link for link in reports[2].links if link.where[3] != bot]
    assert check_links(reports) == f"three, round 1: the rating of {bot} is not its latest, of two, round 1"
