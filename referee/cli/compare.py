"""``arena compare A B``: ``arena play B --against A`` in fewer words."""

from typing import Annotated

import typer

from referee.cli.output import AsJson
from referee.cli.play import T0, T1, Alpha, Beta, Deals, DecisionMs, Jobs, PerSession, Rules, Seed, Wait, play

BOT = "a sample bot, a Python file, one as it was (my_bot.py@v1), or a command in quotes."


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=f"The old bot: {BOT}")],
    b: Annotated[str, typer.Argument(metavar="B", help="The new bot, in any of these forms.")],
    panel: Annotated[
        list[str] | None,
        typer.Argument(metavar="BOT …", help="The bots that both play; by default sample bots."),
    ] = None,
    deals: Deals = None,
    session: PerSession = None,
    ruleset: Rules = "chinese",
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    jobs: Jobs = None,
    wait: Wait = 60.0,
    alpha: Alpha = None,
    beta: Beta = None,
    t0: T0 = None,
    t1: T1 = None,
    as_json: AsJson = False,
) -> None:
    """Find out whether bot B is better than bot A, and play only as long as that takes.

    Both play the same deals, from every seat and against the same panel. Nothing is registered, rated or
    kept. Ctrl-C ends it early and shows what is known so far.
    """
    play(
        [b, *(panel or [])],
        against=a,
        deals=deals,
        session=session,
        ruleset=ruleset,
        seed=seed,
        decision_ms=decision_ms,
        jobs=jobs,
        wait=wait,
        alpha=alpha,
        beta=beta,
        t0=t0,
        t1=t1,
        as_json=as_json,
    )
