"""Loading rulesets from presets, objects and TOML files, and refusing fields that conflict."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from referee.cards import JOKER, card_text, pack_of
from referee.errors import Problem, RulesetError, TomlError
from referee.reading.toml import problems_in, read_toml
from referee.reading.validation import shown, suggestion
from referee.ruleset.bombs import cards_held, is_card, limited, rank_of
from referee.ruleset.bombs import problems as bomb_problems
from referee.ruleset.bounds import listing_problem
from referee.ruleset.fields import FIVE_CARD_KINDS, MOST_CARDS
from referee.ruleset.idle import without_idle_fields, without_lost_fields
from referee.ruleset.limits import (
    MOST_CARDS_WITH_DRAGONS,
    excess,
    most_cards,
    pack_size,
    plays_problem,
)
from referee.ruleset.model import Ruleset
from referee.ruleset.runs import RUNS, ranks_held, run_order

_SEQUENCE_KINDS = {"straight", "straight_flush", "straight_flush_plus_two"}


def refuse_conflicts(ruleset: Ruleset, own: Mapping[str, object]) -> None:
    """Raise RulesetError with all contradictions between fields, if there are any.

    ``own`` has the fields that the preset extended does not supply.
    """
    problems = [*_pack(ruleset), *_hands(ruleset, own)]
    problems += [problem for check in _CHECKS for problem in check(ruleset)]
    problems = problems or [*excess(ruleset), *listing_problem(ruleset)]
    if problems:
        raise RulesetError.of(problems)


def _hands(ruleset: Ruleset, own: Mapping[str, object]) -> Iterator[Problem]:
    players, cards = ruleset.players, pack_size(ruleset)
    if not isinstance(ruleset.hand_size, int):
        size = -(-cards // players)
        if size > MOST_CARDS:
            yield Problem("hand_size", f"cannot be all: {size} cards for a player, more than {MOST_CARDS}")
        elif cards < players:
            yield Problem("removed_cards", f"leaves {cards} cards for {players} players")
        return
    size = ruleset.hand_size
    dealt = players * size
    if dealt > cards:
        field = _first_own(own, "hand_size", "players", "decks", "removed_cards", "ranks")
        fewer = f"; a hand_size of at most {cards // players}, or 'all', would do" if cards >= players else ""
        yield Problem(field, f"{players} hands of {size} need {dealt} cards, not {cards}{fewer}")
    elif ruleset.leftover == "to_lowest" and cards - dealt >= players:
        reason = (
            f"to_lowest needs fewer cards left over than players, not {cards - dealt} with {players} players"
        )
        yield Problem(
            _first_own(own, "leftover", "hand_size", "players", "decks", "removed_cards", "ranks"), reason
        )


def _first_own(own: Mapping[str, object], *fields: str) -> str:
    """Return the first of the fields that was given, or the first of all."""
    return next((field for field in fields if field in own), fields[0])


def _dealing(ruleset: Ruleset) -> Iterator[Problem]:
    draws = ruleset.draw_on_pass != "none"
    if draws and ruleset.leftover != "stock":
        yield Problem("draw_on_pass", "needs leftover: stock")
    if ruleset.restock and not draws:
        yield Problem("restock", "needs draw_on_pass")


def _partners(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.partners != "none" and ruleset.players != 4:
        yield Problem("partners", f"{ruleset.partners} needs four players")


def _lead(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.first_lead == "random" and ruleset.lead_includes_lowest:
        yield Problem("lead_includes_lowest", "must be false with first_lead: random, as no card decides")


def _instant_wins(ruleset: Ruleset) -> Iterator[Problem]:
    wins, compete = ruleset.instant_wins, ruleset.instant_wins_compete
    if "four_twos" in wins and ruleset.redeal_four_twos:
        yield Problem("instant_wins", "has four_twos, with which redeal_four_twos deals again")
    if {"six_pairs", "five_pairs_and_triple"} <= {*wins} and not (
        compete and wins.index("six_pairs") < wins.index("five_pairs_and_triple")
    ):
        reason = "has five_pairs_and_triple, which are also six_pairs, but not as the stronger of the two"
        yield Problem("instant_wins", reason)
    if wins and ruleset.deal_ends == "last_holder":
        yield Problem("instant_wins", "must be empty with deal_ends: last_holder")


def _pack(ruleset: Ruleset) -> Iterator[Problem]:
    two = ruleset.ranks[-1]
    gone = [rank for rank in ruleset.ranks if rank not in ranks_held(ruleset)]
    if gone and "dragon" in ruleset.plays:
        yield Problem("plays", f"has dragon, which needs every rank, and every {gone[0]} is removed")
    beaten = [("bombs_beat", name) for names in limited(ruleset.bombs_beat).values() for name in names]
    for field, name in dict.fromkeys([*[("bombs", name) for name in ruleset.bombs], *beaten]):
        rank = rank_of(name)
        held = cards_held(rank, ruleset.removed_cards, ruleset.decks)
        held = ruleset.jokers * ruleset.decks if rank == JOKER else held
        if is_card(name):
            if ruleset.equal_suits and rank[:-1] in ruleset.ranks:
                yield Problem(field, f"has {name}, but with equal_suits all cards of a rank are equal")
            elif name not in pack_texts(ruleset):
                yield Problem(field, f"has {name}, which is not in the pack")
        elif rank and held < len(name.split()):
            yield Problem(field, f"has {name}, but the pack has only {held} of that rank")
    if ruleset.last_cards in gone:
        yield Problem("last_cards", f"is {ruleset.last_cards}, and every {ruleset.last_cards} is removed")
    if any(card[:-1] == two for card in ruleset.removed_cards):
        needs = f"all four cards of the rank {two}, some of which are removed"
        if ruleset.redeal_four_twos:
            yield Problem("redeal_four_twos", f"needs {needs}")
        if "four_twos" in ruleset.instant_wins:
            yield Problem("instant_wins", f"has four_twos, which needs {needs}")
    if ruleset.first_lead in ruleset.removed_cards:
        yield Problem("first_lead", f"is {ruleset.first_lead}, which is among removed_cards")


def pack_texts(ruleset: Ruleset) -> list[str]:
    """Return the cards of one pack, as texts."""
    cards = pack_of(ruleset.ranks, ruleset.jokers, ruleset.removed_cards)
    return [card_text(card, ruleset.ranks) for card in cards]


def _kinds(ruleset: Ruleset) -> Iterator[Problem]:
    plays = set(ruleset.plays)
    if "single" not in plays:
        yield Problem("plays", "must have single")
    if {"straight_flush", "straight_flush_plus_two"} <= plays:
        yield Problem("plays", "cannot have both straight_flush and straight_flush_plus_two")
    for kind in filter(plays.__contains__, ("run", "suited_run")):
        if "straight_flush_plus_two" in plays:
            yield Problem(
                "plays", f"cannot have both {kind} and straight_flush_plus_two: seven cards may be both"
            )
    if {"bare_two_pair", "pair_run"} <= plays and ruleset.pair_run_from == 2:
        yield Problem(
            "plays", "cannot have both bare_two_pair and pair_run from two pairs: four cards may be both"
        )
    for kind in filter(plays.__contains__, RUNS):
        if not run_order(ruleset, kind):
            yield Problem("plays", f"has {kind}, but the pack lacks ranks for one")
    held = {*ranks_held(ruleset)}
    if plays & _SEQUENCE_KINDS and not any(
        {*text.split()} <= held for level in ruleset.straights for text in level
    ):
        yield Problem("straights", "has no sequence, though plays has kinds made of one")


def _dragons(ruleset: Ruleset) -> Iterator[Problem]:
    if "dragon" not in ruleset.plays:
        return
    most, ranks = most_cards(ruleset), len(ruleset.ranks)
    if not ranks <= most <= MOST_CARDS_WITH_DRAGONS:
        needs = f"hands of at least {ranks} cards and never more than {MOST_CARDS_WITH_DRAGONS}"
        yield Problem("plays", f"has dragon, which needs {needs}; they can have {most}")
    elif ruleset.dragon == "wins" and ruleset.draw_on_pass == "none" and ruleset.exchange == "none":
        yield Problem("plays", "has dragon, which cannot be played with dragon: wins")


def _order(ruleset: Ruleset) -> Iterator[Problem]:
    order, plays = set(ruleset.five_card_order), set(ruleset.plays)
    missing = [kind for kind in FIVE_CARD_KINDS if kind in plays - order]
    extra = [kind for kind in ruleset.five_card_order if kind in FIVE_CARD_KINDS and kind not in plays]
    if missing:
        advice = "; write all five-card kinds of plays, weakest first"
        yield Problem("five_card_order", f"lacks {', '.join(missing)}, which plays has{advice}")
    if extra:
        rest = [kind for kind in ruleset.five_card_order if kind not in extra]
        advice = f"; write five_card_order = {json.dumps(rest)}" if not missing else ""
        yield Problem("five_card_order", f"has {', '.join(extra)}, which plays lacks{advice}")
    if "royal_flush" in order and "straight_flush" not in plays:
        yield Problem("five_card_order", "has royal_flush, which needs straight_flush in plays")


def _suits(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.last_top_card == "allowed" or ruleset.last_cards != "top":
        return
    if ruleset.equal_suits and not ruleset.jokers:
        yield Problem("last_cards", "cannot be top with equal_suits, as no card is the highest")


def _bombs(ruleset: Ruleset) -> Iterator[Problem]:
    yield from bomb_problems(ruleset)
    if ruleset.bombs_out_of_turn and not ruleset.bombs:
        yield Problem("bombs_out_of_turn", "needs bombs")


def _end(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.deal_ends == "last_holder":
        for field, value in _FOR_THE_FIRST_OUT:
            if getattr(ruleset, field) == value:
                yield Problem(field, f"cannot be {value} with deal_ends: last_holder")
        return
    if ruleset.settle == "last_loses":
        yield Problem("settle", f"{ruleset.settle} needs deal_ends: last_holder")
    if ruleset.settle == "places" and ruleset.guard == "liable":
        yield Problem("guard", "cannot be liable with settle: places, where no seat pays")
    if ruleset.after_out != "beatable":
        yield Problem("after_out", f"{ruleset.after_out} needs deal_ends: last_holder")


def _brackets(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.settle == "difference" and any(bracket.start == "all" for bracket in ruleset.multipliers):
        yield Problem("multipliers", "cannot have from: all with settle: difference, where differences count")


def _last_cards(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.last_cards != "top" and ruleset.last_top_card == "allowed":
        yield Problem("last_cards", "needs last_top_card: cannot_win or loses")


_FOR_THE_FIRST_OUT = (("dragon", "wins"), ("last_top_card", "loses"), ("guard", "liable"))
"""Values that make sense only if the first to go out ends the deal."""


def _places(ruleset: Ruleset) -> Iterator[Problem]:
    count = ruleset.players if ruleset.settle == "places" else 0
    numbers = len(ruleset.place_points)
    if numbers != count:
        reason = f"must have {count} numbers with settle: {ruleset.settle}, not {numbers}"
        yield Problem("place_points", reason)


def _honours(ruleset: Ruleset) -> Iterator[Problem]:
    for field in ("honours_left", "final_honours"):
        for entry in getattr(ruleset, field):
            kinds = _KINDS_OF_HONOURS.get(entry.honour, ())
            if kinds and not {*kinds} & {*ruleset.plays}:
                yield Problem(field, f"has {entry.honour}, which needs {' or '.join(kinds)} in plays")


_KINDS_OF_HONOURS = {
    "quads": ("quads", "bare_quads"),
    "straight_flush": ("straight_flush", "straight_flush_plus_two"),
}
"""The kinds of plays of which a ruleset needs one for an honour."""


_CHECKS: tuple[Callable[[Ruleset], Iterator[Problem]], ...] = (
    _dealing,
    _partners,
    _lead,
    _instant_wins,
    _kinds,
    _dragons,
    _order,
    _suits,
    _bombs,
    plays_problem,
    _end,
    _last_cards,
    _brackets,
    _places,
    _honours,
)


DEFAULT = "chinese"
"""The preset that supplies the fields that an object lacks, unless it extends another."""

_PRESETS = files("referee") / "presets"


@cache
def preset_names() -> list[str]:
    """Return the names of all presets: the default first, then the others in alphabetical order."""
    names = [file.name.removesuffix(".toml") for file in _PRESETS.iterdir() if file.name.endswith(".toml")]
    return sorted(names, key=lambda name: (name != DEFAULT, name))


def load_ruleset(source: str | Mapping[str, object]) -> Ruleset:
    """Return the ruleset of a preset's name, or of an object whose ``extends`` names a preset.

    ``{"name": N}`` alone is preset N. Fields that an object lacks come from the preset that it extends,
    ``chinese`` if it names none. Raise RulesetError for any value that is not a ruleset.
    """
    if isinstance(source, str):
        return _preset(_known_preset("ruleset", source))
    if not isinstance(source, Mapping):
        raise RulesetError("ruleset", f"must be a preset's name or an object, not {shown(source)}")
    if set(source) == {"name"}:
        return _preset(_known_preset("name", source["name"]))
    return _resolve(source)


def load_ruleset_file(path: Path) -> Ruleset:
    """Return the ruleset in a TOML file. Raise RulesetError, which names the file and each wrong field."""
    try:
        return load_ruleset(read_toml(path))
    except TomlError as error:
        raise RulesetError(str(path), error.reason) from None
    except RulesetError as error:
        raise RulesetError.of(problems_in(path, error.problems)) from None


def _known_preset(field: str, name: object) -> str:
    presets = preset_names()
    if isinstance(name, str) and name in presets:
        return name
    if not isinstance(name, str):
        raise RulesetError(field, f"must be a preset's name, not {shown(name)}")
    hint = suggestion(name, presets)
    all_ = f"{'' if hint else ';'} `arena rules list` shows all {len(presets)}"
    raise RulesetError(field, f"no preset is called {shown(name)}{hint}{all_}")


def _resolve(source: Mapping[str, object]) -> Ruleset:
    from referee.ruleset.reading import read_ruleset  # pydantic, which takes a while to load

    preset = _known_preset("extends", source.get("extends", DEFAULT))
    own = {name: value for name, value in source.items() if name != "extends"}
    ruleset = without_lost_fields(read_ruleset({**_written(preset), **own}), own)
    refuse_conflicts(ruleset, own)
    return _named(without_idle_fields(ruleset), preset, named="name" in own)


def _named(ruleset: Ruleset, preset: str, *, named: bool) -> Ruleset:
    """Return the ruleset under another name than a preset's, unless it is that preset."""
    if ruleset.name not in preset_names() or ruleset == _preset(ruleset.name):
        return ruleset
    if named:
        raise RulesetError("name", f"is a preset's: give rules that differ from {ruleset.name} another name")
    return replace(ruleset, name=f"{preset}-variant")


@cache
def _written(name: str) -> Mapping[str, object]:
    """Return all fields of a preset as it has them, also those that are idle in it, for what extends it."""
    from referee.ruleset.reading import read_ruleset

    own = tomllib.loads((_PRESETS / f"{name}.toml").read_text(encoding="utf-8"))
    base = {} if name == DEFAULT else _written(str(own.pop("extends", DEFAULT)))
    return read_ruleset({**base, **own}).to_object()


@cache
def _preset(name: str) -> Ruleset:
    from referee.ruleset.reading import read_ruleset

    ruleset = read_ruleset(_written(name))
    refuse_conflicts(ruleset, {})
    return without_idle_fields(ruleset)
