"""What the rules decide, line by line: ``python -m tests.decisions``. Both builds print the same.

Deals of every preset, of the unusual rulesets of the tests and of random ones are played at random. Of every
decision, the line has what is legal and what became of the deal; of every deal, its record, and its digest.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from random import Random

from hypothesis import HealthCheck, given, settings

from referee.deals.deal import Deal, Stage
from referee.deals.session import Session
from referee.errors import RefereeError
from referee.helpers import decompose
from referee.native import build
from referee.position import Position
from referee.records.record import deal_record
from referee.records.results import canonical
from referee.reference.values import deal_values
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from referee.sage.sage import Sage
from tests.referee.deals import NAMES, rules_named
from tests.referee.strategies import rulesets

EXAMPLES = 150
"""How many random rulesets."""


def played(rules: Rules, number: int) -> Iterator[str]:
    """Play a session of one or two deals at random; yield what each decision was between."""
    random = Random(number)
    session = Session(rules, number.to_bytes(32, "big"), min(2, rules.ruleset.session.deals or 2))
    while not session.over:
        deal = session.next_deal()
        while not deal.over:
            yield from _decided(deal, random)
        yield sha256(canonical(deal_record(deal))).hexdigest()
        yield f"{deal.points} {deal.end} {deal.culprit} {deal.out}"
        session.close_deal()


def _decided(deal: Deal, random: Random) -> Iterator[str]:
    rules, seat = deal.rules, deal.owing()[0]
    choices = list(deal.choices(seat))
    yield f"{seat} {deal.stage} {choices} {list(deal.legal(seat))} {deal.can_pass(seat)} {deal.forced(seat)}"
    chosen = random.choice(choices) & rules.full
    wrong = chosen ^ 1 << random.randrange(rules.width)
    try:
        deal.copy().act(seat, wrong)
    except RefereeError as error:
        yield f"{type(error).__name__}: {error}"
    before = None if deal.stage is Stage.EXCHANGE else Position(deal)
    deal.act(seat, chosen)
    yield f"{before} {rules.text(chosen)} {before == Position(deal)} {deal.hands} {deal.turn}"


def considered(rules: Rules) -> Iterator[str]:
    """Yield what helpers, the reference and the house bot make of the middle of a deal."""
    random = Random(1)
    deal = Deal(rules, bytes(32), 1, 0, 1)
    for _ in range(9):
        if deal.over:
            return
        seat = deal.owing()[0]
        deal.act(seat, random.choice(list(deal.choices(seat))) & rules.full)
    if deal.over:
        return
    yield f"{deal_values(deal)} {[decompose(rules, hand, 500) for hand in deal.hands]}"
    seat, position = deal.owing()[0], Position(deal)
    seen = Position.seen(
        rules,
        step=deal.step,
        dealer=deal.dealer,
        leader=deal.leader or 0,
        hands=[
            (hand if each == seat else 0, 0 if each == seat else rules.count(hand))
            for each, hand in enumerate(deal.start)
        ],
        actions=[],
    )
    yield f"{seen} {[str(seen.sample(Random(each))) for each in range(3)]} {position.playout(Random(2))}"
    sage = Sage(rules, Random(1), count().__next__)  # a second passes whenever it looks at the clock
    yield f"{sage.choose(position, seat, list(deal.legal(seat)), deal.can_pass(seat), 40)}"


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[*HealthCheck],
)
@given(rulesets(most_cards=13))
def of_any_rules(ruleset: Ruleset) -> None:
    """Print what is decided under random rulesets, the same ones each time."""
    print(json.dumps(ruleset.to_object()))
    print("\n".join(played(compile_ruleset(ruleset), 1)))


def main() -> None:
    """Print the build, and everything else."""
    print(build())
    for name in NAMES:
        rules = rules_named(name)
        print(name, *played(rules, 7), *played(rules, 8), *considered(rules), sep="\n")
    of_any_rules()


if __name__ == "__main__":
    main()
