"""Verifying a tournament from its export alone, and finding whatever was changed in it."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlmodel import select

from arena.core.canonical import json_line
from arena.host.settings import load_settings
from arena.play.rounds import planning
from arena.store.models import Round, Session, SessionRecords, Tournament
from arena.tournaments import lifecycle
from arena.trust.verify import check_export, check_links, matches, unproven
from arena.trust.verify.report import ELSEWHERE, NEW
from referee.records.replay import Replayer
from referee.records.tools import replay
from tests.arena.databases import open_new
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT, Clock
from tests.arena.tampering import drop_session, leaves, tampered_lines
from tests.arena.world import World
from tests.waiting import DEADLINE

FOLLOWS = {
    "head": {"ruleset_hash", "table_size", "seed_hash"},
    "tournament": {"seed"},
    "round": {"round", "pool"},
    "match": {"round", "table", "bots", "points", "faults"},
    "round_end": {"round", "ratings"},
    "end": {"standings", "parts"},
    "deal": {
        *("tournament", "round", "table", "session", "deal", "seats", "seed", "dealer", "direction"),
        *("hands", "leftover", "leader", "out", "left", "points", "end"),
    },
}
"""Fields that follow from others, by part: nobody can change one alone, even by recomputing digests."""


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Export a finished tournament: nine bots, two rounds of two tables, three sessions of two deals."""
    folder = tmp_path_factory.mktemp("arena")
    with open_new(load_settings({"data": folder})) as storage:
        world = World(storage, Clock())
        names = world.register(9, owners=9)
        world.finish(world.tournament_of(names, format="swiss", rounds=2).id, play_by_table)
        return lines_of(world)


@cache
def parsed(line: str) -> Any:
    return json.loads(line)


def part_of(line: str) -> str:
    return str(parsed(line).get("part", "deal"))


def place_of(lines: list[str], part: str) -> int:
    """Return the index of the first line with this part."""
    return next(number for number, line in enumerate(lines) if part_of(line) == part)


def edited(lines: list[str], part: str, change: Callable[[Any], object]) -> list[str]:
    """Change the first line with this part, and recompute all digests."""
    at = place_of(lines, part)
    content = json.loads(lines[at])
    change(content)
    return with_new_digests([*lines[:at], json.dumps(content), *lines[at + 1 :]])


def test_export_of_a_finished_tournament_is_right(cup: list[str]) -> None:
    report = check(cup)
    assert report.problem is None
    assert (report.tournament, report.state, report.entrants) == ("cup", "finished", 9)
    assert (report.rounds, report.matches, report.deals) == (2, 4, 24)


@pytest.mark.parametrize(
    ("end", "is_over"),
    [
        ({"deals": 3}, lambda sums, deals: deals == 3),
        ({"target": -9}, lambda sums, deals: min(sums) <= -9),
        ({"chips": 9}, lambda sums, deals: min(sums) <= -9),
        ({"deals": 2, "target": -9}, lambda sums, deals: deals == 2 or min(sums) <= -9),
    ],
)
def test_session_when_its_end_is_a_number_of_deals_or_a_score_then_verify_knows_it(
    world: World, end: dict[str, int], is_over: Callable[[list[int], int], bool]
) -> None:
    ruleset = {"extends": "chinese", "name": "ends", "session": end}
    cup = world.tournament(4, ruleset=ruleset, deals=None, sessions=2, rounds=1)
    world.finish(cup.id, play_by_table)
    lines = lines_of(world)
    assert (check(lines).problem, json.loads(lines[0])["deals"]) == (None, None)
    records = [json.loads(line) for line in lines if part_of(line) == "deal"]
    for record in records:
        of_it = [one for one in records if one["session"] == record["session"]]
        so_far = [one["points"] for one in of_it if one["deal"] <= record["deal"]]
        sums = [sum(column) for column in zip(*so_far, strict=True)]
        assert is_over(sums, record["deal"]) == (record is of_it[-1])


def test_export_with_digests_made_anew_is_as_it_was(cup: list[str]) -> None:
    assert [json.loads(line) for line in with_new_digests(cup)] == [json.loads(line) for line in cup]


def test_each_of_a_hundred_changed_fields_is_found_and_its_line_named(cup: list[str]) -> None:
    rng = Random(7)
    kinds: dict[tuple[object, ...], list[tuple[int, tuple[str | int, ...]]]] = {}
    for number, line in enumerate(cup):
        for path in leaves(parsed(line)):
            kind = (part_of(line), *(step for step in path if isinstance(step, str)))
            kinds.setdefault(kind, []).append((number, path))
    chosen = [one for places in kinds.values() for one in rng.sample(places, 1)]
    assert len(kinds) > 100
    missed = []
    for number, path in chosen:
        found = check(tampered_lines(cup, number, path, rng)).problem
        # What a match's line says about a session is checked against the deals, which come after it.
        if found is None or not found.startswith("line ") or int(found[5:].partition(":")[0]) < number + 1:
            missed.append((number + 1, path, found))
    assert missed == []


@pytest.mark.parametrize(
    ("part", "field"), [(part, field) for part, names in FOLLOWS.items() for field in sorted(names)]
)
def test_change_of_what_follows_is_found_though_digests_are_made_anew(
    cup: list[str], part: str, field: str
) -> None:
    rng = Random(f"{part} {field}")
    places = [
        (number, path)
        for number, line in enumerate(cup)
        if part_of(line) == part
        for path in leaves(parsed(line))
        if path[0] == field
    ]
    assert places
    for number, path in rng.sample(places, min(3, len(places))):
        changed = tampered_lines(cup, number, path, rng)
        found = check(changed if field == "parts" else with_new_digests(changed)).problem
        assert found is not None, (number, path)
        assert "digest" not in found


@pytest.mark.parametrize("number", range(0, 40, 3))
def test_line_that_is_missing_or_stands_twice_is_found(cup: list[str], number: int) -> None:
    at = number % len(cup)
    assert problem([*cup[:at], *cup[at + 1 :]])
    assert problem([*cup[: at + 1], *cup[at:]])


def test_export_that_is_cut_off_is_named_with_the_line_that_is_missing(cup: list[str]) -> None:
    assert problem(cup[:-1]) == f"line {len(cup)}: the export ends where the part 'end' should stand"
    assert problem([]) == "line 1: the export ends where the part 'head' should stand"


def test_digest_of_all_parts_when_computed_as_the_page_says_then_it_is_that_of_the_example_and_of_an_export(
    cup: list[str],
) -> None:
    page = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    example = re.findall(r"^(?:head|tournament|parts)  +([0-9a-f]{64})$", page, re.MULTILINE)
    parts = [line for line in map(parsed, cup) if line.get("part", "reference") != "reference"]
    for *digests, whole in (example, [*(part["digest"] for part in parts[:-1]), parts[-1]["parts"]]):
        assert len(digests) > 1
        assert sha256("".join(digests).encode("ascii")).hexdigest() == whole


def test_export_when_its_lines_are_replayed_then_parts_are_passed_over(cup: list[str]) -> None:
    replayer = Replayer()
    assert [replay(replayer, parsed(line)) for line in cup] == [{"ok": True}] * len(cup)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("{", "is not JSON"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "is not JSON"),
        ('{"format": "bigtwo-export/1", "part": "tournament"}', "format: is 'bigtwo-export/1'"),
        ('{"format": "bigtwo-export/2", "part": "league"}', "part: 'league' is not one of head, tournament"),
        ('{"format": "bigtwo-export/2", "part": "head"}', "digest: is missing"),
        ('{"format": "bigtwo-deal/1"}', "a deal record stands where the part 'head' should stand"),
    ],
)
def test_line_that_is_no_part_is_one_line_with_its_number(line: str, part: str) -> None:
    found = problem([line])
    assert found.startswith("line 1: ")
    assert part in found
    assert "\n" not in found


def test_seed_of_another_hash_is_named(cup: list[str]) -> None:
    other = edited(cup, "tournament", lambda part: part.update(seed="00" * 32))
    assert problem(other) == "line 2: seed: is not the one whose hash stands in the head"


def test_cards_of_another_seed_are_named_with_their_deal(cup: list[str]) -> None:
    at = place_of(cup, "deal")
    found = problem(edited(cup, "deal", lambda deal: deal.update(seed="ab" * 32)))
    assert found.startswith(f"line {at + 1}: round 1, table 1, session 1, deal 1: seed: is 'abab")


def test_points_given_from_one_to_another_are_found(cup: list[str]) -> None:
    def give(match: Any) -> None:
        for value in (match["points"], match["sessions"][0]["points"]):
            value[0] += 5
            value[1] -= 5

    found = problem(edited(cup, "match", give))
    assert "points" in found


def test_rating_moved_with_all_that_is_said_of_it_is_found(cup: list[str]) -> None:
    def raise_(part: Any) -> None:
        part["ratings"][0][0]["after"] += 10

    assert problem(edited(cup, "round_end", raise_)).partition(": ")[2].startswith("ratings.0.0.after: is ")


def test_standings_in_another_order_are_found(cup: list[str]) -> None:
    found = problem(edited(cup, "end", lambda part: part["standings"].reverse()))
    assert "standings.0." in found


def test_entrant_at_two_tables_is_found(cup: list[str]) -> None:
    def sit_twice(part: Any) -> None:
        part["tables"][1][0] = part["tables"][0][0]

    assert "an entrant is listed twice" in problem(edited(cup, "round", sit_twice))


def test_entrant_that_has_withdrawn_is_found_at_a_table(cup: list[str]) -> None:
    def withdraw(part: Any) -> None:
        part["entrants"][0]["withdrawn_after"] = 1

    assert "withdrawn_after: does not match the events" in problem(edited(cup, "tournament", withdraw))


def test_session_that_stops_early_or_goes_on_is_found(world: World) -> None:
    world.finish(world.tournament(4).id, play_by_table)
    with world.storage.read() as tx:
        session = tx.get_one(Session, 1)
        lines = zlib.decompress(tx.get_one(SessionRecords, 1).records).splitlines()
        points = session.deal_points
        place = f"round 1, table 1, session {session.number}"

    def of(deals: int) -> str:
        with world.storage.write() as tx:
            session = tx.get_one(Session, 1)
            tx.get_one(SessionRecords, 1).records = zlib.compress(b"\n".join((lines * 2)[:deals]))
            session.deal_points = (points * 2)[:deals]
        return problem(lines_of(world))

    assert f"{place}, deal 1: the session goes on after it" in of(1)
    assert f"{place}, deal 2: the session is over here" in of(3)


def test_session_that_is_left_out_is_found(world: World) -> None:
    world.finish(world.tournament(4).id, play_by_table)
    with world.storage.write() as tx:
        drop_session(tx, tx.get_one(Session, 1))
    assert "sessions: the match is done with 2 of 3" in problem(lines_of(world))


def test_faults_that_the_deals_do_not_have_are_found(cup: list[str]) -> None:
    def blame(match: Any) -> None:
        match["sessions"][0]["faults"][0] += 1
        match["faults"][match["sessions"][0]["seating"][0]] += 1

    assert "session 1: faults: is [1, 0, 0, 0], should be [0, 0, 0, 0]" in problem(
        edited(cup, "match", blame)
    )


def test_export_before_the_end_says_that_the_seed_is_secret(world: World) -> None:
    started = world.tournament(4)
    world.advance(started.id)
    assert problem(lines_of(world)) == ("line 2: seed: is not revealed before the tournament has ended")


def test_export_of_a_cancelled_tournament_is_right(world: World) -> None:
    started = world.tournament(8)
    world.advance(started.id)
    world.play(world.messages[0], play_by_table)
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    report = check(lines_of(world))
    assert (report.problem, report.state, report.deals) == (None, "cancelled", 6)


def test_exports_of_other_rulesets_and_table_sizes_are_right(world: World) -> None:
    names = world.register(8)
    for number, ruleset in enumerate(("hong-kong", "chinese-2", "hong-kong-relatives-3", "only-a-game-8")):
        fields = {"name": f"cup-{number}", "ruleset": ruleset, "rounds": 2, "sessions": 2, "deals": 4}
        world.finish(world.tournament_of(names, **fields).id, play_by_table)
        assert check(lines_of(world, f"cup-{number}")).problem is None


def test_ratings_that_come_from_another_tournament_are_linked_to_its_export(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two"):
        world.finish(world.tournament_of(names, name=name).id, play_by_table)
    one, two = lines_of(world, "one"), lines_of(world, "two")
    reports = [check(one), check(two)]
    assert [len(report.links) for report in reports] == [0, 4]
    assert reports[1].problem is None
    assert check_links(reports) is None

    def start_higher(part: Any) -> None:
        part["pool"][0]["rating"] += 100

    raised = edited(two, "round", start_higher)
    assert "before: is " in problem(raised)
    reports[0].ratings = {where: rating + 1 for where, rating in reports[0].ratings.items()}
    found = check_links(reports)
    assert found is not None
    assert found.startswith("two: line 5: pool: the rating of ")
    assert "as after round 1, table 1 of one" in found


def test_export_whose_ratings_come_from_one_that_is_wrong_or_unfinished_is_not_blamed(world: World) -> None:
    names = world.register(4)
    one = world.tournament_of(names, name="one", format="continuous")
    world.advance(one.id)
    world.play(world.messages.pop(0), play_by_table)
    world.advance(one.id)
    two = world.tournament_of(names, name="two")
    world.finish(two.id, play_by_table)
    unfinished = check(lines_of(world, "one"))
    assert "has ended" in str(unfinished.problem)
    lifecycle.stop(world.storage, ROOT, "one", world.clock())
    world.finish(one.id, play_by_table)
    finished, linked = lines_of(world, "one"), check(lines_of(world, "two"))
    assert {link.where[0] for link in linked.links} == {"one"}
    for other in (unfinished, check(finished[:10])):
        assert check_links([other, linked]) is None
        assert ELSEWHERE.format("one") in unproven([other, linked])
    assert check_links([check(finished), linked]) is None
    assert ELSEWHERE.format("one") not in unproven([check(finished), linked])


def test_export_when_it_is_compared_with_no_other_then_it_is_as_right_without_all_ratings(
    cup: list[str],
) -> None:
    linked, alone = check(cup), check_export(texts_of(cup), linked=False)
    assert (len(linked.rated), len(linked.ratings)) == (2, 16)
    assert (alone.rated, alone.ratings) == ([], {})
    assert (alone.problem, unproven([alone])) == (None, unproven([linked]))
    assert NEW in unproven([alone])


def test_bot_that_sits_out_and_is_rated_elsewhere_is_rated_between_two_rounds(world: World) -> None:
    names = world.register(9, owners=9)
    cup = world.tournament_of(names, format="swiss", rounds=3, sessions=1, deals=1)
    world.advance(cup.id)
    while world.messages:
        world.play(world.messages.pop(0), play_by_table)
    world.advance(cup.id)
    with world.storage.read() as tx:
        [bye] = tx.exec(select(Round.byes).where(Round.number == 2)).one()
    rated = {"name": "other", "sessions": 1, "deals": 1, "rounds": 1}
    waiting, world.messages = world.messages, []
    others = [names[bye - 1], *(name for name in names if name != names[bye - 1])][:4]
    world.finish(world.tournament_of(others, **rated).id, play_by_table)
    world.messages = waiting
    world.finish(cup.id, play_by_table)
    exports = [lines_of(world, name) for name in ("cup", "other")]
    reports = [check(lines) for lines in exports]
    assert [report.problem for report in reports] == [None, None]
    assert check_links(reports) is None
    objects = [json.loads(line) for line in exports[0]]
    for part in (one for one in objects if one.get("part") == "round_end" and one["round"] > 1):
        part["rated_after"] -= 1
    lines = with_new_digests([json.dumps(one) for one in objects])
    assert "rated_after: leaves no room for what else" in problem(lines)


def test_new_bot_cannot_bring_a_rating(cup: list[str]) -> None:
    def start_higher(part: Any) -> None:
        part["pool"][0]["rating"] = 1600.0

    assert "pool.0.rating: is 1600.0, should be 1500.0" in problem(edited(cup, "round", start_higher))


def test_database_that_was_changed_is_found_in_its_export(world: World) -> None:
    world.finish(world.tournament(4).id, play_by_table)
    with world.storage.write() as tx:
        session = tx.get_one(Session, 1)
        session.points = [session.points[0] + 1, *session.points[1:]]
    assert "points" in problem(lines_of(world))


def test_database_with_another_seed_is_found_in_its_export(world: World) -> None:
    cup = world.tournament(4)
    world.finish(cup.id, play_by_table)
    with world.storage.write() as tx:
        tx.get_one(Tournament, cup.id).seed = "00" * 32
    assert "seed: is not the one whose hash stands in the head" in problem(lines_of(world))


def test_verifying_loads_no_database_and_no_broker(cup: list[str], tmp_path: Path) -> None:
    file = tmp_path / "cup.jsonl"
    file.write_text("".join(f"{line}\n" for line in cup))
    code = (
        "import sys; from arena.trust.verify import check_export\n"
        f"assert check_export(open({str(file)!r}, 'rb')).problem is None\n"
        "print(sorted({'sqlalchemy', 'sqlmodel', 'celery', 'grpc', 'arena.store.models'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    assert done.stdout == "[]\n"


def test_progress_is_told_after_every_line(cup: list[str]) -> None:
    seen: list[tuple[int, int]] = []
    check_export((line.encode() for line in cup), lambda read, deals: seen.append((read, deals)))
    assert len(seen) == len(cup)
    assert seen[-1] == (sum(len(line) for line in cup), 24)


@pytest.fixture(scope="module")
def tampered(cup: list[str]) -> list[list[str]]:
    """Return exports in each of which something else is wrong, in the form in which an arena writes lines."""

    def moved(deal: Any) -> None:
        deal["actions"].pop()

    def given(match: Any) -> None:
        match["sessions"][1]["points"].reverse()

    deals = [number for number, line in enumerate(cup) if part_of(line) == "deal"]
    wrong = [
        edited(cup, "deal", moved),
        edited(cup, "match", given),
        edited(cup, "round_end", lambda end: end["ratings"].reverse()),
        edited(edited(cup, "end", lambda end: end["standings"].reverse()), "deal", moved),
        [*cup[: deals[7]], *cup[deals[8] :]],
        [*cup[: deals[9]], "nonsense", *cup[deals[9] :]],
        cup[: deals[20]],
    ]
    return [[line if line == "nonsense" else json_line(json.loads(line)) for line in one] for one in wrong]


def texts_of(lines: list[str]) -> Iterator[bytes]:
    return (line.encode() for line in lines)


def test_export_when_other_processes_check_its_deals_then_the_report_is_the_same(
    cup: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    wanted = frozenset({"cup/1/2/3", "cup/2/1/1"})
    alone = check_export(texts_of(cup), session_names=wanted)
    monkeypatch.setattr(matches, "check_deals", None)  # in this process no deal is checked
    report = check_export(texts_of(cup), lambda *one: seen.append(one), wanted, processes=2)
    assert report == alone
    assert len(report.sessions) == 2
    assert (len(seen), seen[-1]) == (len(cup), (sum(map(len, cup)), 24))


def test_export_when_it_is_wrong_then_other_processes_change_nothing_of_what_is_said(
    tampered: list[list[str]],
) -> None:
    alone = [check_export(texts_of(lines)) for lines in tampered]
    assert len({report.problem for report in alone}) == len(tampered) - 1  # one is wrong in two places
    assert [check_export(texts_of(lines), processes=2) for lines in tampered] == alone


def test_export_when_processes_that_check_it_are_killed_then_this_one_goes_on(cup: list[str]) -> None:
    killed = []

    def texts() -> Iterator[bytes]:
        for line in cup:
            for process in multiprocessing.active_children():
                process.kill()
                killed.append(process)
            yield line.encode()

    assert check_export(texts(), processes=2) == check_export(texts_of(cup))
    assert killed


INTERRUPTED = """
import sys
from arena.trust.verify import check_export

def texts():
    with open(sys.argv[1], "rb") as lines:
        yield from list(lines)[:-1]
    print("all but the last line", flush=True)
    sys.stdin.read()

check_export(texts(), processes=2)
"""


def test_verifying_when_interrupted_then_all_its_processes_end_and_only_one_says_so(
    cup: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "cup.jsonl"
    file.write_text("".join(f"{line}\n" for line in cup))
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", INTERRUPTED, str(file)]
    with subprocess.Popen(command, start_new_session=True, text=True, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE)  # until all that could say anything have ended
    assert process.returncode == -signal.SIGINT
    assert (said.count("Traceback"), said.count("KeyboardInterrupt")) == (1, 1)
