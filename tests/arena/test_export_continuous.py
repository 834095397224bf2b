"""Exports of continuous tournaments whose batches end in a different order than they began."""

import json

import pytest

from arena.tournaments import lifecycle
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.world import World


@pytest.fixture
def lines(world: World) -> list[str]:
    """Export a finished tournament in which the first of three batches was finished last."""
    queue = world.tournament(9, format="continuous", options={"gather": 4})
    world.advance(queue.id)
    slow = world.messages.pop(0)
    for _ in range(3):  # the first batch's other table, then two batches of the bots that are free
        world.play(world.messages.pop(0), play_by_table)
        world.advance(queue.id)
    lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    world.messages.append(slow)
    world.finish(queue.id, play_by_table)
    return lines_of(world)


def rounds_of(lines: list[str]) -> list[int]:
    parts = map(json.loads, lines)
    return [part["round"] for part in parts if part.get("part") == "round"]


def test_export_when_batches_end_out_of_order_then_it_has_them_in_the_order_of_their_ratings(
    lines: list[str],
) -> None:
    numbers = rounds_of(lines)
    assert numbers != sorted(numbers)
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    report = check(lines)
    assert (report.problem, report.rounds) == (None, len(numbers))


def test_export_when_a_batch_is_named_like_another_then_that_is_wrong(lines: list[str]) -> None:
    first, second, *_ = rounds_of(lines)
    changed = [line.replace(f'"round":{second},', f'"round":{first},') for line in lines]
    assert f"round: {first} occurs twice" in problem(with_new_digests(changed))


def test_export_when_a_batch_has_a_number_beyond_the_last_then_that_is_wrong(lines: list[str]) -> None:
    first, *others = rounds_of(lines)
    last = len(others) + 1
    changed = [line.replace(f'"round":{first},', f'"round":{last + 1},') for line in lines]
    assert f"round: is {last + 1}, exceeds the {last} planned" in problem(with_new_digests(changed))
