# ruff: noqa: E501 (a fault a line)
"""Single faults, planted one at a time: each must make the code fail at least one vector.

``python -m tests.vectors.mutants`` plants all of them, with numbers only those.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """A fault in one place."""

    path: str
    old: str
    """Text that is in the file exactly once."""
    new: str
    catches: str
    """The file of vectors that shows it."""


RULES = (
    Mutant("rules/strength.py", "return suit * self.ranks + ranks[-1]", "return ranks[-1] * 4 + suit", "compare"),
    Mutant("rules/strength.py", "return ranks[-1] * 4 + suit", "return suit * self.ranks + ranks[-1]", "compare"),
    Mutant("rules/strength.py", "return self._place_of_ranks(ranks) * 4 + suit", "return ranks[-1] * 4 + suit", "compare"),
    Mutant("rules/strength.py", "comb(rank + spread * step, step + 1)", "comb(rank + spread * step, 5 - step)", "compare"),
    Mutant("rules/strength.py", "rank * 4 + (suit if self.decks > 1 else 0)", "rank * 4", "compare"),
    Mutant("rules/strength.py", "(high * self._rank_count + low if self._both_pairs else high)", "high", "compare"),
    Mutant("rules/strength.py", "ranks[-1] if by_top else max(ranks)", "ranks[-1]", "compare"),
    Mutant("rules/strength.py", "else level * 4 + suit, length)", "else level * 4, length)", "compare"),
    Mutant("rules/strength.py", "for rank in (*order[-4:], order[0])", "for rank in order[-5:]", "compare"),
    Mutant("rules/strength.py", "self.suits * self.ranks + (0, 1)", "self.suits * self.ranks + (1, 1)", "compare"),
    Mutant("rules/strength.py", "for name in free for section in", "for name in reversed(free) for section in", "compare"),
    Mutant("rules/strength.py", "if ruleset.kinds_compete:", "if True:", "compare"),
    Mutant("rules/plays.py", 'kind = "quads" if ranks.count(most) > 3', 'kind = "quads" if ranks.count(most) > 4', "compare"),
    Mutant("ruleset/straights.py", '"hong_kong": "3-T 2 A"', '"hong_kong": "3-T A 2"', "compare"),
    Mutant("ruleset/straights.py", '"two_ranks_high": "3-T A=2"', '"two_ranks_high": "3-T A 2"', "compare"),
    Mutant("rules/plays.py", "if any(count != 2 for count in beside):", "if any(count > 2 for count in beside):", "compare"),
    Mutant("rules/plays.py", "self._strength.ranks > max(ranks)", "self._strength.ranks >= max(ranks)", "compare"),
    Mutant("rules/plays.py", "code > other | self.full and", "code > other and", "compare"),
    Mutant("rules/plays.py", "low = bisect(plays, to_beat | self.full)", "low = bisect(plays, to_beat)", "legal"),
    Mutant("rules/plays.py", "beating = plays[low:high]", "beating = plays[low:low]", "legal"),
    Mutant("rules/strength.py", "for longer in own[place + 1 :]", "for longer in own[place:]", "compare"),
    Mutant("rules/listing.py", "if not pair & rank:", "if True:", "legal"),
    Mutant("rules/listing.py", "if held.bit_count() > 3:", "if held.bit_count() > 4:", "legal"),
    Mutant("rules/listing.py", "plays = [code for code in plays if code & self._full not in in_sequence]", "pass", "legal"),
    Mutant("rules/plays.py", '(kind == "suited_run") != (', '(kind != "suited_run") != (', "compare"),
    Mutant("rules/listing.py", "for others, first, after in below:", "for others, first, after in below[:-1]:", "legal"),
    Mutant("rules/listing.py", "for rank in others:\n                longer", "for rank in others[1:]:\n                longer", "legal"),
)  # fmt: skip

DEALS = (
    Mutant("deals/options.py", "if play in highest or not _is_single", "if play not in highest or not _is_single", "legal"),
    Mutant("deals/options.py", "return Options(sorted(highest + several), not highest)", "return Options(sorted(highest + several), True)", "legal"),
    Mutant("deals/options.py", "if play & rules.full & ~constraints.banned", "if True", "legal"),
    Mutant("deals/options.py", 'if rules.ruleset.lead_includes_lowest == "alone" else include', "if False else include", "legal"),
    Mutant("deals/options.py", "return Options(several or highest, options.may_pass)", "return Options(several, options.may_pass)", "settle"),
    Mutant("deals/dealing.py", "return rules.rank_masks[ranks.index(concerned)]", "return top", "legal"),
    Mutant("deals/dealing.py", "(seat + step * turn) % players for turn in range(1, players + 1)", "(seat + turn) % players for turn in range(1, players + 1)", "shuffle"),
    Mutant("deals/dealing.py", "rising[start:] + rising[:start]", "rising", "shuffle"),
    Mutant("deals/dealing.py", 'f"deal/redeal/{again}"', '"deal"[:again] + "deal"', "shuffle"),
    Mutant("deals/scoring.py", "else count >= bracket.start", "else count > bracket.start", "settle"),
    Mutant("deals/scoring.py", "ruleset.multipliers[::-1]", "ruleset.multipliers", "settle"),
    Mutant("deals/scoring.py", "points * _times(held) + _added(held)", "(points + _added(held)) * _times(held)", "settle"),
    Mutant("deals/scoring.py", "return 2 if twos and twos == rules.count(cards) else 1", "return 2 if twos else 1", "settle"),
    Mutant("deals/scoring.py", "paid[ignorer] = lost", "paid[ignorer] = lost + points[winner]", "settle"),
    Mutant("deals/scoring.py", "share if seat != culprit else -amount - share * (seats - 2)", "share if seat != culprit else -amount - share * (seats - 1)", "settle"),
    Mutant("deals/scoring.py", "bonuses.final_times if play.final else 1", "1", "settle"),
    Mutant("deals/scoring.py", "[last if seat == culprit", "[rest if seat == culprit", "settle"),
    Mutant("deals/scoring.py", "points[payer] -= more", "points[payer] -= more - fewer", "settle"),
    Mutant("deals/scoring.py", "*reversed(worst)]", "*worst]", "settle"),
    Mutant("deals/showdown.py", "return min(tied, key=", "return max(tied, key=", "session"),
    Mutant("deals/session.py", "(number - 1) % every == 0", "number % every == 0", "session"),
    Mutant("deals/session.py", "return Setup(0, step, None, None)", "return Setup(0, -step, None, None)", "session"),
    Mutant("deals/session.py", "min(self.scores) <= -end.chips", "min(self.scores) < -end.chips", "session"),
    Mutant("deals/state.py", "and (not hands[seat] or locked >> seat & 1)", "and not hands[seat]", "shuffle"),
    Mutant("deals/deal.py", 'elif ruleset.after_out == "next_leads":', "elif False:", "settle"),
    Mutant("deals/stock.py", 'f"restock/{number}"', 'f"restock/{number + 1}"', "shuffle"),
    Mutant("deals/shuffle.py", 'name if attempt == 1 else f"{name}/attempt/{attempt}"', "name", "shuffle"),
    Mutant("deals/public.py", "elif self.last == NOBODY or not self._locks:", "elif self.last == NOBODY:", "follow"),
    Mutant("deals/public.py", "self.passed |= 1 << seat\n", "pass\n", "follow"),
)  # fmt: skip

AROUND = (
    Mutant("bot/view.py", "self._held.add(0, step.drawn)", "pass", "follow"),
    Mutant("deals/public.py", "counts[taker] += 1", "pass", "follow"),
    Mutant("bot/view.py", "self._held.add(0, card)", "pass", "follow"),
    Mutant("records/results.py", 'f":- +{len(drawn[1].split())}"', '":-"', "digest"),
    Mutant("records/results.py", "sha256((digest + deal).encode())", "sha256(deal.encode())", "digest"),
    Mutant("records/results.py", "sort_keys=True, separators", "sort_keys=False, separators", "digest"),
    Mutant("matches/clock.py", "min(self.control.limit, self.bank)", "self.control.limit", "clock"),
    Mutant("matches/clock.py", "max(0.0, self.bank - spent) + self.control.increment", "max(0.0, self.bank - spent + self.control.increment)", "clock"),
    Mutant("matches/clock.py", "self.credit = credit if credit < most else most", "self.credit = credit", "clock"),
    Mutant("protocol/capabilities.py", "0 < most_card < highest", "0 < most_card <= highest", "capability"),
    Mutant("arena/core/seating.py", "for turn in range(size))\n\n\ndef zigzag", "for turn in range(size))[::-1]\n\n\ndef zigzag", "seating"),
    Mutant("arena/core/pairing/values.py", "other = below(rng, last + 1)", "other = below(rng, last)", "pairing"),
    Mutant("arena/core/formats/knockout.py", "number % 2 == 0", "number % 2 == 1", "pairing"),
    Mutant("arena/core/canonical.py", 'canonical(own) + b"\\n"', "canonical(own)", "digest"),
)  # fmt: skip

MUTANTS = [
    mutant if mutant.path.startswith("arena/") else mutant._replace(path=f"referee/{mutant.path}")
    for mutant in (*RULES, *DEALS, *AROUND)
]
SOME = (0, 6, 17, 23, 29, 38, 45, 52, 56, 61)
"""The numbers of those that ``make test`` plants; ``make sweep`` plants all."""


class _Planting(SourceFileLoader):
    """Loads a module with a fault."""

    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code, never from or to a cache."""
        source = self.get_data(self.path).decode()
        return compile(source.replace(self._mutant.old, self._mutant.new), self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = mutant.path.removesuffix(".py").replace("/", ".")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module that gets the fault."""
        if fullname != self._name:
            return None
        file = str(ROOT / self._mutant.path)
        return spec_from_file_location(fullname, file, loader=_Planting(fullname, file, self._mutant))


def caught(mutant: Mutant) -> str | None:
    """Return the id of the first vector that shows the fault; None if none does."""
    for name in [name for name in sys.modules if _is_ours(name)]:
        del sys.modules[name]
    finder = _Finder(mutant)
    sys.meta_path.insert(0, finder)
    try:
        failures: Iterator[str] = import_module("tests.vectors.run").failures(mutant.catches)
        return next(failures, None)
    finally:
        sys.meta_path.remove(finder)


def _is_ours(name: str) -> bool:
    kept = name.startswith(("referee.v1.", "referee.worker.")) or name == __name__
    return not kept and f"{name}.".startswith(("referee.", "arena.", "tests.vectors."))


def main(arguments: Sequence[str]) -> int:
    """Plant faults; print those that no vector shows, or that cannot be planted; return how many these are."""
    lost = [
        mutant
        for mutant in MUTANTS
        if (ROOT / mutant.path).read_text(encoding="utf-8").count(mutant.old) != 1
    ]
    for mutant in lost:
        print(
            f"{mutant.path} should have {mutant.old!r} once: name another fault in tests/vectors/mutants.py"
        )
    if lost:
        return len(lost)
    missed: Mapping[int, Mutant] = {
        number: MUTANTS[number]
        for number in map(int, arguments or range(len(MUTANTS)))
        if caught(MUTANTS[number]) is None
    }
    for number, mutant in missed.items():
        print(
            f"{number}: {mutant.path}: {mutant.new!r} for {mutant.old!r} is in no vector of {mutant.catches}"
        )
    return len(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
