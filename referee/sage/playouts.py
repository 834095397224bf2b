"""Playing a deal to its end, quickly, with all hands known.

``Quick`` follows the rules that bear on nearly every deal; ``Careful`` asks the referee's own deal about
every action, and so plays under any ruleset. Seats play by the quick policy; in ``Quick``, they may play
otherwise.
"""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import next_seats
from referee.deals.facts import rule_facts
from referee.deals.scoring import Finish, score
from referee.rules.plays import Rules
from referee.sage.plans import Planner
from referee.sage.policy import Chance, Manner, Policy

BOMBS_OUT_OF_TURN = 0.3
"""How often a bomb is played out of turn when that is possible."""


class Start(NamedTuple):
    """How a deal stands, except for its hands."""

    seat: int
    to_beat: int
    last: int
    """Who made the play to beat."""
    locked: int
    """The seats, as bits, that are locked out of the trick."""
    out: tuple[int, ...]
    final: int
    dealer: int
    step: int
    leader: int | None

    @classmethod
    def after(cls, deal: Deal, code: int) -> "Start":
        """Return how ``deal`` stands after the action of the seat in turn: a code, or 0 for a pass."""
        seat, hands, order = deal.turn, deal.hands, next_seats(deal.step, len(deal.hands))
        to_beat, last, locked = (
            (code, seat, deal.locked) if code else (deal.to_beat, deal.last_seat, deal.locked)
        )
        if not code and deal.rules.ruleset.pass_locks:
            locked |= 1 << seat
        following = order[seat]
        while following != last and not hands[following]:
            following = order[following]
        if following == last and not code:
            to_beat = locked = 0
            while not hands[following]:
                following = order[following]
        out, final = tuple(deal.out), deal.final
        if code and not deal.rules.remove(hands[seat], code & deal.rules.full):
            out, final = (*out, seat), final or code
            if deal.rules.ruleset.after_out == "next_leads":
                to_beat = locked = 0
        return cls(following, to_beat, last, locked, out, final, deal.dealer, deal.step, deal.leader)

    def is_end(self, first_out: bool, hands: Sequence[int]) -> bool:
        """Return whether the deal is over with these hands: at the first seat out, or the last but one."""
        return bool(self.out) and (first_out or sum(map(bool, hands)) == 1)


def is_quick(rules: Rules) -> bool:
    """Return whether ``Quick`` follows all rules of the ruleset that bear on a turn."""
    facts, ruleset = rule_facts(rules), rules.ruleset
    rare = facts.careful or facts.windows or facts.draws or facts.beat_own or facts.losing or facts.limited
    return not rare and ruleset.bonuses is None and not facts.asks_who_played


class Quick:
    """Playouts in which only the hands and the play to beat matter."""

    def __init__(self, planner: Planner) -> None:
        self._rules = planner.rules
        self._policies = (Policy(planner),) * planner.rules.ruleset.players

    def points(
        self,
        start: Start,
        hands: list[int],
        units: list[list[int]],
        chance: Chance,
        manners: Sequence[Manner] = (),
    ) -> tuple[int, ...]:
        """Return the points after play to the end; ``hands`` and ``units`` are used up.

        ``manners`` say by seat how to play, without them all follow the quick policy.
        """
        rules, manners = self._rules, manners or self._policies
        full, remove, one_pack = rules.full, rules.remove, rules.decks == 1
        first_out, locks = rules.ruleset.deal_ends == "first_out", rules.ruleset.pass_locks
        next_leads = rules.ruleset.after_out == "next_leads"
        seat, to_beat, last, locked, done, final, dealer, step, leader = start
        order, out = next_seats(step, len(hands)), list(done)
        over = start.is_end(first_out, hands)
        while not over:
            if not to_beat:
                code = manners[seat].lead(units[seat], hands, seat, hands[order[seat]], chance)
            elif locked and locked >> seat & 1:
                code = 0
            else:
                code = manners[seat].follow(units[seat], hands, seat, to_beat, chance)
            if code:
                to_beat, last, mask = code, seat, code & full
                hands[seat] = left = hands[seat] ^ mask if one_pack else remove(hands[seat], mask)
                if not left:
                    final = final or code
                    out.append(seat)
                    if first_out or sum(map(bool, hands)) == 1:
                        break
                    if next_leads:
                        to_beat = locked = 0
            elif locks:
                locked |= 1 << seat
            seat = order[seat]
            while not hands[seat] and seat != last:
                seat = order[seat]
            if seat == last:
                to_beat = locked = 0
                while not hands[seat]:
                    seat = order[seat]
        return score(rules, Finish(dealer, step, leader, (), tuple(hands), tuple(out), final=final))


class Careful:
    """Playouts under any ruleset."""

    def __init__(self, planner: Planner) -> None:
        self._rules, self._planner, self._policy = planner.rules, planner, Policy(planner)
        facts = rule_facts(planner.rules)
        self._changes = facts.draws or facts.windows
        """Whether hands change other than by plays in turn, so that units may have to be planned again."""

    def points(self, deal: Deal, units: list[list[int]], chance: Chance) -> tuple[int, ...]:
        """Return the points after play to the end; ``deal`` and ``units`` are used up."""
        full, plan = self._rules.full, self._planner.plan
        order = next_seats(deal.step, len(deal.hands))
        planned = [sum([unit & full for unit in some]) for some in units] if self._changes else deal.hands
        while not deal.over:
            seat = deal.owing()[0]
            if planned[seat] != deal.hands[seat]:
                units[seat] = list(plan[deal.hands[seat]])
            to_beat, is_plain = deal.bearing(seat)
            if deal.stage is Stage.BEAT_OWN:
                code = 0
            elif not is_plain:
                code = self._bound(deal, seat, units, chance)
            elif to_beat:
                code = self._policy.follow(units[seat], deal.hands, seat, to_beat, chance)
            else:
                code = self._policy.lead(units[seat], deal.hands, seat, deal.hands[order[seat]], chance)
            deal.act(seat, code & full)
            if self._changes:
                planned[seat] = sum([unit & full for unit in units[seat]])
        return deal.points

    def _bound(self, deal: Deal, seat: int, units: list[list[int]], chance: Chance) -> int:
        """Return the code of an action in a turn on which a rare rule bears."""
        plays = deal.choices(seat)
        if len(plays) == 1:
            code = plays[0]
        elif deal.stage is Stage.BOMBS:
            code = plays[0] if chance() < BOMBS_OUT_OF_TURN else 0
        else:
            mine = [unit for unit in units[seat] if unit in plays]
            code = (mine or plays)[0]
        if code in units[seat]:
            units[seat].remove(code)
        elif code:
            left = self._rules.remove(deal.hands[seat], code & self._rules.full)
            units[seat] = list(self._planner.plan[left])
        return code
