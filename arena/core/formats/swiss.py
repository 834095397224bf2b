"""Swiss tournaments: each round seats entrants of similar score, and avoids that any two meet twice."""

from collections.abc import Sequence

from arena.core.formats.base import Format, Setup, Situation
from arena.core.pairing.report import TableReason, explain
from arena.core.pairing.search import Costs, first_seated, placed, seat, sitting_out
from arena.core.pairing.values import History, Pairing, generator, shuffled
from arena.core.ranking import Criteria, ranked
from arena.errors import SpecError


class Swiss(Format):
    """A set number of rounds, each paired from the standings."""

    name = "swiss"
    summary = "those with like scores meet, round by round"
    criteria = Criteria(("score", "opponents_cut", "opponents", "wins", "points"), byes_count=True)
    schedule = "its first round is drawn by lot, owners apart"
    late_entry = True
    withdrawal = True
    owners_part = True

    def check_rounds(self, rounds: int | None, entrants: int) -> None:
        """Raise SpecError without a number of rounds."""
        if rounds is None:
            raise SpecError("rounds", "a Swiss tournament needs a number of rounds")

    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the rounds that were asked for."""
        return setup.rounds

    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next round; none if no table can be seated."""
        standing, history = self._standing(setup, situation)
        pairing = swiss(standing, setup.size, history, situation.paired + 1, setup.lots)
        return [pairing] if pairing.tables else []

    def reasons(self, setup: Setup, situation: Situation, pairing: Pairing) -> list[TableReason]:
        """Return the reasons for the tables of a round after the first, which is drawn by lot."""
        if not situation.paired:
            return []
        standing, history = self._standing(setup, situation)
        return explain(standing, setup.size, history, pairing)

    def _standing(self, setup: Setup, situation: Situation) -> tuple[list[int], History]:
        """Return who plays, best first, and the past that matters to the round."""
        lines = ranked(situation.entrants, situation.results(), setup.size, self.criteria)
        present = set(situation.present)
        standing = [line.entrant for line in lines if line.entrant in present]
        return standing, situation.history(setup, {line.entrant: line.score for line in lines})


def swiss(standing: Sequence[int], size: int, history: History, round: int, seed: bytes) -> Pairing:
    """Return the tables of a Swiss round.

    ``standing`` is all entrants, best first (before the first round: the seeding); ``round`` counts from 1.
    In the first round nobody has a score yet, and the tables are drawn by lot. Whoever does not fit at a
    table sits out: the lowest of those who have sat out least often. What counts, in this order: that no
    owner is twice at a table, that no two meet again, that scores at a table are close, that everyone has
    each position at a table equally often, and that everyone comes after each other one equally often.

    If no owner may be twice at a table, there are as many tables as can be filled in that way, and an owner's
    bots beyond one for each table sit out, too. There may be no table at all.
    """
    rng = generator(seed, f"swiss/{round}")
    out = sitting_out(standing, history.byes, len(standing))
    seated = first_seated(out[::-1], size, history.owners if history.owners_apart else {})
    byes = [entrant for entrant in out if entrant not in seated]
    playing = [entrant for entrant in standing if entrant in seated]
    gaps = round > 1
    order = playing if gaps else shuffled(playing, rng)
    tables = seat(len(order), size, Costs(order, size, history, gaps=gaps), rng)
    return placed([[order[place] for place in table] for table in tables], byes, history, rng)
