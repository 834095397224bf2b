"""One run: a referee, the bots, the matches, and what the spy believed compared with the truth."""

import json
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict

from benchmarks.referee import process, read_line
from benchmarks.spying import forced_actions
from benchmarks.timing.setting import PLAYERS, RULESET, Guess, Played, Setting, token
from referee.deals.shuffle import session_seed
from referee.matches.match import Limits, MatchBot, MatchSpec, Progress, SessionResult, SessionSpec
from referee.net.client import run_match
from referee.records.record import parse_action
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset

BOTS = "benchmarks.timing.bots"


def play(setting: Setting, deals: int, *, spied: bool = True) -> Played:
    """Play this many deals, the same ones every time; return what happened."""
    told = json.dumps(asdict(setting))
    played = Played()
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        spy = stack.enter_context(process(BOTS, address, told)) if spied else None
        for bot in range(1 if spied else 0, PLAYERS):
            stack.enter_context(process(BOTS, address, told, "--opponent", str(bot)))
        results = _matches(address, setting, deals, played)
        for number, result in results.items():
            if any(result.faults) or result.forfeit is not None:
                sys.exit(f"session {number}: a bot had a fault; what was measured is worth nothing")
        rows = []
        if spy is not None:
            assert spy.stdin is not None
            spy.stdin.write("\n")
            spy.stdin.flush()
            rows = json.loads(read_line(spy))
    rules = compile_ruleset(load_ruleset(RULESET))
    truth = {number: truth_of(rules, result.records[0]) for number, result in results.items()}
    played.points = {number: result.points[number % PLAYERS] for number, result in sorted(results.items())}
    for session, action, prior, timed in rows:
        number = int(session.rpartition("/")[2])
        if number in truth:
            played.guesses.append(Guess(number, prior, timed, truth[number][action]))
    return played


def _matches(address: str, setting: Setting, deals: int, played: Played) -> dict[int, SessionResult]:
    """Run the matches; return the results by session number."""
    results: dict[int, SessionResult] = {}
    begun: list[float] = []
    asked = [0] * setting.tables
    ends: list[float] = []

    def run(table: int) -> None:
        spec = _match(setting, table, range(1 + table, 1 + deals, setting.tables))
        for update in run_match(address, "worker", spec):
            now = time.perf_counter()
            if isinstance(update, Progress):
                asked[table] = update.decisions
                if update.decisions and not begun:
                    begun.append(now)
            elif isinstance(update, SessionResult):
                results[update.number] = update
        ends.append(time.perf_counter())

    threads = [threading.Thread(target=run, args=(table,)) for table in range(setting.tables)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    played.decisions = sum(asked)
    played.seconds = max(ends) - begun[0]
    return results


def _match(setting: Setting, table: int, numbers: Sequence[int]) -> MatchSpec:
    bots = tuple(
        MatchBot(int(token(table, bot)), f"bench/bot{token(table, bot)}@1") for bot in range(PLAYERS)
    )
    return MatchSpec(
        match_id=f"timing-{table}",
        tournament="timing",
        round=1,
        table=table + 1,
        ruleset=load_ruleset(RULESET).to_object(),
        bots=bots,
        sessions=tuple(
            SessionSpec(
                number,
                tuple((seat - number) % PLAYERS for seat in range(PLAYERS)),
                session_seed(bytes(32), 1, 1, number),
            )
            for number in numbers
        ),
        deals=1,
        commitment="",
        limits=Limits(decision_ms=20_000, faults=1, ask_forced=setting.ask_forced),
    )


def truth_of(rules: Rules, record: str) -> list[bool]:
    """Return for each action of a lean deal record whether the seat had no choice."""
    lean = json.loads(record)
    hands = [rules.parse(hand) for hand in lean["hands"]]
    masks = [parse_action(rules, text).cards for text in lean["actions"]]
    return forced_actions(rules, hands, lean["dealer"], 1 if lean["direction"] == "clockwise" else -1, masks)
