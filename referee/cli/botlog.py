"""The log of a bot, printed for people or for scripts."""

import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from referee.cli.output import console, print_json_line
from referee.matches.journal import KEPT, LogEntry, LogQuery

POLL_SECONDS = 0.5

CARDS = {"hand": "hand", "to_beat": "to beat", "answered": "answered", "default": "played"}
"""Details that are cards, and what they are called for people."""

TOLD = {
    *CARDS,
    *("deal", "action", "sequence", "turn", "seat", "faults", "fault_limit", "elapsed_ms", "credit_ms"),
    *("attempt", "void"),
}
"""Details that ``lines_of`` words itself; others are shown as they are."""

INDENT = "  "
LABEL = 10
"""Width of the labels of cards."""


def print_entry(entry: LogEntry, as_json: bool) -> None:
    """Print an entry: one JSON object a line, or some lines for people."""
    if as_json:
        values = asdict(entry)
        del values["id"]
        print_json_line(values)
        return
    out = console()
    for line in lines_of(entry, out.width):
        out.print(line, soft_wrap=True)


def lines_of(entry: LogEntry, width: int) -> Iterator[str]:
    """Yield an entry in lines of at most ``width`` characters; only a longer word exceeds that."""
    when = entry.at.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    what = f"{entry.kind} {entry.code}".strip()
    yield from _wrapped(f"{when}  {entry.bot}  {what}  {entry.session_id or entry.referee}", width)
    if entry.text:
        yield from _wrapped(INDENT + entry.text, width)
    yield from _details(entry.details, width)


def _details(details: Mapping[str, object], width: int) -> Iterator[str]:
    where = ", ".join(
        f"{name} {details[name]}" for name in ("attempt", "deal", "action", "turn", "seat") if name in details
    )
    more = []
    if "faults" in details:
        more.append(f"fault {details['faults']} of {details.get('fault_limit', '?')}")
    if "elapsed_ms" in details:
        more.append(f"after {details['elapsed_ms']} ms, {details.get('credit_ms', 0)} ms of them credited")
    if text := "; ".join(filter(None, (where, *more))):
        yield from _wrapped(INDENT + text, width)
    if details.get("void"):
        yield f"{INDENT}void: this attempt at the session was broken off, and the fault does not count"
    for name, label in CARDS.items():
        if name in details:
            cards = {"": "nothing", "-": "a pass"}.get(str(details[name]), str(details[name]))
            yield from _wrapped(f"{INDENT}{label:<{LABEL}}{cards}", width, len(INDENT) + LABEL)
    for name in (name for name in details if name not in TOLD):
        yield from _wrapped(f"{INDENT}{name}: {details[name]}", width)


def _wrapped(text: str, width: int, indent: int = len(INDENT) * 2) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True
    )


def follow_log(
    read: Callable[[LogQuery], list[LogEntry]],
    query: LogQuery,
    show: Callable[[LogEntry], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Show entries as they come, from the one after ``query.after`` on, until the process is interrupted."""
    while True:
        for entry in read(replace(query, limit=KEPT)):
            show(entry)
            query = replace(query, after=entry.id)
        sleep(POLL_SECONDS)


def follow_pages(
    read: Callable[[], Sequence[LogEntry]], last: LogEntry | None, show: Callable[[LogEntry], None]
) -> None:
    """Show entries as they come, after the ``last`` one shown, until the process is interrupted.

    ``read`` returns the latest ones, oldest first; over the network they have no numbers.
    """
    while True:
        pause()
        for entry in newer(read(), last):
            show(entry)
            last = entry


def newer(entries: Sequence[LogEntry], last: LogEntry | None) -> Sequence[LogEntry]:
    """Return the entries after the last one shown; all of them if it is no longer among them."""
    places = [place for place, entry in enumerate(entries) if entry == last]
    return entries[places[-1] + 1 :] if places else entries


def pause() -> None:
    """Wait until it is time to look again."""
    time.sleep(POLL_SECONDS)
