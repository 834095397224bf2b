"""``arena match list``: finished matches."""

from collections.abc import Sequence

from arena.cli.doors import command_of
from arena.operations import results
from arena.queries.matches import MatchLine, MatchPage
from referee.cli.output import change, moment, show


@command_of(
    results.list_matches,
    flags={"since": "--from", "until": "--to"},
    metavars=dict.fromkeys(("bot", "opponent"), "OWNER/BOT[@VERSION]"),
    csv=True,
)
def list_(page: MatchPage, bot: str | None) -> None:
    """List finished matches, newest first, with points and changes of Elo."""
    show_matches(page.matches, bot)


def show_matches(lines: Sequence[MatchLine], bot: str | None = None) -> None:
    """Print matches; for those of one bot, show its own faults and forfeits next to those of all bots."""
    whose = [None] if bot is None else [bot, None]
    troubles = [("faults", one, [_of(line.bots, line.faults, one) for line in lines]) for one in whose]
    if any(sum(line.forfeits) for line in lines):
        troubles += [
            ("forfeits", one, [_of(line.bots, line.forfeits, one) for line in lines]) for one in whose
        ]
    rows = [
        (
            moment(line.finished_at),
            *_where(line),
            _points(line),
            *(counts[at] or "" for *_, counts in troubles),
        )
        for at, line in enumerate(lines)
    ]
    columns = ["finished", "tournament", ">round", ">table", "ruleset", "points (change of Elo)"]
    for what, one, _ in troubles:
        columns.append(f">{what}" if bot is None else f">{what} of {'all' if one is None else 'it'}")
    show(columns, rows, "no such matches")


def _where(line: MatchLine) -> tuple[object, ...]:
    return line.tournament, line.round, line.table, line.ruleset


def _of(names: Sequence[str], counts: Sequence[int], bot: str | None) -> int:
    """Return the sum of counts by bot, for all bots or for one, which may be named without a version."""
    told = zip(names, counts, strict=True)
    return sum(count for name, count in told if bot in (None, name, name.partition("@")[0]))


def _points(line: MatchLine) -> str:
    """Return the bots with points and changes of Elo, the best first."""
    changes = line.changes or [None] * len(line.bots)
    told = sorted(zip(line.points, line.bots, changes, strict=True), key=lambda one: -one[0])
    parts = [
        f"{name} {points:+d}" if moved is None else f"{name} {points:+d} ({change(moved)})"
        for points, name, moved in told
    ]
    return ", ".join(parts)
