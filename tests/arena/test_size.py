"""Small copies of what ``benchmarks.size`` makes: a history with all its questions, and a tournament."""

from pathlib import Path
from random import Random

import pytest
from sqlmodel import func, select

from arena.store.models import Match
from benchmarks import grown, road, size
from benchmarks.grown import kept
from benchmarks.multiples import RARE, REGULARS, STEP
from benchmarks.reading import NOW
from benchmarks.seasons import SEATS
from benchmarks.size import Long, ask_all, questions

BOTS, ROUNDS, COPIES = REGULARS + 4, (1, 1), (2, 3)


def test_history_made_of_copies_is_kept_with_what_its_matches_come_to_and_answers_every_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grown, "BOTS", BOTS)
    monkeypatch.setattr(grown, "ROUNDS", ROUNDS)
    folder = tmp_path / "data"
    for copies, storage in kept(folder, COPIES):  # this recounts a sample
        with storage.read() as tx:
            matches = tx.exec(select(func.count()).select_from(Match)).one()
        assert matches == copies * (BOTS // SEATS + REGULARS // SEATS) + RARE // SEATS
        asker = Long(storage, Random(0), BOTS, now=NOW + copies * STEP)
        for name, question in questions().items() if copies == COPIES[-1] else ():
            assert question(asker) is not None, name
    monkeypatch.setattr(grown, "make", None)  # what exists is not made again
    monkeypatch.setattr(size, "TIMES", 2)
    asked = [ask_all(Long(storage, Random(0), BOTS), "^pools$") for _, storage in kept(folder, COPIES[:1])]
    assert [[*figures] for figures in asked] == [["pools"]]


def test_road_of_a_small_tournament_when_it_is_measured_then_every_step_can_be_taken(tmp_path: Path) -> None:
    figures = {name: take() for name, take in road.steps(tmp_path, entrants=28, rounds=2, processes=1)}
    assert figures["verify, one process"].startswith("56 deals, ")
