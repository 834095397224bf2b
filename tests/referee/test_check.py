"""Tests for the check of bots: good bots pass it, and it says what is wrong with others."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.check import SCENARIOS, Report, Result, UnknownScenario, check
from referee.check.process import BotProcess, excerpt
from referee.check.scenarios import pings
from referee.check.session import BotSession
from referee.errors import ListenError
from referee.v1 import bots_pb2, cards_pb2
from tests.referee.good_bots import GoodBot, RulesBot, SharingBot
from tests.referee.mistakes.streams import Absentee, OneShot
from tests.referee.mistakes.turns import Mute, NoTiles
from tests.waiting import DEADLINE, is_gone, until

PATIENCE = 10.0
"""Seconds that bots have for an answer in tests."""
ROOT = Path(__file__).parents[2]
SAMPLES = [
    file
    for file in sorted((ROOT / "sample_bots" / "python").glob("*.py"))
    if not file.stem.startswith("sage")  # it thinks too long to be checked at every kind of turn
]


async def check_bot(
    bot: GoodBot, *codes: str, timeout: float = DEADLINE, patience: float = PATIENCE
) -> Report:
    """Check a bot that runs in this event loop."""
    tasks: list[asyncio.Task[None]] = []

    def start(address: str, token: str) -> None:
        tasks.append(asyncio.create_task(bot.run(address, token)))

    try:
        return await check(scenarios=codes or None, on_ready=start, timeout=timeout, patience=patience)
    finally:
        bot.leaving.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def program(bot: type[GoodBot]) -> list[str]:
    """Return the command that runs a bot."""
    code = f"from {bot.__module__} import {bot.__name__}; main({bot.__name__})"
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    return [sys.executable, "-c", f"{path}; from tests.referee.mistakes.program import main; {code}"]


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not warn good bots of late pongs when the machine is busy."""
    monkeypatch.setattr(pings, "LATE_SECONDS", DEADLINE)


def complaints(report: Report) -> list[Result]:
    return [result for result in report.results if result.outcome in ("failed", "warned")]


def test_session_of_given_hands_when_cards_are_drawn_then_they_are_the_rest_of_the_pack() -> None:
    hands = {1: ["3D 3C 4H 2S 2H 8D 9D TD JD QD KD AD 2D", None, None]}
    session = BotSession(1, {"extends": "hong-kong-relatives-3"}, 0, hands=hands)
    session.open(bots_pb2.PlayResponse())
    cards = session.rules.cards
    dealt = [card for hand in session.deal.dealt for card in cards(hand)]
    assert sorted([*dealt, *session.deal.leftover]) == list(range(52))


@pytest.mark.usefixtures("unhurried")
async def test_check_when_bots_are_good_then_they_pass_all() -> None:
    bots = (GoodBot(), RulesBot())
    for bot, report in zip(bots, await asyncio.gather(*[check_bot(bot) for bot in bots]), strict=True):
        assert complaints(report) == []
        assert report.passed
        assert [result.code for result in report.results] == [scenario.code for scenario in SCENARIOS]
        left_out = {result.code for result in report.results if result.outcome == "not_run"}
        wanted = {scenario.code for scenario in SCENARIOS if scenario.needs == "command"}
        assert left_out == wanted | (set() if bot.lists else {"FUTURE-09"})
        assert (report.sdk, report.protocol_version) == ("test 1", 1)


@pytest.mark.usefixtures("unhurried")
async def test_check_when_it_starts_the_bot_then_leaving_is_tried_too(tmp_path: Path) -> None:
    told: list[Result] = []
    log = tmp_path / "bot.log"
    command = [sys.executable, str(SAMPLES[0])]
    report = await check(command=command, log=log, on_result=told.append, bot="me/mine@3")
    assert complaints(report) == []
    assert tuple(told) == report.results
    assert report.bot == "me/mine@3"
    assert "me/mine@3 is connected" in log.read_text()


async def test_check_when_a_bot_tells_each_referee_its_share_then_it_passes() -> None:
    report = await check(command=program(SharingBot), patience=PATIENCE)
    wrong = [result for result in report.results if result.outcome in ("failed", "not_run")]
    assert (report.passed, wrong) == (True, [])


@pytest.mark.parametrize("sample", SAMPLES[1:], ids=lambda path: path.stem)
@pytest.mark.usefixtures("unhurried")
async def test_check_when_a_sample_bot_plays_then_it_passes(sample: Path) -> None:
    groups = ("TURN", "RULES", "SESS", "PING", "FUTURE", "CONN-05")
    report = await check(command=[sys.executable, str(sample)], scenarios=groups)
    assert complaints(report) == []


@pytest.mark.usefixtures("unhurried")
async def test_check_when_sage_searches_then_it_answers_every_kind_of_turn() -> None:
    program = "from referee.bot import main; from referee.sage.bot import SageBot; "
    program += "main(type('Fast', (SageBot,), {'level_ms': 5}))"
    report = await check(command=[sys.executable, "-c", program], scenarios=("TURN", "FUTURE"))
    assert complaints(report) == []


async def test_check_when_no_bot_connects_then_nothing_is_run() -> None:
    report = await check_bot(Absentee(), timeout=0.3)
    assert report.results[0].code == "HELLO-01"
    assert report.results[0].reason == "expected the bot to connect; it did not within 0.3 s"
    assert len(report.results) == 1
    assert report.stopped == "the bot did not open a stream as it should; see HELLO-01"
    assert not report.passed


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/no/such/bot"], "the bot could not be started: /no/such/bot: No such file or directory"),
        ([], "the bot could not be started: the command is empty"),
        ([sys.executable, "-c", "raise SystemExit(3)"], "its process ended with status 3"),
    ],
)
async def test_check_when_the_command_is_no_bot_then_it_says_so(command: Sequence[str], reason: str) -> None:
    report = await check(command=command, timeout=DEADLINE)
    assert reason in report.results[0].reason
    assert not report.passed


async def test_check_when_it_ends_then_all_that_the_command_started_has_ended(tmp_path: Path) -> None:
    child = tmp_path / "child"
    command = ["sh", "-c", f"sleep 600 & echo $! > {child}"]
    report = await check(command=command, timeout=DEADLINE, scenarios=["HELLO-01"])
    assert not report.passed
    await until(lambda: is_gone(int(child.read_text())))


async def test_check_when_the_log_cannot_be_written_then_it_says_so(tmp_path: Path) -> None:
    log = tmp_path / "none" / "bot.log"
    report = await check(command=["true"], log=log, scenarios=["HELLO-01"])
    assert report.results[0].reason == f"log: cannot write to {log}: No such file or directory"


class Bounded(GoodBot):
    """Plays only with one pack of 52 cards, and knows only ordinary turns."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def hello(self) -> bots_pb2.PlayRequest:
        request = super().hello()
        can = request.hello.capabilities
        can.turn_kinds.append(bots_pb2.TURN_KIND_PLAY)
        can.max_packs, can.max_card = 1, cards_pb2.CARD_2S
        return request

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("session_started"):
            self.seen.append(json.loads(event.session_started.ruleset)["name"])
        return super().take(event)


async def test_check_when_a_hello_sets_bounds_then_nothing_beyond_them_is_asked() -> None:
    bot = Bounded()
    report = await check_bot(bot, "TURN-01", "TURN-11", "TURN-14", "RULES-02", "RULES-03", "SESS-04")
    assert [(result.code, result.outcome) for result in report.results] == [
        ("TURN-01", "passed"),
        ("TURN-11", "not_run"),
        ("TURN-14", "not_run"),
        ("RULES-02", "not_run"),
        ("RULES-03", "not_run"),
        ("SESS-04", "passed"),
    ]
    assert report.results[3].reason == (
        "the bot's hello rules only-a-game-8 out: it asks for 2 packs, and the bot supports at most 1"
    )
    assert bot.seen == ["check-5", "pusoy-dos", "check-suits"]


async def test_check_when_a_bot_answers_nothing_then_the_rest_is_left_out() -> None:
    report = await check_bot(Mute(), "TURN", "PING", patience=0.5)
    (first,) = report.results
    assert (first.code, first.outcome) == ("TURN-01", "failed")
    assert "the bot sent nothing for 0.5 s" in first.reason
    assert "holding 3D 3C 4D 4C 5S, to beat nothing" in first.reason
    assert report.stopped == "the bot answers no turn; see TURN-01"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("7", "TypeError: choose returned int; a Play, text, list or None is expected"),
        ("[7]", "TypeError: choose returned a list with int in it; a Play, text, list or None is expected"),
        ("'3X'", "referee.errors.CardError: "),
    ],
)
async def test_check_when_a_bots_code_fails_then_it_shows_the_last_lines_of_the_traceback(
    tmp_path: Path, answer: str, told: str
) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(f"from referee.bot import main\nmain(lambda turn: {answer})\n")
    report = await check(command=[sys.executable, str(bot)], scenarios=["TURN"])
    (result,) = report.results
    assert (result.code, result.outcome) == ("TURN-01", "failed")
    assert any(line.startswith(told) for line in result.output)
    assert f"    | {told}" in report.to_text()
    assert report.stopped == "the bot answers no turn; see TURN-01"


@pytest.mark.parametrize(
    ("bot", "ending", "printed"),
    [
        ("def choose(turn):\n    return lowest(turn) if next(turns) != 2 else sys.exit(3)\n", "status 3", ""),
        (
            "async def choose(turn):\n    return lowest(turn) if next(turns) != 2 else sys.exit(3)\n",
            "status 3",
            "",
        ),
        (
            "def choose(turn):\n    return lowest(turn) if next(turns) != 2 else sys.exit('no model')\n",
            "status 1",
            "no model",
        ),
        (
            "from referee.bot import thinker\nthinker.QUICK_ANSWERS, thinker.QUICK_SECONDS = 1, 9.0\n"
            "def choose(turn):\n    return lowest(turn) if next(turns) != 2 else sys.exit(3)\n",
            "status 3",
            "",
        ),
    ],
    ids=["at once", "in a coroutine", "with a text", "where the network is"],
)
async def test_check_when_a_program_exits_in_a_turn_then_it_says_how_and_starts_it_again(
    tmp_path: Path, bot: str, ending: str, printed: str
) -> None:
    file = tmp_path / "bot.py"
    head = f"import itertools, sys\nsys.path.insert(0, {str(ROOT)!r})\nturns = itertools.count(1)\n"
    uses = "from referee.bot import main\nfrom tests.referee.support import lowest\n"
    file.write_text(f"{head}{uses}{bot}main(choose)\n")
    report = await check(command=[sys.executable, str(file)], scenarios=["TURN-01", "TURN-04", "PING-01"])
    assert [result.outcome for result in report.results] == ["passed", "failed", "passed"]
    exited = report.results[1]
    assert exited.reason.endswith(f"the bot's stream ended, and its process ended with {ending}")
    assert [line for line in exited.output if "INFO" not in line] == [printed] * bool(printed)


async def test_check_when_a_program_does_not_start_then_it_shows_why_and_stops() -> None:
    report = await check(
        command=[sys.executable, "-c", "raise RuntimeError('no model \\x1b[31m')"], timeout=DEADLINE
    )
    (result,) = report.results
    assert result.output[-1] == "RuntimeError: no model \\x1b[31m"
    assert report.stopped == "the bot did not open a stream as it should; see HELLO-01"
    assert report.left_out == tuple(scenario.code for scenario in SCENARIOS[1:])
    assert report.counts == {"passed": 0, "warned": 0, "failed": 1, "not_run": len(SCENARIOS) - 1}
    assert report.to_object()["left_out"] == [scenario.code for scenario in SCENARIOS[1:]]
    told = [line for line in report.to_text().splitlines() if "not run" in line]
    verdict = f"The bot does not pass: 1 failed, {len(SCENARIOS) - 1} not run."
    assert told == [f"{len(SCENARIOS) - 1} scenarios not run.", verdict]


async def test_check_when_the_program_is_killed_then_the_signal_is_named() -> None:
    command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"]
    report = await check(command=command, timeout=DEADLINE, scenarios=["PING-01"])
    assert report.results[0].reason == "expected the bot to connect; its process was ended by SIGSEGV"
    assert report.left_out == ("PING-01",)


async def test_check_when_a_bot_dies_then_its_command_is_started_again() -> None:
    report = await check(command=program(NoTiles), scenarios=["RULES-03", "TURN-01"], timeout=DEADLINE)
    outcomes = {result.code: result.outcome for result in report.results}
    assert outcomes == {"TURN-01": "passed", "RULES-03": "failed"}
    assert "process ended with status 1" in report.results[-1].reason


async def test_check_when_a_bot_does_not_come_back_then_no_more_is_tried() -> None:
    report = await check(command=program(OneShot), scenarios=["CONN"], timeout=DEADLINE)
    outcomes = {result.code: result.outcome for result in report.results}
    assert outcomes.pop("CONN-01") == "failed"
    assert outcomes.pop("CONN-15") == "passed"
    assert set(outcomes.values()) == {"not_run"}


async def test_check_when_a_bot_that_connected_itself_is_gone_then_no_more_is_tried() -> None:
    report = await check_bot(OneShot(), "CONN", "TURN-01", patience=0.2)
    by_code = {result.code: result for result in report.results}
    assert by_code["CONN-01"].reason == "expected the bot to connect; it did not within 2.4 s"
    assert by_code["CONN-02"].reason == "hopeless after the failure of CONN-01"
    assert by_code["CONN-15"].outcome == "failed"
    shown = report.to_text()
    assert "CONN-02 to CONN-14: 13 scenarios not run: hopeless after the failure of CONN-01" in shown
    assert "CONN-03 " not in shown


async def test_check_when_a_scenario_is_unknown_then_it_is_named() -> None:
    with pytest.raises(UnknownScenario, match="scenarios: 'PONG' is none; the groups are HELLO, TURN"):
        await check(scenarios=["PONG"])


async def test_check_when_the_address_is_taken_then_it_says_so() -> None:
    taken: list[str] = []
    bot = asyncio.create_task(check(on_ready=lambda address, _: taken.append(address), timeout=DEADLINE))
    await until(lambda: taken)
    with pytest.raises(ListenError, match="cannot listen on"):
        await check(listen=taken[0])
    bot.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await bot


class Outspoken(GoodBot):
    """Says all that a hello can say, some of it in numbers of a later version."""

    def hello(self) -> bots_pb2.PlayRequest:
        request = super().hello()
        request.hello.max_sessions = 3
        request.hello.wants.hands = True
        kinds = [bots_pb2.TURN_KIND_PLAY, 77, bots_pb2.TURN_KIND_PLAY]
        request.hello.capabilities.turn_kinds.extend(kinds)  # type: ignore[arg-type]
        request.hello.capabilities.max_seats = 4
        request.hello.capabilities.max_card = cards_pb2.CARD_2S
        return request


async def test_report_when_a_hello_says_what_the_bot_can_then_it_is_named_with_what_was_measured() -> None:
    told = (await check_bot(Outspoken(), "TURN-04", "MSG-05")).to_object()
    assert (told["sdk"], told["protocol_version"], told["max_sessions"]) == ("test 1", 1, 3)
    assert told["wants"] == ["legal_plays", "hands"]
    bounds = {"turn_kinds": ["TURN_KIND_PLAY", "number 77"], "max_seats": 4, "max_packs": None}
    assert told["capabilities"] == {**bounds, "max_card": "CARD_2S"}
    figures: Any = told["figures"]
    assert figures["turns"] > 2
    assert 0 < figures["median_ms"] <= figures["slowest_ms"] < 1000 * figures["seconds"]


async def test_report_when_a_check_is_cancelled_then_it_tells_of_what_was_tried() -> None:
    ended: list[Report] = []
    codes, tried = ["HELLO-01", "TURN-01", "TURN-02"], asyncio.Event()
    command = program(GoodBot)
    checking = asyncio.create_task(
        check(
            command=command,
            scenarios=codes,
            on_result=lambda result: tried.set() if result.code == "TURN-01" else None,
            on_end=ended.append,
        )
    )
    await tried.wait()
    checking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await checking
    [report] = ended
    assert (report.sdk, report.said.wants, report.figures.turns) == ("test 1", ("legal_plays",), 1)
    assert (report.stopped, report.left_out) == ("it was interrupted", ("TURN-02",))
    assert (report.counts["passed"], report.passed, report.passed_so_far) == (2, False, True)


def test_report_when_it_is_shown_then_it_fits_and_says_why() -> None:
    results = (
        Result("PING-01", "Answers a ping", "failed", "expected a pong with id 41; " * 6, 0.51),
        Result("TURN-01", "Leads", "passed", "", 0.012345),
        Result("END-01", "Leaves", "not_run", "only by command", 0),
    )
    report = Report("me/mine@1", "", 1, results)
    lines = report.to_text(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0] == "PING-01   failed   Answers a ping"
    assert lines[-3] == "me/mine@1, no SDK named, protocol version 1"
    assert lines[-1] == "The bot does not pass: 1 passed, 1 failed, 1 not run."
    assert report.to_object()["counts"] == {"passed": 1, "warned": 0, "failed": 1, "not_run": 1}


def test_report_when_many_fail_for_one_cause_then_it_is_shown_once_and_summed_up() -> None:
    traceback = (
        "Traceback (most recent call last):",
        "KeyError: 'x'",
        "the bot's own code failed: KeyError: 'x'",
    )
    results = [
        Result(f"TURN-0{number}", "Leads", "failed", "it ended", 0.5, traceback) for number in range(3)
    ]
    shown = Report("me/mine@1", "own 1", 1, tuple(results), part=True).to_text()
    assert shown.count("Traceback") == 1
    assert shown.count("    | KeyError, as in TURN-00") == 2
    assert "KeyError in 3 scenarios, in TURN-00 first." in shown
    assert shown.endswith("The bot does not pass the scenarios asked for: 3 failed.")


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        (
            (
                "thread 'main' (77) panicked at src/choose.rs:12:59:",
                "called `Option::unwrap()` on a `None` value",
                "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            ),
            "panicked at src/choose.rs:12:59",
        ),
        (
            ("panic: no hand", "", "goroutine 1 [running]:", "main.main()", "exit status 2"),
            "panic: no hand",
        ),
        (
            (
                "file:///bot/strategy.js:3",
                "    throw new Error('no hand');",
                "    ^",
                "Error: no hand",
                "    at choose (file:///bot/strategy.js:3:11)",
                "Node.js v20.20.2",
            ),
            "Error: no hand",
        ),
        (
            ("TypeError: turn.hand is not iterable", "    at choose (file:///bot/strategy.js:3:11)"),
            "TypeError",
        ),
        (
            (
                'Exception in thread "main" java.lang.IllegalStateException: no hand',
                "\tat bot.Strategy.choose(Strategy.java:12)",
                "\t... 3 more",
            ),
            "IllegalStateException",
        ),
        (
            (
                "terminate called after throwing an instance of 'std::out_of_range'",
                "  what():  vector::_M_range_check",
                "Aborted",
            ),
            "terminate called after throwing an instance of 'std::out_of_range'",
        ),
    ],
    ids=["rust", "go", "node", "node-type", "java", "c++"],
)
def test_report_when_a_program_failed_then_the_cause_is_where_or_why_not_what_all_failures_end_with(
    printed: tuple[str, ...], cause: str
) -> None:
    results = tuple(Result(f"TURN-0{n}", "Leads", "failed", "it ended", 0.5, printed) for n in range(2))
    shown = Report("me/mine@1", "own 1", 1, results).to_text()
    assert f"    | {cause}, as in TURN-00" in shown


def test_report_when_a_long_line_was_printed_then_no_word_is_cut() -> None:
    printed = "no model " * 20
    report = Report("me/mine@1", "", 1, (Result("TURN-01", "Leads", "failed", "it ended", 0.5, (printed,)),))
    shown = [line for line in report.to_text(50).splitlines() if "|" in line]
    assert max(map(len, shown)) <= 50
    assert {word for line in shown for word in line.replace("|", "").split()} == {"no", "model"}


@pytest.mark.parametrize("panic", [6, 20, 38])
def test_printed_when_a_program_panicked_after_many_lines_then_the_beginning_of_the_panic_is_shown(
    panic: int,
) -> None:
    lines = [str(number) for number in range(40)]
    lines[panic] = "thread 'main' (77) panicked at src/main.rs:1:2:"
    shown = excerpt(lines)
    assert lines[panic] in shown
    assert shown[0] == "…"
    assert shown[-9:] == tuple(lines[-9:])
    assert len([line for line in shown if line != "…"]) == 14


async def test_check_when_a_bot_prints_routine_lines_then_they_are_left_out() -> None:
    lines = "2026-11-23 04:40:57,937Z INFO connected\n2026-11-23 04:40:57,938Z ERROR no model"
    report = await check(command=[sys.executable, "-c", f"print({lines!r})"], timeout=DEADLINE)
    assert report.results[0].output == ("2026-11-23 04:40:57,938Z ERROR no model",)


def test_report_when_nothing_was_tried_then_it_is_not_passed() -> None:
    assert not Report("me/mine@1", "", 0, ()).passed


def test_scenarios_when_listed_then_codes_are_unique_and_there_are_many() -> None:
    codes = [scenario.code for scenario in SCENARIOS]
    assert len(set(codes)) == len(codes) >= 40
    for scenario in SCENARIOS:
        assert set(scenario.after) <= set(codes[: codes.index(scenario.code)])


def bots_of_docs() -> list[str]:
    """Return the programs in the page about the first bot."""
    page = (ROOT / "docs" / "authors" / "first-bot.md").read_text(encoding="utf-8")
    return [block.partition("```")[0] for block in page.split("```python\n")[1:]]


@pytest.mark.parametrize("code", bots_of_docs(), ids=lambda code: code.split("\n")[0])
@pytest.mark.usefixtures("unhurried")
async def test_docs_when_a_bot_is_copied_from_them_then_it_plays(tmp_path: Path, code: str) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(code)
    report = await check(command=[sys.executable, str(bot)], scenarios=["TURN", "SESS-04", "END-02"])
    assert complaints(report) == []
    assert report.passed


def test_numbers_when_pages_name_them_then_they_are_those_of_the_scenarios() -> None:
    for page, text in (
        ("README.md", "scenarios over real gRPC"),
        ("CHANGELOG.md", "scenarios over real gRPC"),
    ):
        assert f"{len(SCENARIOS)} {text}" in (ROOT / page).read_text(encoding="utf-8")


def test_docs_when_read_then_they_list_every_scenario() -> None:
    docs = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    rows = [f"| `{s.code}` | {s.title} | {s.proves} |" for s in SCENARIOS]
    table = [line for line in docs.splitlines() if line.startswith("| `")]
    assert table == rows, "the table should be:\n" + "\n".join(rows)


async def test_output_when_a_bot_prints_much_then_its_first_and_last_lines_are_shown() -> None:
    for lines, between in ((14, ()), (15, ("…",)), (10_000, ("…",))):
        process = BotProcess([sys.executable, "-c", f"for i in range({lines}): print(i)"], "", "", None)
        await process.start()
        assert await process.ended(DEADLINE)
        last = range(lines - 9, lines)
        assert process.printed() == (*map(str, range(5)), *between, *map(str, last))
        await process.close()
