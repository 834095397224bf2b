"""Tests for the example of learning: its gradients are right, it learns, and what it exports plays."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from referee.learning import Encoder, Tables
from referee.learning.examples import train
from referee.learning.examples.network import Network, Seen, Target, seen_by
from referee.learning.examples.playing import Collector, advantages, best, drawn, greedy, measured
from referee.learning.features import Floats
from referee.local.field import block_of, turned
from referee.local.table import LocalTable, Setting
from referee.local.tally import Played
from referee.ruleset import load_ruleset

GREEDY = Path(__file__).parents[3] / "sample_bots" / "python" / "greedy.py"
LEARNED = Path(train.__file__).with_name("bot.py")

SHORT = train.Plan(
    ruleset="chinese",
    decisions=14_000,
    seed=2,
    tables=32,
    hidden=16,
    batch=2048,
    part=256,
    epochs=2,
    rate=5e-3,
)


def quiet(line: str) -> None:
    """Ignore a line of output."""


def loss(
    network: Network, seen: Seen, target: Target, advantage: Floats, clip: float, entropy: float
) -> float:
    """Return the loss whose gradients are checked; the advantages are constants."""
    logs = network.chances(seen)
    ratio = np.exp(logs[target.slots] - target.chances)
    bound = np.clip(ratio, 1 - clip, 1 + clip)
    policy = -np.minimum(ratio * advantage, bound * advantage).mean()
    error = network.values(seen) - target.outcomes
    spread = np.add.reduceat(np.exp(logs) * logs, seen.starts[:-1]).mean()
    return float(policy + (error**2).mean() / 2 + entropy * spread)


def test_gradients_when_parameters_are_moved_a_little_then_the_loss_changes_as_they_say() -> None:
    encoder = Encoder("chinese")
    random = np.random.default_rng(1)
    network = Network.fresh(encoder, 5, random)
    network.parameters = {name: value.astype(np.float64) for name, value in network.parameters.items()}
    seen = seen_by(encoder, Tables(40, seed=2, encoder=encoder).observe())
    chances = network.chances(seen)
    slots = drawn(chances, seen, random)
    other = random.standard_normal(40, np.float32) * np.float32(0.3)
    target = Target(slots, chances[slots] + other, random.standard_normal(40, np.float32))
    error = network.values(seen) - target.outcomes
    advantage = -error / (np.std(error) + 1e-6)
    found = network.gradients(seen, target, clip=0.2, entropy=0.01)
    assert found.keys() == network.parameters.keys()
    for name, parameter in network.parameters.items():
        place = int(np.abs(found[name]).argmax())
        before, step = parameter.flat[place], 1e-5
        losses = []
        for moved in (before + step, before - step):
            parameter.flat[place] = moved
            losses.append(loss(network, seen, target, advantage, 0.2, 0.01))
        parameter.flat[place] = before
        assert found[name].flat[place] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-3)


def test_greedy_when_plays_are_offered_then_it_takes_the_weakest_of_most_cards() -> None:
    encoder = Encoder("chinese")
    tables = Tables(30, seed=5, encoder=encoder)
    for _ in range(20):
        seen = tables.observe()
        chosen = greedy(seen) - seen.starts[:-1]
        for place, table in enumerate(tables._tables):
            plays = table.sight(table.seat).plays
            wanted = min(plays, key=lambda code: (-(code & encoder.rules.full).bit_count(), code))
            assert plays[chosen[place] - 1] == wanted
        tables.step(chosen)


def test_collector_when_deals_end_then_their_decisions_have_what_they_came_to() -> None:
    encoder = Encoder("chinese-2")
    network = Network.fresh(encoder, 4, np.random.default_rng(1))
    seen, target = Collector(encoder, 6, seed=4).collect(network, 200, 1.0)
    assert len(target.outcomes) == len(seen.context) == len(seen.starts) - 1 >= 200
    assert target.outcomes.any()
    assert ((seen.starts[:-1] <= target.slots) & (target.slots < seen.starts[1:])).all()
    assert np.allclose(network.chances(seen)[target.slots], target.chances, atol=1e-5)
    assert seen.legal[target.slots].all()


def test_train_when_it_is_short_then_it_plays_better_than_what_has_learned_nothing() -> None:
    lines: list[str] = []
    encoder, learned = train.train(SHORT, lines.append)
    _, nothing = train.train(replace(SHORT, decisions=0), lines.append)
    after, before = (measured(partial(best, one), encoder, 60, seed=77) for one in (learned, nothing))
    assert len(lines) == 7
    assert after.points > before.points + 0.5


@pytest.mark.parametrize("ruleset", ["gamesky", "chinese-2"])
def test_train_when_it_is_done_twice_with_a_seed_then_the_parameters_are_the_same(ruleset: str) -> None:
    plan = replace(SHORT, ruleset=ruleset, decisions=600, batch=500)
    first, second = (train.train(plan, quiet)[1] for _ in range(2))
    assert all(np.array_equal(first.parameters[name], second.parameters[name]) for name in first.parameters)


def played(files: tuple[Path, ...], ruleset: str, deals: int) -> list[tuple[int, Played]]:
    """Play these bots at the local table, the first one in every seat; return its seat and the result."""
    setting = Setting(
        ruleset=json.dumps(load_ruleset(ruleset).to_object()),
        names=tuple(file.stem for file in files),
        files=files,
        seed="learning",
        decision_ms=60_000,
    )
    table = LocalTable(setting)
    return [
        (session.seating.index(0), table.play(session))
        for number in range(deals)
        for session in block_of("learning", number, turned(range(len(files)))).sessions
    ]


@pytest.mark.parametrize("ruleset", ["gamesky", "hong-kong-relatives-3", "only-a-game-8"])
def test_export_when_a_network_has_learned_then_its_bot_plays_at_the_local_table(
    ruleset: str, tmp_path: Path
) -> None:
    plan = replace(SHORT, ruleset=ruleset, decisions=300, batch=300)
    _, network = train.train(plan, quiet)
    bot, parameters = train.export(network, ruleset, tmp_path / "mine")
    assert (bot.name, parameters.name) == ("mine.py", "mine.npz")
    for _, result in played((bot,) + (GREEDY,) * (load_ruleset(ruleset).players - 1), ruleset, 1):
        assert not result.faults
        assert not result.failures


def test_bot_when_the_ruleset_is_another_then_it_fails_with_a_line_that_says_so() -> None:
    (_, result), *_ = played((LEARNED, *[GREEDY] * 3), "hong-kong", 1)
    assert "the encoder is for chinese@1, the turn of hong-kong@1" in result.failures[0].text


def test_bot_when_it_has_learned_then_it_beats_greedy_at_the_table_and_in_batches() -> None:
    results = played((LEARNED, *[GREEDY] * 3), "chinese", 40)
    assert not any(one.faults or one.failures for _, one in results)
    points = np.array([one.result.points for _, one in results])
    own = advantages(points)[np.arange(len(results)), [seat for seat, _ in results]]
    assert len(own) == 160
    assert own.mean() > 0.2
    network, encoder = Network.load(LEARNED.with_suffix(".npz")), Encoder("chinese")
    assert measured(partial(best, network), encoder, 60, seed=5).points > 0.2
