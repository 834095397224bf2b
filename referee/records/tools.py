"""The rules tools for bot authors: JSON values in, JSON values out (docs/formats.md, "Rules tools").

Each tool answers one request; RefereeError says in one line why a request cannot be answered.
"""

from collections.abc import Mapping, Sequence

from referee.deals.dealing import is_last_card, landmarks
from referee.deals.options import Constraints, allowed
from referee.errors import CardError, RecordError, RefereeError
from referee.reading.plain import plain
from referee.reading.validation import short, suggestion
from referee.records.replay import Replayer
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.ruleset.axes.dealing import most_listed

EXPORT = "bigtwo-export/2"
"""The format that lines of an export name if they are not deals: `arena verify` checks those."""


LEGAL = ("ruleset", "hand", "table", "must_include", "next_has_one", "last_trick_player_is_self")
COMPARE = ("ruleset", "a", "b")
"""The fields of requests."""


class RequestError(RefereeError):
    """A request to a rules tool that cannot be answered."""


def legal(request: object) -> dict[str, object]:
    """Answer which plays are legal in a turn: ``{"plays": […], "pass": …}``."""
    values = _object(request, LEGAL)
    rules = _rules(values)
    hand = _cards(rules, values, "hand")
    most = most_listed(rules.ruleset)
    if rules.count(hand) > most:
        raise RequestError(
            f"hand: must have at most {most} cards under this ruleset, not {rules.count(hand)}"
        )
    constraints = _constraints(rules, values, hand)
    options = allowed(rules, rules.list_plays(hand), constraints)
    return {"plays": play_texts(rules, options.plays), "pass": options.may_pass}


def compare(request: object) -> dict[str, object]:
    """Answer of what kind two sets of cards are, and whether ``a`` beats ``b`` on the table."""
    values = _object(request, COMPARE)
    rules = _rules(values)
    first, second = (rules.code(_cards(rules, values, name)) for name in ("a", "b"))
    return {
        "a": rules.kind(first) if first else None,
        "b": rules.kind(second) if second else None,
        "beats": first > 0 and second > 0 and rules.beats(first, second),
    }


def replay(replayer: Replayer, record: object) -> dict[str, object]:
    """Answer whether a deal record is right, given those that ``replayer`` has checked before."""
    if isinstance(record, Mapping) and record.get("format") == EXPORT:
        return {"ok": True}
    try:
        replayer.check(record)
    except RecordError as error:
        return {"ok": False, "action": error.action, "error": error.reason}
    return {"ok": True}


def play_texts(rules: Rules, plays: list[int]) -> list[str]:
    """Return plays, given as codes, as texts, sorted by number of cards and then by code point."""
    texts = [rules.text(play & rules.full) for play in plays]
    return sorted(texts, key=lambda text: (text.count(" "), text))


def _constraints(rules: Rules, values: Mapping[str, object], hand: int) -> Constraints:
    to_beat, include = _table(rules, values), _include(rules, values, hand)
    own, next_has_one = _flag(values, "last_trick_player_is_self"), _flag(values, "next_has_one")
    if own and not rules.ruleset.beat_own:
        to_beat = 0
    bans = rules.ruleset.last_top_card == "cannot_win"
    return Constraints(
        to_beat=to_beat,
        include=include,
        banned=landmarks(rules).last if bans and is_last_card(rules, hand) else 0,
        guarded=next_has_one and not (own and rules.ruleset.beat_own),
    )


def _table(rules: Rules, values: Mapping[str, object]) -> int:
    if values.get("table") is None:
        return 0
    code = rules.code(_cards(rules, values, "table"))
    if not code:
        raise RequestError(f"table: {short(values['table'])} is not a play under this ruleset")
    return code


def _include(rules: Rules, values: Mapping[str, object], hand: int) -> int:
    if values.get("must_include") is None:
        return 0
    card = _cards(rules, values, "must_include")
    if rules.count(card) != 1:
        raise RequestError(f"must_include: must be one card, not {short(values['must_include'])}")
    if values.get("table") is not None:
        raise RequestError("must_include: applies to a lead, not to a play that beats the table")
    if card & ~hand:
        raise RequestError(f"must_include: {rules.text(card)} is not in the hand")
    return card


def _object(values: object, fields: Sequence[str]) -> Mapping[str, object]:
    if not isinstance(values, Mapping):
        raise RequestError(f"a request must be an object, not {short(values)}")
    for name in values:
        if name not in fields:
            raise RequestError(f"{plain(str(name))}: unknown field{suggestion(str(name), fields)}")
    return values


def _field(values: Mapping[str, object], name: str) -> object:
    if name not in values:
        raise RequestError(f"{name}: is missing")
    return values[name]


def _rules(values: Mapping[str, object]) -> Rules:
    return rules_of(_field(values, "ruleset"))


def _cards(rules: Rules, values: Mapping[str, object], name: str) -> int:
    text = _field(values, name)
    if not isinstance(text, str):
        raise RequestError(f"{name}: must be cards in text, not {short(text)}")
    try:
        return rules.parse(text)
    except CardError as error:
        raise RequestError(f"{name}: {error}") from error


def _flag(values: Mapping[str, object], name: str) -> bool:
    value = values.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise RequestError(f"{name}: must be true or false, not {short(value)}")
