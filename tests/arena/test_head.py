"""What a tournament commits to before its first round, and where its randomness comes from."""

import json
from hashlib import sha256
from typing import Any

import pytest

from arena.core.canonical import digest
from arena.errors import SpecError, StateError
from arena.store.models import Tournament
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from arena.trust.verify import unproven
from referee.deals.shuffle import deal_seed, luck, session_seed
from tests.arena.exported import check, lines_of, play_by_table, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.world import SEED, World

BEACON = "drand round 4829341"
DRAW = {"beacon": BEACON, "beacon_form": "digits:4"}


def head_of(world: World) -> dict[str, Any]:
    """Return the first line of the export."""
    head: dict[str, Any] = json.loads(lines_of(world)[0])
    return head


def create(world: World, **fields: object) -> list[str]:
    """Create a tournament of new bots, without starting it; return their names."""
    names = world.register(8)
    creation.create(world.storage, ROOT, world.spec(names, **fields), world.clock(), SEED)
    return names


def lock(world: World) -> None:
    lifecycle.lock(world.storage, ROOT, "cup", world.clock())


def start(world: World, value: str | None = None) -> None:
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked, value)


def test_commitment_when_started_then_it_is_the_digest_of_the_head_and_bots_get_it(world: World) -> None:
    started = world.tournament(4)
    head = head_of(world)
    assert started.commitment == head["digest"]
    assert head["digest"] == digest({name: value for name, value in head.items() if name != "digest"})
    world.advance(started.id)
    sent: list[str] = []

    def play(_route: int, spec: Any) -> Any:
        sent.append(spec.commitment)
        yield from ()

    world.play(world.messages[0], play)
    assert sent == [started.commitment]


def test_head_when_entrants_were_in_another_order_then_the_commitment_is_another(world: World) -> None:
    names = world.register(4)
    commitments = {
        world.tournament_of(order, name=name).commitment
        for name, order in (("cup", names), ("cap", names[::-1]))
    }
    assert len(commitments) == 2


def test_lock_when_created_then_nobody_enters_and_the_head_stays_as_it_is(world: World) -> None:
    create(world, format="swiss", rounds=2)
    [late] = world.register(9)[8:]
    lock(world)
    locked = world.status().commitment
    with pytest.raises(StateError, match="locked: bots can enter again once it has started"):
        entry.enter(world.storage, ROOT, "cup", late, world.clock(), nobody_asked)
    with pytest.raises(StateError, match="locked already"):
        lock(world)
    start(world)
    entry.enter(world.storage, ROOT, "cup", late, world.clock(), nobody_asked)
    assert world.status().commitment == locked
    assert len(head_of(world)["entrants"]) == 8


def test_beacon_when_it_is_stated_then_the_tournament_waits_for_lock_and_value(world: World) -> None:
    create(world, **DRAW)
    with pytest.raises(StateError, match="close its entries first, with: arena tournament lock cup"):
        start(world, "early")
    lock(world)
    with pytest.raises(StateError, match=f"waits for its beacon, {BEACON}: 4 decimal digits and nothing"):
        start(world)
    start(world, "0042")
    with pytest.raises(StateError, match="its luck is drawn already"):
        start(world, "0043")
    assert (world.status().beacon, world.status().beacon_value) == (BEACON, "0042")


@pytest.mark.parametrize(
    ("form", "right", "others"),
    [
        (
            "hex:8",
            "00c0ffee",
            ["00C0FFEE", "0x00c0ffee", "c0ffee", "00c0 ffee", "00c0ffee\n", ""],
        ),
        ("digits:4", "0042", ["42", "00042", "0 042", "0042 ", "00.42", "٠٠٤٢", "\x1b[2J"]),
    ],
)
def test_beacon_when_its_value_can_be_spelled_otherwise_then_only_one_spelling_is_taken(
    world: World, form: str, right: str, others: list[str]
) -> None:
    """Each spelling would deal other cards, of which the organiser could choose."""
    create(world, format="swiss", rounds=1, beacon=BEACON, beacon_form=form)
    lock(world)
    assert head_of(world)["beacon_form"] == form
    for value in others:
        with pytest.raises(SpecError, match=f"beacon: its value must be {form.partition(':')[2]} "):
            start(world, value)
    start(world, right)
    world.finish(world.status().id, play_by_table)
    lines = lines_of(world)
    assert check(lines).problem is None
    parts = [json.loads(line) for line in lines]
    parts[1]["beacon_value"] = others[0]
    said = check(with_new_digests([json.dumps(one) for one in parts])).problem
    assert said is not None
    assert said.startswith("line 2: beacon_value: is not ")


def test_beacon_when_several_tournaments_were_locked_before_it_then_they_are_several_tickets(
    world: World,
) -> None:
    names, reports = world.register(8, owners=8), []
    for name, drawn in (("first", "0042"), ("second", "0042"), ("third", "0043")):
        spec = world.spec(names, name=name, sessions=1, deals=1, rounds=1, **DRAW)
        creation.create(world.storage, ROOT, spec, world.clock(), sha256(name.encode()).digest())
        lifecycle.lock(world.storage, ROOT, name, world.clock())
        lifecycle.start(world.storage, ROOT, name, world.clock(), nobody_asked, drawn)
        world.finish(world.status(name).id, play_by_table)
        reports.append(check(lines_of(world, name)))
    assert [report.problem for report in reports] == [None] * 3
    assert [line for line in unproven(reports) if "ticket" in line or "only tournament" in line] == [
        "that none of first and second was chosen for its cards: they had one beacon, so they were as many"
        " tickets",
        "that third was the only tournament locked before that beacon: the best of several could be kept",
    ]


def test_beacon_when_none_was_stated_then_no_value_is_taken(world: World) -> None:
    create(world)
    with pytest.raises(StateError, match="created without a beacon"):
        start(world, "0042")


def test_beacon_when_it_has_spoken_then_cards_and_pairings_follow_from_it(world: World) -> None:
    create(world, format="swiss", rounds=1, **DRAW)
    lock(world)
    start(world, "0042")
    world.finish(world.status().id, play_by_table)
    lines = lines_of(world)
    report = check(lines)
    assert (report.problem, report.beacon, report.commitment) == (None, BEACON, world.status().commitment)
    told = [line for line in unproven([report]) if "beacon" in line]
    assert told == [
        f"that the beacon '{BEACON}' said '0042', and only after the tournament was locked: look it up",
        "that cup was the only tournament locked before that beacon: the best of several could be kept",
    ]
    first = next(one for one in map(json.loads, lines) if one["format"] == "bigtwo-deal/1")
    seed = session_seed(luck(SEED, "0042"), 1, 1, 1)
    assert first["seed"] == deal_seed(seed, 1).hex()
    assert seed != session_seed(SEED, 1, 1, 1)


def test_beacon_when_its_value_is_changed_in_the_database_then_the_export_is_wrong(world: World) -> None:
    create(world, **DRAW)
    lock(world)
    start(world, "0042")
    world.finish(world.status().id, play_by_table)
    with world.storage.write() as tx:
        tx.get_one(Tournament, 1).beacon_value = "0043"
    assert check(lines_of(world)).problem is not None
