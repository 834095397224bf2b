"""Learns to play by itself, and writes a bot: ``python -m referee.learning.examples.train --out my_bot``.

It plays at many tables at once, half of them against itself and half against greedy, and improves by PPO
(Schulman et al., 2017), in numpy alone. The same seed gives the same bot on the same machine.
"""

import argparse
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from referee.errors import RefereeError
from referee.learning import Encoder
from referee.learning.examples.network import Adam, Network
from referee.learning.examples.playing import Batch, Collector, Measured, best, measured


@dataclass(frozen=True)
class Plan:
    """How to learn."""

    ruleset: str = "chinese"
    decisions: int = 400_000
    """How many decisions to learn from, in all."""
    seed: int = 1
    tables: int = 128
    hidden: int = 64
    batch: int = 8192
    """Decisions collected before each round of learning."""
    part: int = 1024
    """Decisions for each step of the gradient."""
    epochs: int = 3
    """How often each decision is used."""
    rate: float = 2e-3
    """Adam's learning rate; it falls to zero in the course of learning."""
    clip: float = 0.2
    entropy: float = 0.01


def train(plan: Plan, report: Callable[[str], None]) -> tuple[Encoder, Network]:
    """Return a network that has learned as planned; ``report`` gets lines about the progress."""
    encoder = Encoder(plan.ruleset)
    random = np.random.default_rng(plan.seed)
    network = Network.fresh(encoder, plan.hidden, random)
    adam = Adam(network.parameters)
    collector = Collector(encoder, plan.tables, plan.seed)
    began, done, scale = time.process_time(), 0, 10.0
    while done < plan.decisions:
        batch = collector.collect(network, plan.batch, scale)
        rate = plan.rate * (1 - done / plan.decisions)
        for _ in range(plan.epochs):
            _learn(network, adam, batch, plan, rate, random)
        done += len(batch.target.slots)
        outcome = float(batch.target.outcomes.mean()) * scale
        seconds = time.process_time() - began
        report(f"{done:9,} decisions, {seconds:5.0f} s of CPU: {outcome:+.2f} points a deal while learning")
    return encoder, network


def _learn(
    network: Network, adam: Adam, batch: Batch, plan: Plan, rate: float, random: np.random.Generator
) -> None:
    order = random.permutation(len(batch.target.slots))
    for first in range(0, len(order), plan.part):
        part = batch.part(np.sort(order[first : first + plan.part]))
        gradients = network.gradients(part.seen, part.target, clip=plan.clip, entropy=plan.entropy)
        adam.step(gradients, rate)


def export(network: Network, ruleset: str, out: Path) -> tuple[Path, Path]:
    """Write the bot to ``out``.py and its parameters to ``out``.npz, and return both paths."""
    bot, parameters = out.with_suffix(".py"), out.with_suffix(".npz")
    shutil.copyfile(Path(__file__).with_name("bot.py"), bot)
    network.save(parameters, ruleset)
    return bot, parameters


def main() -> None:
    """Learn, measure, and write the bot."""
    parser, options = _options()
    if options.deals < 2 or options.decisions < 1:
        parser.error("--deals must be 2 or more, --decisions 1 or more")
    if not options.out.absolute().parent.is_dir():
        parser.error(f"--out: folder {options.out.absolute().parent} does not exist")
    plan = Plan(ruleset=options.ruleset, decisions=options.decisions, seed=options.seed)
    try:
        encoder, network = train(plan, lambda line: print(line, flush=True))
        result = measured(partial(best, network), encoder, options.deals, seed=1_000_000)
    except RefereeError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(130, "interrupted; nothing was written\n")
    bot, parameters = export(network, options.ruleset, options.out)
    print(summary_of(result))
    print(f"wrote {bot} and {parameters}")


def _options() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    defaults = Plan()
    parser = argparse.ArgumentParser(prog="python -m referee.learning.examples.train", description=__doc__)
    parser.add_argument("--ruleset", default=defaults.ruleset, help="the name of a ruleset")
    parser.add_argument("--decisions", type=int, default=defaults.decisions, help="how many to learn from")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--deals", type=int, default=500, help="deals to measure with, each from every seat")
    parser.add_argument("--out", type=Path, default=Path("my_bot"), help="my_bot: my_bot.py and my_bot.npz")
    return parser, parser.parse_args()


def summary_of(result: Measured) -> str:
    """Say how a policy did against greedy."""
    return (
        f"against greedy: {result.points:+.2f} points per deal (95 %: ±{result.error:.2f}) "
        f"relative to the others, {result.wins:.1%} of deals won"
    )


if __name__ == "__main__":
    main()
