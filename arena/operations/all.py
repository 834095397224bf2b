"""All operations of an arena, by module."""

from arena.operations import (
    accounts,
    bots,
    entries,
    leaderboards,
    leagues,
    operator,
    results,
    rulesets,
    tournaments,
    webhooks,
)

OPERATIONS = (
    *(accounts, bots, entries, leaderboards, leagues),
    *(operator, results, rulesets, tournaments, webhooks),
)
