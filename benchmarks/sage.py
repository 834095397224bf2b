"""How strong bots are at one table: ``python -m benchmarks.sage --ms 100 --deals 100``.

One bot plays against others of one kind, by default sage against the best other sample bot. Every deal is
played from every seat of the table, so that the luck of the cards cancels out; the intervals (95 %) are over
deals. All bots sit in one process, at the referee's own table; sage's clock measures processor time, so that
load does not make it weaker. ``--without`` takes parts away from sage, to see what they are worth;
``--beside MS`` also has a complete sage with another time play the same deals from the same seats, and shows
the difference.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from multiprocessing import Pool
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from referee.bot.bots import Bot
from referee.cli.botrun import load_bot
from referee.local.sequential import Sums
from referee.local.session import LocalSession, Seated
from referee.local.tally import Played
from referee.matches.events import SessionInfo
from referee.matches.match import Limits
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, load_ruleset_file
from referee.sage.bot import SageBot
from referee.sage.sage import Style

PARTS: dict[str, dict[str, Any]] = {
    "proofs": {"proves": False},
    "pass-weights": {"weighs_passes": False},
    "endings": {"solves": False},
    "passing": {"passes": False},
    "keeping": {"height_costs": 0.0},
    "others": {"relative": False},
    "inference": {"infers": False},
    "tree": {"learns": False},
    "haste": {"pass_costs": -0.3},
}
"""Parts that can be taken away from sage; without haste, its score makes it pass early."""
HOUR_MS = 3_600_000


class Question(NamedTuple):
    """Who plays against whom, under which ruleset."""

    bot: str
    against: str
    ruleset: str
    ms: float
    without: tuple[str, ...]
    seed: str


class Deal(NamedTuple):
    """The result of a deal for the bot, as means over the seats."""

    wins: float
    """Share of the seats from which it went out first."""
    points: float
    others: float
    """The mean of the other bots' points."""
    decisions: float
    seconds: float
    """Processor time, for everything."""


def play_session(rules: Rules, seed: bytes, bots: Sequence[Bot], number: int = 1, deals: int = 1) -> Played:
    """Play a session; ``bots`` is by seat."""
    info = SessionInfo(
        handle=0,
        session_id=f"table/{number}",
        number=number,
        tournament="table",
        ruleset=json.dumps(rules.ruleset.to_object()),
        rules=rules,
        seats=tuple(f"bots/{seat}@1" for seat in range(len(bots))),
        deals=deals,
        commitment="",
        limits=Limits(decision_ms=HOUR_MS),
    )
    return LocalSession(info, seed, [Seated(bot) for bot in bots]).play()


def play_deal(question: Question, number: int) -> Deal:
    """Play a deal from every seat. Raise RuntimeError if a bot makes a fault."""
    rules = compile_ruleset(_ruleset(question.ruleset))
    bot, other = _bot(question), load_bot(question.against)
    seats = range(rules.ruleset.players)
    seed = sha256(f"{question.seed}/{number}".encode()).digest()
    wins = points = others = decisions = 0
    begun = time.thread_time()
    for seat in seats:
        played = play_session(rules, seed, [bot if at == seat else other for at in seats], seat + 1)
        if played.faults or played.failures:
            raise RuntimeError(f"deal {number}: {[*played.faults, *played.failures][0]}")
        wins += json.loads(played.result.records[0])["out"][:1] == [seat]
        points += played.result.points[seat]
        others += sum(played.result.points) - played.result.points[seat]
        decisions += len(played.spent[seat])
    count = len(seats)
    spent = time.thread_time() - begun
    return Deal(wins / count, points / count, others / count / (count - 1), decisions / count, spent / count)


def _ruleset(source: str) -> Ruleset:
    return load_ruleset_file(Path(source)) if source.endswith(".toml") else load_ruleset(source)


def _bot(question: Question) -> Bot:
    """Return the class of the bot in question."""
    if question.bot != "sage":
        return load_bot(question.bot)
    taken: dict[str, Any] = {}
    for part in question.without:
        taken |= PARTS[part]

    class Measured(SageBot):
        level_ms: ClassVar[float] = question.ms
        style: ClassVar[Style] = Style(**taken)

        def now(self) -> float:
            return time.thread_time()

    return Measured


@contextmanager
def _pool(jobs: int) -> Iterator[Callable[..., Iterator[tuple[Deal, Deal | None]]]]:
    """Yield a function like ``map``, which plays deals one after another, or in ``jobs`` processes."""
    if jobs == 1:
        yield map
    else:
        with Pool(jobs) as pool:
            yield pool.imap


def play_beside(question: Question, ms: float | None, number: int) -> tuple[Deal, Deal | None]:
    """Play a deal from every seat, and once more with a complete sage of ``ms``, unless that is None."""
    other = None if ms is None else play_deal(question._replace(ms=ms, without=()), number)
    return play_deal(question, number), other


def differences(ms: float, deals: Sequence[Deal], others: Sequence[Deal]) -> Iterator[str]:
    """Yield the lines on how much more ``deals`` came to than the same deals with ``ms``."""
    pairs = list(zip(deals, others, strict=True))
    yield f"the first beside sage, {ms:g} ms, in the same deals and seats:"
    yield f"{'wins more':28} {_shown([100 * (deal.wins - other.wins) for deal, other in pairs], '%')}"
    yield f"{'points more':28} {_shown([deal.points - other.points for deal, other in pairs])}"
    leads = [deal.points - deal.others - other.points + other.others for deal, other in pairs]
    yield f"{'points less theirs, more':28} {_shown(leads)}"


def lines(question: Question, deals: Sequence[Deal], players: int) -> Iterator[str]:
    """Yield the lines of the table."""
    name = question.bot
    if name == "sage":
        name = f"sage, {question.ms:g} ms" + "".join(f", without {part}" for part in question.without)
    against = f"{players - 1} {question.against}, {question.ruleset}"
    yield f"{name} against {against}, {len(deals)} deals from every seat"
    yield f"{'wins':28} {_shown([100 * deal.wins for deal in deals], '%')}  (even: {100 / players:.1f}%)"
    yield f"{'points a deal':28} {_shown([deal.points for deal in deals])}"
    yield f"{'points of the others':28} {_shown([deal.others for deal in deals])}"
    yield f"{'points less theirs':28} {_shown([deal.points - deal.others for deal in deals])}"
    asked = sum(deal.decisions for deal in deals) / len(deals)
    yield f"{'decisions a deal':28} {asked:8.1f}"
    yield f"{'processor time a deal':28} {sum(deal.seconds for deal in deals) / len(deals):8.2f} s"


def _shown(values: Sequence[float], unit: str = "") -> str:
    sums = Sums()
    for value in values:
        sums = sums.add(value)
    error = sums.plus_minus()
    return f"{sums.mean:8.2f}{unit} {'' if error is None else f'± {error:.2f}{unit}'}"


def options() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sage", description=__doc__)
    parser.add_argument("--ruleset", default="chinese", help="a preset, or a TOML file")
    parser.add_argument("--bot", default="sage", help="sage, or another sample bot")
    parser.add_argument("--against", default="pairs-first", help="a sample bot, at all other seats")
    parser.add_argument(
        "--ms", type=float, default=100, help="sage's milliseconds for a decision; 0 for no search"
    )
    parser.add_argument("--without", nargs="*", choices=PARTS, default=[], help="parts of sage to take away")
    parser.add_argument("--beside", type=float, metavar="MS", help="compare with sage that thinks so long")
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first deal")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", default="sage", help="any text: other cards")
    return parser


def main() -> None:
    """Play the deals and print the result."""
    given = options().parse_args()
    question = Question(given.bot, given.against, given.ruleset, given.ms, tuple(given.without), given.seed)
    numbers = range(given.first, given.first + given.deals)
    deals: list[Deal] = []
    beside: list[Deal] = []
    with _pool(given.jobs) as played, suppress(KeyboardInterrupt):  # after Ctrl-C, show what was played
        for deal, other in played(partial(play_beside, question, given.beside), numbers):
            deals.append(deal)
            beside += [other] if other else []
    if not deals:
        sys.exit("no deal was played")
    players = _ruleset(given.ruleset).players
    for line in lines(question, deals, players):
        print(line)
    if beside:
        for line in lines(question._replace(ms=given.beside, without=()), beside, players):
            print(line)
        for line in differences(given.beside, deals, beside):
            print(line)


if __name__ == "__main__":
    main()
