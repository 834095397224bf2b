"""What the time of a pass gives away, and what asking every turn costs: ``python -m benchmarks.timing``.

A spying bot times, over real sockets, how long its turns are in coming, learns from finished deals how that
goes with forced passes, and says of every pass how likely it was forced. What was so is worked out from the
deal records. It also plays on what it learns; the same bot plays the same deals without looking at the time.
Referee and bots are processes of their own. ``--quick`` plays fewer deals.
"""

import argparse
import asyncio
import json
import math
import os
import random
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from benchmarks.referee import process, read_line
from benchmarks.spying import Counting, Inference, Pass, Seen, choose, forced_actions, patient
from referee import twin
from referee.bot import Turn
from referee.bot.client import BotClient
from referee.bot.view import SessionView
from referee.channel import async_channel
from referee.client import BotSeat, Limits, MatchSpec, Progress, SessionResult, SessionSpec, run_match
from referee.plays import Rules, compile_ruleset
from referee.reading import parse_action
from referee.ruleset import load_ruleset
from referee.shuffle import session_seed
from referee.v1 import match_pb2, play_pb2, referee_pb2_grpc

RULESET = "chinese"
PLAYERS = 4
LEARNING = 0.2
"""Share of the deals, the first ones, from which the spy learns and which are not counted."""
PLAY = "/referee.v1.RefereeService/Play"
SAMPLE_BOTS = Path(__file__).parents[1] / "sample_bots" / "python"
OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1))
CERTAIN = 0.999

Send = Callable[[play_pb2.PlayRequest], Awaitable[None]]


@dataclass(frozen=True)
class Setting:
    """A way to play."""

    think: tuple[float, float]
    """Seconds that the opponents think about a turn, from and to."""
    tables: int = 1
    """Matches at once, each with bots of its own."""
    sessions: int = 1
    """Sessions at once in a match."""
    ask_forced: bool = False
    hasty: bool = False
    """Whether the opponents answer at once where they have no choice, instead of thinking as long as ever."""
    one_by_one: bool = False
    """Whether an opponent thinks about one turn at a time, as a bot of the SDK does, or about all at once."""
    opponents: tuple[str, ...] = ("patient",) * PLAYERS
    """By bot; the first is the spy's place."""
    reads: bool = True
    """Whether the spy looks at the time."""
    watches: bool = False
    """Whether the spy also watches its match as a spectator, who is shown every action by itself."""


class Guess(NamedTuple):
    """What the spy believed of a pass: the chance that it was forced."""

    session: int
    prior: float
    """Without the time."""
    timed: float
    """With it."""
    forced: bool
    """What was so."""


@dataclass
class Played:
    """What came out of a setting."""

    seconds: float = 0.0
    decisions: int = 0
    points: dict[int, int] = field(default_factory=dict)
    """The spy's points by session; a session is one deal."""
    guesses: list[Guess] = field(default_factory=list)

    @property
    def deals(self) -> int:
        """Deals played to their end."""
        return len(self.points)


# The bots' processes


async def talk(
    address: str, token: str, sessions: int, take: Callable[[Any, float, Send], Awaitable[None]]
) -> None:
    """Plays a stream; hands each event on with the time at which its message came."""
    async with async_channel(address, None, OPTIONS) as channel:
        call: Any = channel.stream_stream(
            PLAY, play_pb2.PlayRequest.SerializeToString, twin.PlayResponse.FromString
        )(None)
        writing = asyncio.Lock()
        waiting: asyncio.Queue[tuple[float, Any]] = asyncio.Queue()

        async def send(request: play_pb2.PlayRequest) -> None:
            async with writing:
                await call.write(request)

        async def work() -> None:
            while True:
                came, response = await waiting.get()
                for event in response.events:
                    await take(event, came, send)
                    await asyncio.sleep(0)  # messages that come meanwhile get their time

        async def read() -> None:
            async for response in call:
                waiting.put_nowait((time.perf_counter(), response))
                if response.HasField("ping"):
                    await send(play_pb2.PlayRequest(pong=play_pb2.Pong(id=response.ping.id)))

        hello = play_pb2.Hello(token=token, protocol_version=1, max_sessions=sessions)
        await send(play_pb2.PlayRequest(hello=hello))
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            group.create_task(read())


def answer(message: Any, view: SessionView, mask: int) -> play_pb2.PlayRequest:
    """The message that answers a turn."""
    move = play_pb2.Move(session=message.session, sequence=message.sequence, passes=not mask)
    move.cards.extend(view.numbers(mask))
    return play_pb2.PlayRequest(moves=[move])


class Opponent:
    """Thinks about each turn for a while that tells nothing."""

    def __init__(self, name: str, think: tuple[float, float], hasty: bool) -> None:
        self._choose = _policy(name)
        self._think = think
        self._hasty = hasty
        self._random = random.Random(os.getpid())
        self._views: dict[int, SessionView] = {}
        self._thinking: set[asyncio.Task[None]] = set()

    def seconds(self, turn: Turn) -> float:
        """How long it thinks about a turn."""
        if self._hasty and len(turn.legal_codes) + turn.can_pass == 1:
            return 0.0
        return self._random.uniform(*self._think)

    def decide(self, turn: Turn) -> str | None:
        """Answers a turn of the SDK: thinks about one at a time."""
        seconds = self.seconds(turn)
        if seconds:
            time.sleep(seconds)
        return turn.rules.text(self._choose(turn)) or None

    async def take(self, event: Any, came: float, send: Send) -> None:
        """Takes in an event: thinks about all turns at once."""
        match event.WhichOneof("event"):
            case "session_started":
                self._views[event.session_started.session] = SessionView(event.session_started)
            case "deal_started":
                self._views[event.deal_started.session].deal_started(event.deal_started)
            case "turn":
                view = self._views[event.turn.session]
                view.happened(event.turn.actions)
                turn = Turn(view, event.turn)
                seconds = self.seconds(turn)
                request = answer(event.turn, view, self._choose(turn))
                if not seconds:
                    await send(request)
                    return
                until = came + seconds
                task = asyncio.create_task(self._later(until, request, send))
                self._thinking.add(task)
                task.add_done_callback(self._thinking.discard)

    async def _later(self, until: float, request: play_pb2.PlayRequest, send: Send) -> None:
        await asyncio.sleep(max(0.0, until - time.perf_counter()))
        await send(request)


def _policy(name: str) -> Callable[[Turn], int]:
    if name == "patient":
        return lambda turn: patient(turn, turn.hand_mask, turn.legal_codes, turn.can_pass)
    file = SAMPLE_BOTS / f"{name}.py"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.exists():
        sys.exit(f"opponents: no sample bot {name!r}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)

    def policy(turn: Turn) -> int:
        play = module.choose(turn)
        return play.code & turn.rules.full if play is not None else 0

    return policy


class Watcher:
    """A spectator: when each action of a session was shown."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._times: dict[str, list[float]] = {}
        self._news = asyncio.Event()

    async def watch(self, address: str, match_id: str) -> None:
        """Follows a match to its end."""
        async with async_channel(address, None, OPTIONS) as channel:
            stub = referee_pb2_grpc.RefereeServiceStub(channel)
            async for response in stub.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id)):
                came = time.perf_counter()
                for update in response.updates:
                    if update.HasField("session_started"):
                        started = update.session_started
                        self._ids[started.session] = started.session_id
                        self._times[started.session_id] = []
                    elif update.HasField("action"):
                        self._times[self._ids[update.action.session]].append(came)
                self._news.set()

    async def times(self, session_id: str, actions: int) -> list[float]:
        """When each of so many actions was shown; waits for those that are on their way."""
        while len(self._times.get(session_id, ())) < actions:
            self._news.clear()
            await self._news.wait()
        return self._times.get(session_id, [])[:actions]


class SpySession:
    """The spy in one session."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.seen: Seen | None = None
        self.since = 0.0
        """When it last moved."""
        self.passes: list[Pass] = []
        self.gaps: list[tuple[float, int, int]] = []
        """Seconds, and the actions that fell into them: from, to."""
        self.watcher: Watcher | None = None


class Spy:
    """Times its turns in all its sessions, learns and plays."""

    def __init__(self, address: str, setting: Setting) -> None:
        self._address = address
        self._setting = setting
        self._inference = Inference(reads=setting.reads)
        self._counting: Counting | None = None
        self.rows: list[tuple[str, int, float, float]] = []
        """Session, action, and the chances that it was forced: without the time, with it."""

    def stream(self) -> Callable[[Any, float, Send], Awaitable[None]]:
        """What takes in the events of one of its streams."""
        sessions: dict[int, SpySession] = {}
        watcher = Watcher()
        watching: list[asyncio.Task[None]] = []

        async def take(event: Any, came: float, send: Send) -> None:
            match event.WhichOneof("event"):
                case "session_started":
                    started = event.session_started
                    session = sessions[started.session] = SpySession(SessionView(started))
                    if self._setting.watches:
                        session.watcher = watcher
                        if not watching:
                            match = started.session_id.rpartition("/")[0]
                            watching.append(asyncio.create_task(watcher.watch(self._address, match)))
                case "deal_started":
                    self._deal(sessions[event.deal_started.session], event.deal_started, came)
                case "turn":
                    session = sessions[event.turn.session]
                    request = await self._turn(session, event.turn, came)
                    session.since = time.perf_counter()
                    await send(request)
                case "deal_ended":
                    self._learn(sessions[event.deal_ended.session], event.deal_ended)

        return take

    def _deal(self, session: SpySession, started: Any, came: float) -> None:
        view = session.view
        view.deal_started(started)
        self._counting = self._counting or Counting(view.rules)
        session.seen = Seen(view.rules, self._counting, view.seat, view.hand, view.counts)
        session.since, session.passes, session.gaps = came, [], []

    async def _turn(self, session: SpySession, message: Any, came: float) -> play_pb2.PlayRequest:
        view, seen = session.view, session.seen
        assert seen is not None
        first = seen.index
        view.happened(message.actions)
        passes = []
        for action in view.actions[first:]:
            noted = seen.take(action.seat, view.rules.parse(" ".join(action.cards)))
            if noted is not None:
                noted.prior = self._inference.prior(program(view.seats[noted.seat]), view.rules, noted)
                passes.append(noted)
        if session.watcher is None:
            gaps = [(came - session.since, first, seen.index)]
        else:
            times = [session.since, *await session.watcher.times(view.session_id, seen.index)]
            gaps = [(times[at + 1] - times[at], at, at + 1) for at in range(first, seen.index)]
        for gap in gaps:
            self._read(session, passes, *gap)
        session.passes += passes
        session.gaps += gaps
        turn = Turn(view, message)
        return answer(message, view, choose(seen, view.hand, turn.legal_codes, turn.can_pass))

    def _read(
        self, session: SpySession, passes: Sequence[Pass], seconds: float, first: int, last: int
    ) -> None:
        """Reads a gap into the passes that fell into it."""
        view = session.view
        within = [noted for noted in passes if first <= noted.index < last]
        others = [action for action in view.actions[first:last] if action.seat != view.seat]
        priors = [noted.prior for noted in within]
        timed = self._inference.read(seconds, len(others) - len(within), priors)
        for noted, chance in zip(within, timed, strict=True):
            noted.forced = chance

    def _learn(self, session: SpySession, ended: Any) -> None:
        view = session.view
        view.happened(ended.actions)
        hands = [view.mask(hand.cards) for hand in ended.hands]
        masks = [view.rules.parse(" ".join(action.cards)) for action in view.actions]
        forced = forced_actions(view.rules, hands, view.dealer, 1 if view.clockwise else -1, masks)
        for noted in session.passes:
            bot = program(view.seats[noted.seat])
            self._inference.learn_pass(bot, view.rules, noted, forced[noted.index])
            self.rows.append((view.session_id, noted.index, noted.prior, noted.forced))
        for seconds, first, last in session.gaps:
            others = [at for at in range(first, last) if view.actions[at].seat != view.seat]
            self._inference.learn_gap(seconds, len(others), sum(not forced[at] for at in others))


def token(table: int, bot: int) -> str:
    """The token, which is the number too, of a table's bot."""
    return str(1 + table * PLAYERS + bot)


def program(name: str) -> str:
    """What the bots of all tables that run the same program have in common, from a bot's name."""
    number = int(name.removeprefix("bench/bot").partition("@")[0])
    return str((number - 1) % PLAYERS)


async def _opponents(bot: int, address: str, setting: Setting) -> None:
    """The process of one opponent at every table."""
    async with asyncio.TaskGroup() as group:
        for table in range(setting.tables):
            opponent = Opponent(setting.opponents[bot], setting.think, setting.hasty)
            if setting.one_by_one:
                client = BotClient(opponent.decide, token(table, bot), setting.sessions)
                group.create_task(client.run([address]))
            else:
                group.create_task(talk(address, token(table, bot), setting.sessions, opponent.take))


async def _spy(address: str, setting: Setting) -> None:
    """The spy's process; prints what it believed for a line that it reads."""
    spy = Spy(address, setting)
    loop, wanted = asyncio.get_running_loop(), asyncio.Event()

    def listen() -> None:
        sys.stdin.readline()
        loop.call_soon_threadsafe(wanted.set)

    threading.Thread(target=listen, daemon=True).start()
    async with asyncio.TaskGroup() as group:
        for table in range(setting.tables):
            group.create_task(talk(address, token(table, 0), setting.sessions, spy.stream()))
        await wanted.wait()
        print(json.dumps(spy.rows), flush=True)


# A run


def play(setting: Setting, deals: int, *, spied: bool = True) -> Played:
    """Plays so many deals, the same ones every time."""
    told = json.dumps(asdict(setting))
    played = Played()
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        spy = stack.enter_context(process("benchmarks.timing", "--spy", address, told)) if spied else None
        for bot in range(1 if spied else 0, PLAYERS):
            stack.enter_context(process("benchmarks.timing", "--bot", str(bot), address, told))
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
    """Runs the matches; gives the results by session."""
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
            else:
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
    bots = tuple(BotSeat(int(token(table, bot)), f"bench/bot{token(table, bot)}@1") for bot in range(PLAYERS))
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
    """For each action of a lean deal record, whether the seat had no choice."""
    lean = json.loads(record)
    hands = [rules.parse(hand) for hand in lean["hands"]]
    masks = [parse_action(rules, text).cards for text in lean["actions"]]
    return forced_actions(rules, hands, lean["dealer"], 1 if lean["direction"] == "clockwise" else -1, masks)


# Figures


class Estimate(NamedTuple):
    """A mean and half of its 95 % interval."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half:.3f}"


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of independent values."""
    return Estimate(fmean(values), 1.96 * stdev(values) / math.sqrt(len(values)))


def surprise(chance: float, forced: bool) -> float:
    """Bits that are missing to the truth for one who believes in this chance that a pass was forced."""
    bounded = min(CERTAIN, max(1 - CERTAIN, chance))
    return -math.log2(bounded if forced else 1 - bounded)


class Leak(NamedTuple):
    """How well the spy told forced passes from others."""

    passes: int
    deals: int
    forced: float
    """Share of the passes that were forced."""
    prior: float
    """Share told right without the time."""
    timed: float
    """Share told right with it."""
    unknown: float
    """Bits that are missing without the time, for a pass."""
    told: Estimate
    """Bits that the time told, for a pass."""


def leak(guesses: Sequence[Guess]) -> Leak:
    """The figures of these guesses; the interval takes deals as independent, not passes."""
    deals: dict[int, list[Guess]] = {}
    for guess in guesses:
        deals.setdefault(guess.session, []).append(guess)
    each = len(guesses) / len(deals)
    gains = [
        sum(surprise(one.prior, one.forced) - surprise(one.timed, one.forced) for one in deal) / each
        for deal in deals.values()
    ]
    return Leak(
        len(guesses),
        len(deals),
        fmean(guess.forced for guess in guesses),
        fmean((guess.prior > 0.5) == guess.forced for guess in guesses),
        fmean((guess.timed > 0.5) == guess.forced for guess in guesses),
        fmean(surprise(guess.prior, guess.forced) for guess in guesses),
        estimate(gains),
    )


def worth(reading: Played, blind: Played, first: int) -> Estimate:
    """What looking at the time brings, in points a deal, after the ``first`` deals; both played the same."""
    both = [number for number in reading.points if number > first and number in blind.points]
    return estimate([reading.points[number] - blind.points[number] for number in both])


# What is measured

SLOW, QUICK, AT_ONCE = (0.020, 0.050), (0.001, 0.005), (0.0, 0.0)
SAMPLES = ("", "keeper", "pairs_first", "keeper")
"""Sample bots as opponents."""
NAMES = {SLOW: "20-50 ms", QUICK: "1-5 ms", AT_ONCE: "at once"}

ALONE = Setting(SLOW, tables=32)
ASKED = replace(ALONE, ask_forced=True)
HASTY = replace(ASKED, hasty=True)
FEW = Setting(QUICK, tables=6)
CROWD = Setting(SLOW, sessions=32)
SERIAL = Setting(QUICK, sessions=32, one_by_one=True)


def leaks(scale: float) -> None:
    """Prints what the spy finds out, and what that is worth in points."""
    deals = round(1600 * scale)
    print(
        "what the spy tells of a pass | deals | passes | forced | right: no time | time | bits unknown | told"
    )
    reading = {
        name: _leak(name, setting, deals)
        for name, setting in (
            ("20-50 ms, one session", ALONE),
            ("  all turns asked", ASKED),
            ("  asked, answered at once", HASTY),
            ("  not asked, and watched", replace(ALONE, watches=True)),
        )
    }
    _leak("  all asked, and watched", replace(ASKED, watches=True), deals // 3)
    _leak("1-5 ms, one session", FEW, deals // 3)
    _leak("  all turns asked", replace(FEW, ask_forced=True), deals // 3)
    _leak("20-50 ms, 32 sessions", CROWD, deals // 3)
    _leak("  all turns asked", replace(CROWD, ask_forced=True), deals // 3)
    _leak("1-5 ms, 32, one by one", SERIAL, deals // 6)
    _leak("20-50 ms, sample bots", replace(ALONE, opponents=SAMPLES), deals // 3)
    blind = play(replace(ALONE, think=AT_ONCE, reads=False), deals)
    first = round(deals * LEARNING)
    print(f"\npoints a deal without looking at the time: {estimate(list(blind.points.values()))}")
    for name, played in reading.items():
        print(f"{name.strip():28} | {worth(played, blind, first)} more, over {deals - first} deals")


def _leak(name: str, setting: Setting, deals: int) -> Played:
    played = play(setting, deals)
    found = leak([guess for guess in played.guesses if guess.session > deals * LEARNING])
    print(
        f"{name:28} | {found.deals:5} | {found.passes:6} | {found.forced:6.1%} | {found.prior:14.1%} |"
        f" {found.timed:.1%} | {found.unknown:12.3f} | {found.told}",
        flush=True,
    )
    return played


def costs(scale: float, repeats: int) -> None:
    """Prints what asking all turns costs: four patient bots, default and asked in turn."""
    print("\nfour bots that think  | decisions/s: default | asked | ms a deal: default | asked | longer by")
    for think, tables, sessions, deals in (
        (AT_ONCE, 1, 1, 200),
        (AT_ONCE, 1, 32, 400),
        (QUICK, 4, 1, 160),
        (SLOW, 16, 1, 96),
    ):
        rates: list[list[float]] = [[], []]
        times: list[list[float]] = [[], []]
        for _ in range(repeats):
            for ask_forced in (False, True):
                setting = Setting(think, tables, sessions, ask_forced=ask_forced, opponents=("patient",) * 4)
                played = play(setting, round(deals * scale), spied=False)
                rates[ask_forced].append(played.decisions / played.seconds)
                times[ask_forced].append(played.seconds / played.deals * tables * 1000)
        ratios = [asked / default for default, asked in zip(*times, strict=True)]
        print(
            f"{NAMES[think]:9}, {sessions:2} at once | {median(rates[0]):20,.0f} | {median(rates[1]):5,.0f} |"
            f" {median(times[0]):18.1f} | {median(times[1]):5.1f} |"
            f" x {median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})",
            flush=True,
        )


def _load() -> str:
    """How busy the machine is: others' work blurs the times."""
    return f", load average {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timing", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a glance: a tenth of the deals")
    parser.add_argument("--bot", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--spy", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bot:
        bot, address, told = options.bot
        asyncio.run(_opponents(int(bot), address, Setting(**json.loads(told))))
    elif options.spy:
        address, told = options.spy
        asyncio.run(_spy(address, Setting(**json.loads(told))))
    else:
        scale = 0.1 if options.quick else 1.0
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, ruleset {RULESET}{_load()}")
        leaks(scale)
        costs(0.5 if options.quick else 1.0, 1 if options.quick else 3)
        print(f"the end{_load()}")


if __name__ == "__main__":
    main()
