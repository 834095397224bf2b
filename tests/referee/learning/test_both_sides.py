"""Test that an observation is the same in an environment as for a bot that plays on a referee."""

from collections.abc import Mapping

import numpy as np
import pytest

from referee.bot import Play, Turn
from referee.learning import Encoder, Observed
from referee.learning.tables import LearningTable
from referee.ruleset import load_ruleset
from tests.referee.deals import UNUSUAL
from tests.referee.learning.test_environment import WITH_EXCHANGE
from tests.referee.support import match_spec, play_match, referee, sdk_bots

DEALS = 3

Moment = tuple[int, int, int, str]
"""The deal, its number of actions so far, who is asked, and the kind of turn."""
RESTOCKING = {
    "extends": "hong-kong-relatives-3",
    "name": "restocking",
    "version": 1,
    "hand_size": 15,
    "restock": True,
    "draw_on_pass": "as_needed",
    "session": {"deals": DEALS},
}


@pytest.mark.parametrize(
    "ruleset",
    [
        *("chinese", "chinese-stakes", "choi-dai-di-5", "gamesky", "indonesia", "lectio", "only-a-game-8"),
        *("hong-kong-relatives-3", WITH_EXCHANGE, RESTOCKING),
        UNUSUAL["next leads"],
    ],
    ids=lambda ruleset: ruleset if isinstance(ruleset, str) else ruleset["name"],
)
async def test_observation_when_a_bot_is_asked_then_it_is_that_of_the_table(
    ruleset: str | Mapping[str, object],
) -> None:
    encoder = Encoder(ruleset)
    seen: dict[Moment, tuple[Observed, int]] = {}

    class Watching:
        """Chooses a play by the number of its turns so far; passes at every third turn if it may."""

        def __init__(self) -> None:
            self.asked = 0

        def choose(self, turn: Turn) -> Play | None:
            self.asked += 1
            passes = turn.can_pass and (not turn.legal or self.asked % 3 == 0)
            slot = 0 if passes else 1 + self.asked % len(turn.legal)
            moment = (turn.deal, len(turn.happened), turn.seat, turn.kind)
            seen[moment] = encoder.of_turn(turn), slot
            return turn.legal[slot - 1] if slot else None

        bomb = beat_own = exchange = choose

    bots = range(1, load_ruleset(ruleset).players + 1)
    async with referee() as address, sdk_bots(address, dict.fromkeys(bots, Watching)):
        (result,) = await play_match(address, match_spec(bots, ruleset=ruleset, deals=DEALS))
    assert not any(result.faults)
    assert compared(encoder, seen) > 20


def compared(encoder: Encoder, seen: Mapping[Moment, tuple[Observed, int]]) -> int:
    """Play the same deals at a table of the environment; assert that observations agree, and count them."""
    table = LearningTable(encoder.rules, bytes([1] * 32), DEALS)
    decisions = 0
    while not table.over:
        sight, deal = table.sight(table.seat), table.deal
        assert deal is not None
        observed, slot = seen[deal.number, len(deal.log), table.seat, sight.kind]
        again = encoder.observe([sight])
        assert np.array_equal(again.observation[0], observed.observation)
        assert np.array_equal(again.plays, observed.plays)
        assert np.array_equal(again.legal, observed.legal)
        table.act(slot)
        decisions += 1
    return decisions
