"""The history that ``benchmarks.size`` makes, made small: what it keeps, and what is asked of it."""

from pathlib import Path
from random import Random

from arena.settings import load_settings
from arena.strength.fitting import fit_due
from benchmarks.multiples import REGULARS, STEP, Copier, check, make_base
from benchmarks.reading import NOW
from benchmarks.size import Long, questions
from tests.arena.databases import open_new

BOTS, ROUNDS, COPIES = REGULARS + 4, (1, 1), 3


def test_history_made_of_copies_keeps_what_its_matches_come_to_and_answers_every_question(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/arena.db"
    with open_new(load_settings({"data": tmp_path, "database_url": url})) as storage:
        base = make_base(storage, BOTS, ROUNDS, NOW)
        copier = Copier(url, base)
        copier.multiply(COPIES)
        copier.close()
        check(storage, base, COPIES)
        now = NOW + COPIES * STEP
        assert fit_due(storage, now) == 2
        asker = Long(storage, Random(0), BOTS, now=now)
        for name, question in questions().items():
            assert question(asker) is not None, name
