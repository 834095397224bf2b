"""The measurements and their output."""

import argparse
import os
import sys
from dataclasses import replace
from statistics import median

from benchmarks import timing
from benchmarks.timing.figures import estimate, leak, worth
from benchmarks.timing.run import play
from benchmarks.timing.setting import AT_ONCE, QUICK, RULESET, SLOW, Played, Setting

LEARNING = 0.2
"""Share of the deals, at the beginning, from which the spy learns and which are not counted."""
SAMPLES = ("", "keeper", "pairs_first", "keeper")
"""Sample bots as opponents, by bot; the first is the spy's place."""
NAMES = {SLOW: "20-50 ms", QUICK: "1-5 ms", AT_ONCE: "at once"}

ALONE = Setting(SLOW, tables=32)
ASKED = replace(ALONE, ask_forced=True)
HASTY = replace(ASKED, hasty=True)
FEW = Setting(QUICK, tables=6)
CROWD = Setting(SLOW, sessions=32)
SERIAL = Setting(QUICK, sessions=32, one_by_one=True)


def leaks(scale: float) -> None:
    """Print what the spy finds out, and what that is worth in points."""
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
    """Print what asking all turns costs: four patient bots, with the default and with all asked in turn."""
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
    """Return how busy the machine is, since other work blurs the times."""
    return f", load average {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timing", description=timing.__doc__)
    parser.add_argument("--quick", action="store_true", help="a glance: a tenth of the deals")
    options = parser.parse_args()
    scale = 0.1 if options.quick else 1.0
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, ruleset {RULESET}{_load()}")
    leaks(scale)
    costs(0.5 if options.quick else 1.0, 1 if options.quick else 3)
    print(f"the end{_load()}")


if __name__ == "__main__":
    main()
