"""One cell of the engine's benchmark in a process of its own: ``python -m benchmarks.cells NAME SECONDS``.

NAME is a preset, whose random play is measured with all legal plays listed at every decision, or ``micro``.
Prints one JSON object.
"""

import json
import sys
import time
from collections.abc import Callable
from random import Random
from typing import TypeVar

from benchmarks.peers import measure
from referee.deals.deal import Deal
from referee.deals.session import setup
from referee.deals.shuffle import shuffle, words
from referee.position import Position
from referee.records.random_play import play_randomly
from referee.reference.values import begin, play_out
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.sage.plans import planner_of
from referee.sage.playouts import Quick, Start

T = TypeVar("T")

WARM_UP = 10_000
"""Deals played before measuring, so that the tables of plays are filled: they fill up as hands occur."""


def random_play(name: str, seconds: float) -> dict[str, float]:
    """Measure whole deals under a preset: dealt, played at random and scored."""
    rules = compile_ruleset(load_ruleset(name))
    rng = Random(1)
    step = 1 if rules.ruleset.direction == "clockwise" else -1
    number = 0

    def deal() -> int:
        nonlocal number
        number += 1
        return play_randomly(Deal(rules, number.to_bytes(32, "big"), number, 0, step), rng)

    for _ in range(WARM_UP):
        deal()
    return measure(deal, seconds)


def micro() -> dict[str, float]:
    """Measure single steps under ``chinese``, in microseconds each; compiling in milliseconds."""
    rules, compiling = _compiled("chinese")
    hands = _hands(rules, 4_000)
    for hand in hands:
        rules.list_plays(hand)
    fresh = _hands(rules, 4_000)
    checks = [(hand, Random(hand).choice(rules.list_plays(hand)) & rules.full) for hand in fresh]
    to_beat = rules.code(rules.parse("9D 9C"))
    pack = list(rules.pack)
    return {
        "compile, one pack (ms)": compiling,
        "compile, two packs (ms)": _compiled("only-a-game-8")[1],
        "compile and first hand listed (ms)": _first_list("hong-kong"),
        "shuffle 52 cards (us)": _each(lambda seed: shuffle(seed, "deal", pack), _seeds(2_000)),
        "list a hand's plays (us)": _each(rules.list_plays, fresh),
        "check one play, met before (us)": min(_checks(rules, checks, to_beat) for _ in range(5)),
        "position after an action (us)": min(_applied(rules) for _ in range(5)),
        **_search(rules),
    }


def _search(rules: Rules) -> dict[str, float]:
    """Return what search is made of, from deals in the middle: copies, legal actions, plays to the end."""
    deals, chance = [_begun(rules, number) for number in range(400)], Random(2).random
    for deal in deals:
        deal.choices(deal.turn)
    planner = planner_of(rules)
    quick = Quick(planner)
    given = setup(rules.ruleset, 1, None)
    starts = [begin(rules, number.to_bytes(32, "big"), given) for number in range(40)]

    def playout(deal: Deal) -> None:
        hands = deal.hands[:]
        units = [list(planner.plan[hand]) for hand in hands]
        code = deal.choices(deal.turn)[0]
        if code in units[deal.turn]:
            units[deal.turn].remove(code)
            hands[deal.turn] ^= code & rules.full
        else:
            code = 0
        quick.points(Start.after(deal, code), hands, units, chance)

    steps: dict[str, tuple[Callable[[Deal], object], list[Deal]]] = {
        "copy a deal (us)": (Deal.copy, deals),
        "legal actions of a turn (us)": (lambda deal: deal.choices(deal.turn), deals),
        "playout of sage from the middle (us)": (playout, [deal for deal in deals if deal.to_beat]),
        "play of the reference (us)": (lambda start: play_out(start, words(bytes(32), "play")), starts),
    }
    return {name: min(_each(step, cases) for _ in range(5)) for name, (step, cases) in steps.items()}


def _begun(rules: Rules, number: int) -> Deal:
    """Return a deal after nine actions at random."""
    deal, random = Deal(rules, number.to_bytes(32, "big"), 1, 0, 1), Random(1)
    for _ in range(9):
        deal.act(deal.turn, random.choice(deal.choices(deal.turn)) & rules.full)
    return deal


def _checks(rules: Rules, cases: list[tuple[int, int]], to_beat: int) -> float:
    """Return the microseconds for checking that cards are held, are a combination and beat the table."""
    code, beats, legal = rules.code, rules.beats, 0
    start = time.perf_counter()
    for hand, mask in cases:
        legal += not mask & ~hand and beats(code(mask), to_beat)
    return (time.perf_counter() - start) / len(cases) * 1e6


def _applied(rules: Rules) -> float:
    """Return the microseconds for computing the position after an action, in the middle of a deal."""
    position = Position(_begun(rules, 0))
    action = next(iter(position.legal))
    return _each(position.apply, [action] * 4_000)


def _compiled(name: str) -> tuple[Rules, float]:
    ruleset = load_ruleset(name)
    start = time.perf_counter()
    rules = compile_ruleset(ruleset)
    return rules, (time.perf_counter() - start) * 1e3


def _first_list(name: str) -> float:
    ruleset = load_ruleset(name)
    start = time.perf_counter()
    rules = compile_ruleset(ruleset)
    rules.list_plays(_hands(rules, 1)[0])
    return (time.perf_counter() - start) * 1e3


def _hands(rules: Rules, count: int) -> list[int]:
    rng = Random(count)
    return [rules.mask(rng.sample(rules.pack, 13)) for _ in range(count)]


def _seeds(count: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in range(count)]


def _each(step: Callable[[T], object], cases: list[T]) -> float:
    start = time.perf_counter()
    for case in cases:
        step(case)
    return (time.perf_counter() - start) / len(cases) * 1e6


if __name__ == "__main__":
    name, seconds = sys.argv[1], float(sys.argv[2])
    print(json.dumps(micro() if name == "micro" else random_play(name, seconds)))
