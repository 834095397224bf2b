"""Run a check from beginning to end."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from secrets import token_urlsafe

from referee.check.desk import PATIENCE, Desk, Scenario
from referee.check.outcome import Absent, Failed, Lost, NotRun, Silent, Slow, Unfinished, Warned
from referee.check.process import BotProcess
from referee.check.report import Outcome, Report, Result, figures_of, said_in
from referee.check.scenarios import SCENARIOS
from referee.check.stream import Switchboard
from referee.errors import RefereeError
from referee.net.addresses import own_host
from referee.protocol.reasons import Reason, Refused

SLOW = 3
"""How many scenarios the bot may be too slow to finish before the others get less time."""


class UnknownScenario(RefereeError):
    """No scenario has that code; the message names it."""


def select(codes: Sequence[str] | None) -> tuple[Scenario, ...]:
    """Return the scenarios of these codes ("PING-02") and groups ("PING"); all for None.

    Raise UnknownScenario for what is neither.
    """
    if codes is None:
        return SCENARIOS
    chosen = {code.strip().upper() for code in codes}
    names = {name for scenario in SCENARIOS for name in (scenario.code, scenario.code.partition("-")[0])}
    for code in sorted(chosen - names):
        groups = ", ".join(dict.fromkeys(scenario.code.partition("-")[0] for scenario in SCENARIOS))
        raise UnknownScenario(f"scenarios: {code!r} is none; the groups are {groups}")
    return tuple(s for s in SCENARIOS if chosen & {s.code, s.code.partition("-")[0]})


async def check(
    *,
    listen: str = "",
    command: Sequence[str] | None = None,
    token: str | None = None,
    scenarios: Sequence[str] | None = None,
    on_ready: Callable[[str, str], None] | None = None,
    on_result: Callable[[Result], None] | None = None,
    on_end: Callable[[Report], None] | None = None,
    timeout: float = 60.0,
    log: Path | None = None,
    bot: str = "check/bot@1",
    patience: float = PATIENCE,
) -> Report:
    """Take a bot through the scenarios and return the report.

    The referee of the check listens on ``listen``, by default on a free port that only this host reaches.
    ``command`` starts the bot, with ARENA_REFEREE and ARENA_TOKEN in its environment, and ARENA_STRICT, so
    that it ends when its own code fails; without it, ``on_ready`` is given the address and the token with
    which a bot may connect within ``timeout`` seconds. ``on_end`` is given the report, also if the check is
    cancelled. ``log`` takes the output of the bot's process, ``bot`` is the name under which it is welcomed,
    ``patience`` how many seconds it has for an answer. Raise ListenError and UnknownScenario; whatever the
    bot does is in the report.
    """
    chosen, began = select(scenarios), time.monotonic()
    secret = token or token_urlsafe(24)
    board = Switchboard()
    desk = Desk(board, bot, secret, None, patience)
    results: list[Result] = []

    def tell(result: Result) -> None:
        results.append(result)
        if on_result is not None:
            on_result(result)

    def end(stopped: str) -> Report:
        report = Report(
            *(bot, desk.hello.sdk, desk.hello.protocol_version, tuple(results), stopped),
            left_out=_left_out(chosen, results),
            said=said_in(desk.hello),
            figures=figures_of(desk.answered, desk.took, time.monotonic() - began),
            part=len(chosen) < len(SCENARIOS),
        )
        if on_end is not None:
            on_end(report)
        return report

    try:
        async with AsyncExitStack() as stack:
            await board.listen(listen or f"{own_host()}:0")
            stack.push_async_callback(board.stop)
            if command is not None:
                desk.process = BotProcess(command, _reachable(board.address), secret, log)
                stack.push_async_callback(desk.process.close)
            if on_ready is not None:
                on_ready(board.address, secret)
            stopped = await _try_all(desk, chosen, timeout, tell)
            await desk.refuse(Refused(Reason.TOKEN_REVOKED, "token: the check is over"))
    except asyncio.CancelledError:
        end("it was interrupted")
        raise
    return end(stopped)


def _left_out(chosen: Sequence[Scenario], results: Sequence[Result]) -> tuple[str, ...]:
    tried = {result.code for result in results}
    return tuple(scenario.code for scenario in chosen if scenario.code not in tried)


def _reachable(address: str) -> str:
    """Return the address for a bot on this machine; the server may listen on all interfaces."""
    host, _, port = address.rpartition(":")
    everywhere = {"": own_host(), "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 compared with, not listened on
    return f"{everywhere.get(host, host)}:{port}"


async def _try_all(
    desk: Desk, chosen: Sequence[Scenario], timeout: float, tell: Callable[[Result], None]
) -> str:
    """Try scenarios until a failure makes all others hopeless. Return why; empty if none did."""
    stopped = await _meet(desk, timeout, tell)
    failed: set[str] = set()
    for scenario in chosen:
        if stopped:
            break
        if hopeless := failed.intersection(scenario.after):
            tell(_not_run(scenario, f"hopeless after the failure of {min(hopeless)}"))
            continue
        result = await _try(desk, scenario)
        tell(result)
        if result.outcome == "failed":
            failed.add(scenario.code)
            stopped = _hopeless(desk, result)
    return stopped


def _not_run(scenario: Scenario, reason: str) -> Result:
    return Result(scenario.code, scenario.title, "not_run", reason, 0.0)


async def _meet(desk: Desk, timeout: float, tell: Callable[[Result], None]) -> str:
    """Let the bot connect. Return why nothing can be tried; empty if it is there."""
    first, began = SCENARIOS[0], time.monotonic()
    try:
        await desk.meet(timeout)
    except Failed as error:
        seconds = time.monotonic() - began
        tell(Result(first.code, first.title, "failed", str(error), seconds, _printed(desk)))
        return f"the bot did not open a stream as it should; see {first.code}"
    return ""


def _printed(desk: Desk) -> tuple[str, ...]:
    return desk.process.printed() if desk.process is not None else ()


def _hopeless(desk: Desk, result: Result) -> str:
    """Return why no other scenario is worth trying after this failure; empty if others are."""
    if desk.gone:
        return f"the bot has ended; see {result.code}"
    if result.code == "TURN-01" and isinstance(desk.failure, (Silent, Lost)) and not desk.answered:
        return f"the bot answers no turn; see {result.code}"
    return ""


async def _try(desk: Desk, scenario: Scenario) -> Result:
    """Take the bot through one scenario and return its result."""
    outcome: Outcome = "passed"
    reason = ""
    desk.scenario, desk.failure = scenario.code, None
    if desk.process is not None:
        desk.process.mark()
    began = time.monotonic()
    try:
        _require(desk, scenario)
        await _ready(desk)
        began = time.monotonic()
        await _run(desk, scenario, began)
    except NotRun as error:
        outcome, reason = "not_run", str(error)
    except Slow as error:
        outcome, reason, desk.slow = "warned", str(error), [*desk.slow, scenario.code]
        desk.failure = error if desk.process is not None else None
    except Warned as error:
        outcome, reason = "warned", str(error)
    except Failed as error:
        outcome, reason, desk.failure = "failed", str(error), error
    seconds = time.monotonic() - began
    output = _printed(desk) if outcome in ("failed", "warned") else ()
    if not desk.gone:
        try:
            await desk.tidy()
        except Absent as error:
            desk.gone = True
            outcome, reason, output = "failed", reason or str(error), output or _printed(desk)
    return Result(scenario.code, scenario.title, outcome, reason, seconds, output)


async def _ready(desk: Desk) -> None:
    try:
        await desk.ready()
    except Absent:
        desk.gone = True
        raise


def _require(desk: Desk, scenario: Scenario) -> None:
    """Raise NotRun where the scenario does not concern the bot."""
    if scenario.needs == "command" and desk.process is None:
        raise NotRun("only for a bot that the check starts by its command")
    if scenario.needs == "lists" and not desk.hello.wants.legal_plays:
        raise NotRun("only for a bot whose hello asks for the legal plays")


async def _run(desk: Desk, scenario: Scenario, began: float) -> None:
    """Run a scenario. When its time is up, raise Slow if the bot is still answering, Unfinished if it is not.

    Slow is no failure. A bot that is slow again and again gets less time, so that the check comes to an end.
    """
    limit = scenario.seconds * max(1.0, desk.patience / PATIENCE)
    limits = [limit / 3, limit] if len(desk.slow) >= SLOW else [limit]
    run, answered = asyncio.ensure_future(scenario.run(desk)), desk.answered
    try:
        for seconds in limits:
            await asyncio.wait([run], timeout=began + seconds - time.monotonic())
            if run.done():
                return run.result()
            if desk.last_answer > max(began, time.monotonic() - desk.patience) and not desk.strays:
                less = f" (a third of the time, as in {', '.join(desk.slow[:SLOW])} it was slow too)"
                note = "" if seconds == limit else less
                turns = max(desk.answered - answered, 1)
                each = f"about {1000 * seconds / turns:.0f} ms each"
                raise Slow(
                    f"the bot is slow: {turns} turns in {seconds:.1f} s, {each}, and not finished{note}"
                )
        raise Unfinished(f"expected the bot to finish within {limit:g} s; it did not")
    finally:
        run.cancel()
        await asyncio.wait([run])
