"""A slow and obvious implementation of combinations under any ruleset, with which the fast code is compared.

Written from the rules alone; it shares nothing with the code under test except the ruleset's fields. A card
is a (rank, suit) pair of strings, a set of cards a sorted tuple of them. Strengths are tuples. The jokers are
the black and the red card of the rank "joker".
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

from referee.ruleset import Ruleset

Card = tuple[str, str]
Cards = tuple[Card, ...]

FIVE = {"two_pair", "straight", "flush", "full_house", "quads", "straight_flush", "royal_flush"}


def read(text: str) -> Cards:
    """Return the cards in a text."""
    return tuple(("joker", word[0]) if word[-1] == "J" else (word[:-1], word[-1]) for word in text.split())


class SlowRules:
    """Kinds and strengths of plays, and what beats what, under one ruleset."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.played: set[str] = {*ruleset.plays} | ({*ruleset.five_card_order} & {"royal_flush"})
        self.levels = {
            frozenset(sequence.split()): (level, sequence.split())
            for level, equals in enumerate(ruleset.straights)
            for sequence in equals
        }
        ace = ruleset.ranks[-2]
        self.royal_ranks = {*ruleset.ranks[-6:-2], ace}
        self.cycle = [ace, ruleset.ranks[-1], *ruleset.ranks[:-2]]
        self.rank_number = {rank: number for number, rank in enumerate((*ruleset.ranks, "joker"))}
        self.suit_number: dict[str, int] = {suit: number for number, suit in enumerate(ruleset.suits)}
        if ruleset.equal_suits:
            self.suit_number = dict.fromkeys(ruleset.suits, 0)
        self.suit_number |= {"B": 0, "R": 1}

    def one_pack(self) -> list[Card]:
        """Return the cards of one pack, the lowest first."""
        cards = [(rank, suit) for rank in self.ruleset.ranks for suit in self.ruleset.suits]
        jokers = {0: [], 1: [("joker", "R")], 2: [("joker", "B"), ("joker", "R")]}[self.ruleset.jokers]
        return [card for card in cards if "".join(card) not in self.ruleset.removed_cards] + jokers

    def kind(self, cards: Cards) -> str | None:
        """Return the kind of a combination; None if the cards are not one."""
        kind = self.shape(cards)
        return kind if kind in self.played else None

    def shape(self, cards: Cards) -> str | None:
        """Return what kind the cards would be if every kind could be played."""
        ranks = [rank for rank, _ in cards]
        counts = sorted(ranks.count(rank) for rank in set(ranks))
        if counts == [len(cards)] and len(cards) <= 4:
            return {1: "single", 2: "pair", 3: "triple", 4: "bare_quads"}[len(cards)]
        if len(cards) == 5 and (five := self.five_shape(cards)) in self.played:
            return five
        if len(cards) == 7 and "straight_flush_plus_two" in self.played and self.straight_flushes_in(cards):
            return "straight_flush_plus_two"
        if counts == [2, 2] and len(cards) == 4 and "bare_two_pair" in self.played:
            return "bare_two_pair"
        if "dragon" in self.played and sorted(ranks) == sorted(self.ruleset.ranks):
            return "dragon"
        return self.run_shape(cards)

    def five_shape(self, cards: Cards) -> str | None:
        """Return the shape of five cards."""
        ranks = frozenset(rank for rank, _ in cards)
        if shape := self.five_shape_by_ranks(cards):
            suited = len({suit for _, suit in cards}) == 1 and "joker" not in ranks
            shapes = (shape, "flush") if suited else (shape,)
            return next((kind for kind in reversed(self.ruleset.five_card_order) if kind in shapes), None)
        sequence = ranks in self.levels
        if len({suit for _, suit in cards}) > 1:
            return "straight" if sequence else None
        if ranks == self.royal_ranks and "royal_flush" in self.played:
            return "royal_flush"
        if not sequence:
            return "flush"
        if "straight_flush" in self.played:
            return "straight_flush"
        plain = [kind for kind in self.ruleset.five_card_order if kind in ("straight", "flush")]
        return plain[-1] if plain else None

    def five_shape_by_ranks(self, cards: Cards) -> str | None:
        """Return the shape that equal ranks make of five cards."""
        ranks = [rank for rank, _ in cards]
        counts = tuple(sorted(ranks.count(rank) for rank in set(ranks)))
        shapes = {(5,): "quads", (1, 4): "quads", (2, 3): "full_house", (1, 2, 2): "two_pair"}
        return shapes.get(counts)

    def pairs(self, cards: Cards) -> list[str]:
        """Return the ranks of two pairs with a fifth card, the higher first; none if the cards are none."""
        ranks = [rank for rank, _ in cards]
        pairs = sorted({rank for rank in ranks if ranks.count(rank) == 2}, key=self.number, reverse=True)
        return pairs if len(pairs) == 2 and len(cards) in (4, 5) else []

    def run_shape(self, cards: Cards) -> str | None:
        """Return the kind of a run, with or without pairs, if its ranks are a legal sequence."""
        run, pairs = self.run_and_pairs(cards)
        size = len(cards) - 2 * pairs
        if not self.run_place(run, size // len(run)):
            return None
        match (size // len(run), len(run), pairs):
            case (1, length, 0) if length >= self.ruleset.run_from and (
                length != 5 or not {"straight", "flush", "straight_flush"} & self.played
            ):
                suited = len({suit for _, suit in cards}) == 1
                return "suited_run" if suited and "suited_run" in self.played else "run"
            case (2, length, 0) if length >= self.ruleset.pair_run_from:
                return "pair_run"
            case (3, length, 0) if length > 1:
                return "triple_run"
            case (3, 1, 2):
                return "triple_plus_two_pairs"
            case (3, length, pairs) if length > 1 and length == pairs:
                return "triple_run_plus_pairs"
        return None

    def run_and_pairs(self, cards: Cards) -> tuple[set[str], int]:
        """Return the ranks of which there are most cards, and how many pairs are beside; -1 for others."""
        counts = {rank: [other for other, _ in cards].count(rank) for rank, _ in cards}
        most = max(counts.values())
        others = [count for count in counts.values() if count < most]
        run = {rank for rank, count in counts.items() if count == most}
        return run, len(others) if all(count == 2 for count in others) else -1

    def run_place(self, ranks: set[str], width: int) -> tuple[int, str] | None:
        """Return the level of a sequence of ranks, from the lowest, and the rank whose suit counts."""
        if len(ranks) == 1:
            (rank,) = ranks
            return self.number(rank), rank
        found = None
        for level, equals in enumerate(self.run_levels(len(ranks))):
            for start in equals:
                sequence = [self.cycle[(start + step) % len(self.cycle)] for step in range(len(ranks))]
                if set(sequence) == ranks:
                    by_rank = width == 1 and self.ruleset.straight_suit_of == "highest"
                    found = level, max(sequence, key=self.number) if by_rank else sequence[-1]
        return found

    def run_levels(self, length: int) -> list[list[int]]:
        """Return where the legal sequences start in A 2 3 … K, from weakest to strongest."""
        ranks = len(self.cycle)
        ends_in_ace, ends_in_two = ranks - length + 1, ranks - length + 2
        ace, two = [[0]], [[1]]
        low_to_ace = [[start] for start in range(2, ends_in_ace + 1)]
        top = [[ends_in_two]]
        words = {
            "A": ace,
            "2": two,
            "3-T": low_to_ace,
            "3-9": low_to_ace[:-1],
            "T": [[ends_in_ace]],
            "J": top,
        }
        words["J-K"] = [[start] for start in range(ends_in_two, ranks)]
        named = {
            "two_low": ace + two + low_to_ace,
            "wheel_high": two + low_to_ace + ace,
            "six_high_wheel_next": low_to_ace + ace + two,
            "six_high_wheel_low": ace + low_to_ace + two,
            "no_wheel": two + low_to_ace,
            "two_high": two + low_to_ace + top,
            "two_high_wheel_low": ace + two + low_to_ace + top,
            "by_ranks": low_to_ace + two + ace + top,
            "by_ranks_no_wheel": low_to_ace + two + top,
            "three_to_two": low_to_ace + top,
            "indonesia": [*low_to_ace, [0, 1]],
            "hong_kong": low_to_ace + two + ace,
            "wheel_second": two + low_to_ace[:-1] + ace + [[ends_in_ace]],
            "two_ranks_high": [*low_to_ace, [0, 1]],
            "wrap_around": [[start] for start in range(ends_in_two, ranks)] + ace + two + low_to_ace,
            "no_two": low_to_ace,
        }
        own = self.ruleset.run_order.split()
        if own[0] in named:
            return named[own[0]]
        levels: list[list[int]] = []
        for word in own:
            equals = [start for part in word.split("=") for level in words[part] for start in level]
            levels += [equals] if "=" in word else words[word]
        return levels

    def straight_flushes_in(self, cards: Cards) -> list[Cards]:
        """Return the suited legal sequences among the cards."""
        return [
            five
            for five in combinations(cards, 5)
            if len({suit for _, suit in five}) == 1 and frozenset(rank for rank, _ in five) in self.levels
        ]

    def strength(self, cards: Cards) -> tuple[int, ...]:
        """Return the strength among plays of the same kind and size; greater is stronger."""
        kind = self.kind(cards)
        ranks = [rank for rank, _ in cards]
        match kind:
            case "single" | "pair":
                return (self.number(ranks[0]), self.suit(cards))
            case "triple" | "full_house" | "quads" | "bare_quads":
                most = max(ranks, key=ranks.count)
                matching = [card for card in cards if card[0] == most]
                suit = self.suit(matching) if self.ruleset.decks > 1 else 0
                return (self.number(most), suit)
            case "straight" | "straight_flush" | "royal_flush":
                return self.sequence_strength(cards) if kind != "royal_flush" else (self.suit(cards),)
            case "two_pair" | "bare_two_pair":
                high, low = self.pairs(cards)
                suit = self.suit([card for card in cards if card[0] == high])
                both = self.ruleset.two_pair_order == "ranks_then_suit"
                return (self.number(high), self.number(low) if both else 0, suit)
            case "flush":
                return self.flush_strength(cards)
            case "straight_flush_plus_two":
                return max(self.sequence_strength(five) for five in self.straight_flushes_in(cards))
            case "dragon":
                return (self.suit([card for card in cards if card[0] == self.ruleset.ranks[-1]]),)
            case (
                "run"
                | "suited_run"
                | "pair_run"
                | "triple_run"
                | "triple_run_plus_pairs"
                | "triple_plus_two_pairs"
            ):
                return self.run_strength(cards)
        raise AssertionError(cards)

    def sequence_strength(self, cards: Cards) -> tuple[int, ...]:
        """Return the level and the suit of a straight of any sort."""
        level, sequence = self.levels[frozenset(rank for rank, _ in cards)]
        top = sequence[-1] if self.ruleset.straight_suit_of == "top" else max(sequence, key=self.number)
        return (level, self.suit([card for card in cards if card[0] == top]))

    def run_strength(self, cards: Cards) -> tuple[int, ...]:
        """Return the level and the suit of a run; triples of one pack have no suit."""
        run, pairs = self.run_and_pairs(cards)
        width = (len(cards) - 2 * pairs) // len(run)
        place = self.run_place(run, width)
        assert place, cards
        level, rank = place
        suit = self.suit([card for card in cards if card[0] == rank])
        return (level, suit if width < 3 or self.ruleset.decks > 1 else 0)

    def flush_strength(self, cards: Cards) -> tuple[int, ...]:
        """Return a flush's strength in the ruleset's order."""
        ranks = sorted((self.number(rank) for rank, _ in cards), reverse=True)
        suit = self.suit(cards)
        return {
            "suit_then_top": (suit, ranks[0]),
            "top_then_suit": (ranks[0], suit),
            "ranks_then_suit": (*ranks, suit),
        }[self.ruleset.flush_order]

    def number(self, rank: str) -> int:
        """Return a rank's place, from the lowest."""
        return self.rank_number[rank]

    def suit(self, cards: Iterable[Card]) -> int:
        """Return the place of the highest suit among the cards, 0 where suits are equal."""
        return max(self.suit_number[suit] for _, suit in cards)

    def is_bomb(self, cards: Cards) -> bool:
        """Return whether the play beats other kinds and sizes."""
        return self.bomb(cards) is not None

    def bomb(self, cards: Cards) -> str | None:
        """Return the name in ``bombs`` that a play goes by, None if it is not a bomb."""
        names = [name for name in self.ruleset.bombs if self.goes_by(cards, name)]
        return names[-1] if names else None  # of runs, the name with the most pairs

    def goes_by(self, cards: Cards, name: str) -> bool:
        """Return whether a name stands for the play: a kind, ``pair_run N``, or equal ranks."""
        first, *more = name.split()
        if first == "pair_run":
            return self.kind(cards) == first and len(cards) >= 2 * int(more[0] if more else 2)
        if len(cards) == 1 and name in ("".join(cards[0]), f"{cards[0][1]}J"[: 2 * (cards[0][0] == "joker")]):
            return True
        return self.kind(cards) == name or [rank for rank, _ in cards] == name.split()

    def is_target(self, cards: Cards, name: str) -> bool:
        """Return whether the play is what a bomb's entry in ``bombs_beat`` names."""
        return (
            self.bomb(cards) == name
            if name.startswith("pair_run") and name in self.ruleset.bombs
            else (self.goes_by(cards, name))
        )

    def beats(self, a: Cards, b: Cards) -> bool:
        """Return whether play ``a`` beats play ``b``, both being combinations."""
        bomb_a, bomb_b = self.bomb(a), self.bomb(b)
        limits = {} if self.ruleset.bombs_beat == "any" else dict(self.ruleset.bombs_beat)
        free_a, free_b = (bomb is not None and bomb not in limits for bomb in (bomb_a, bomb_b))
        if free_a and free_b:
            order = self.ruleset.bomb_order or self.ruleset.bombs
            if bomb_a != bomb_b:
                return order.index(bomb_a) > order.index(bomb_b)
            return (len(a), self.strength(a)) > (len(b), self.strength(b))
        if free_a or free_b:
            return free_a
        if (
            bomb_a is not None
            and bomb_a != bomb_b
            and any(self.is_target(b, name) for name in limits[bomb_a])
        ):
            return True
        if bomb_a is not None and bomb_a == bomb_b and len(a) > len(b):
            return True
        return self.beats_without_bombs(a, b)

    def beats_without_bombs(self, a: Cards, b: Cards) -> bool:
        """Return whether play ``a`` beats play ``b`` as ordinary plays do."""
        kind_a, kind_b = self.kind(a), self.kind(b)
        assert kind_a, a
        assert kind_b, b
        if kind_a == kind_b and len(a) == len(b):
            return self.strength(a) > self.strength(b)
        if {kind_a, kind_b} <= FIVE and self.ruleset.kinds_compete:
            order = self.ruleset.five_card_order
            return order.index(kind_a) > order.index(kind_b)
        return False

    def plays(self, hand: Cards) -> set[Cards]:
        """Return every combination in a hand, listing equal ones once."""
        return {cards for cards in self._subsets(tuple(sorted(hand))) if self.kind(cards)}

    def wins_at_once(self, hand: Cards) -> list[str]:
        """Return what a dealt hand is that wins at once under this ruleset, weakest first."""
        ranks = [rank for rank, _ in hand]
        twos = {suit for rank, suit in hand if rank == self.ruleset.ranks[-1]}
        of_two = {rank: ranks.count(rank) // 2 for rank in ranks}
        below = self.ruleset.ranks[:-1]
        in_pack = {rank for rank, _ in self.one_pack()} - {"joker"}
        tripled = [rank for rank in set(ranks) if ranks.count(rank) >= 3]
        is_ = {
            "four_twos": len(twos) == 4,
            "six_pairs": sum(of_two.values()) >= 6,
            "five_pairs_and_triple": any(
                sum((ranks.count(rank) - 3 * (rank == triple)) // 2 for rank in of_two) >= 5
                for triple in tripled
            ),
            "five_pair_run": any(
                all(ranks.count(rank) >= 2 for rank in below[start : start + 5])
                for start in range(len(below) - 4)
            ),
            "three_triple_run": any(
                all(ranks.count(rank) >= 3 for rank in below[start : start + 3])
                for start in range(len(below) - 2)
            ),
            "dragon_without_two": {*below} & in_pack <= {*ranks},
        }
        wins = [win for win in self.ruleset.instant_wins if is_[win]]
        return wins + ["dragon"] * (self.ruleset.dragon == "wins" and in_pack <= {*ranks})

    def _subsets(self, hand: Cards) -> Iterator[Cards]:
        for size in range(1, len(hand) + 1):
            if size <= 5 or self.played & self._larger(size):
                yield from combinations(hand, size)

    def _larger(self, size: int) -> set[str]:
        """Return the kinds that may have so many cards, more than five."""
        kinds = {"run", "suited_run"}
        kinds |= {"straight_flush_plus_two", "triple_plus_two_pairs"} if size == 7 else set()
        kinds |= {"pair_run"} if size % 2 == 0 else set()
        kinds |= {"dragon"} if size == len(self.ruleset.ranks) else set()
        kinds |= {"triple_run"} if size % 3 == 0 else set()
        return kinds | ({"triple_run_plus_pairs"} if size % 5 == 0 else set())
