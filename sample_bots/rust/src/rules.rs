//! Rules of its own, for the presets `chinese` and `hong-kong`: kinds, strength, and what is legal. Neither the
//! client nor the planner needs them; a bot that searches does.
//!
//! Cards are masks: bit n is the card with number n + 1, so that each rank is four bits, from the three up to the
//! two, and each suit every fourth bit.

/// A set of cards, each at most once.
pub type Mask = u64;

/// The whole pack.
pub const PACK: Mask = (1 << 52) - 1;
/// The highest card, the 2S.
pub const TOP: Mask = 1 << 51;

const RANKS: usize = 13;
/// The diamonds.
const SUIT: Mask = 0x1_1111_1111_1111;
const SUITS: usize = 4;

/// A ruleset that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// `chinese`: flushes go by suit first; A 2 3 4 5 and 2 3 4 5 6 are the lowest sequences.
    Chinese,
    /// `hong-kong`: flushes go by their highest card; 2 3 4 5 6 and A 2 3 4 5 are the highest sequences; nobody goes
    /// out with the 2S alone.
    HongKong,
}

/// The kinds of plays, the weakest first of those with five cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Single,
    Pair,
    Triple,
    Straight,
    Flush,
    FullHouse,
    Quads,
    StraightFlush,
}

impl Kind {
    /// The name that rulesets have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Pair => "pair",
            Self::Triple => "triple",
            Self::Straight => "straight",
            Self::Flush => "flush",
            Self::FullHouse => "full_house",
            Self::Quads => "quads",
            Self::StraightFlush => "straight_flush",
        }
    }
}

/// A combination of cards that may be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Play {
    /// Its cards.
    pub cards: Mask,
    /// Its kind.
    pub kind: Kind,
    /// Its strength among the plays of its kind.
    pub strength: usize,
}

impl Play {
    /// Whether it beats another play: with as many cards, it is of a stronger kind, or stronger within its kind.
    #[must_use]
    pub fn beats(&self, other: &Self) -> bool {
        self.cards.count_ones() == other.cards.count_ones()
            && (self.kind, self.strength) > (other.kind, other.strength)
    }
}

impl Preset {
    /// The preset of a name that rulesets have.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "chinese" => Some(Self::Chinese),
            "hong-kong" => Some(Self::HongKong),
            _ => None,
        }
    }

    /// What a set of cards is when it is played, or `None` if it is no combination.
    #[must_use]
    pub fn play(self, cards: Mask) -> Option<Play> {
        let (kind, strength) = self.read(cards)?;
        Some(Play { cards, kind, strength })
    }

    fn read(self, cards: Mask) -> Option<(Kind, usize)> {
        let top = (63 - cards.leading_zeros().min(63)) as usize;
        let of = |count| (0..RANKS).find(|&rank| of_rank(cards, rank).count_ones() == count);
        match cards.count_ones() {
            1 => Some((Kind::Single, top)),
            2 => of(2).map(|_| (Kind::Pair, top)),
            3 => of(3).map(|rank| (Kind::Triple, rank)),
            5 => {
                if let Some(rank) = of(4) {
                    return Some((Kind::Quads, rank));
                }
                if let Some(rank) = of(3) {
                    return of(2).map(|_| (Kind::FullHouse, rank));
                }
                let is_suited = (0..SUITS).any(|suit| cards & !(SUIT << suit) == 0);
                match (self.sequence(cards), is_suited) {
                    (Some(strength), true) => Some((Kind::StraightFlush, strength)),
                    (Some(strength), false) => Some((Kind::Straight, strength)),
                    (None, true) => Some((Kind::Flush, self.flush(top))),
                    (None, false) => None,
                }
            }
            _ => None,
        }
    }

    /// The strength of a flush with this highest card.
    fn flush(self, top: usize) -> usize {
        match self {
            Self::Chinese => top % SUITS * RANKS + top / SUITS,
            Self::HongKong => top,
        }
    }

    /// The strength of a sequence: its place among the sequences, then the suit of the card that decides.
    fn sequence(self, cards: Mask) -> Option<usize> {
        let has_ranks =
            |(_, ranks): &(usize, [usize; 5])| ranks.iter().all(|&rank| of_rank(cards, rank) != 0);
        let (place, ranks) = self.sequences().into_iter().enumerate().find(has_ranks)?;
        let decisive = match self {
            Self::Chinese => ranks[4],
            Self::HongKong => *ranks.iter().max()?,
        };
        Some(place * SUITS + of_rank(cards, decisive).trailing_zeros() as usize)
    }

    /// The ranks of the sequences, the weakest first.
    fn sequences(self) -> [[usize; 5]; 10] {
        let [ace, two] = [[11, 12, 0, 1, 2], [12, 0, 1, 2, 3]];
        std::array::from_fn(|place| match (self, place) {
            (Self::Chinese, 0) | (Self::HongKong, 9) => ace,
            (Self::Chinese, 1) | (Self::HongKong, 8) => two,
            (Self::Chinese, _) => std::array::from_fn(|card| place - 2 + card),
            (Self::HongKong, _) => std::array::from_fn(|card| place + card),
        })
    }

    /// All plays that are legal with a hand: what beats `to_beat`, or any play where that is `None`, and contains all
    /// of `must_include`. They are in the order of their number of cards, kind and strength.
    #[must_use]
    pub fn legal(self, hand: Mask, to_beat: Option<&Play>, must_include: Mask) -> Vec<Play> {
        if self == Self::HongKong && hand == TOP {
            return Vec::new();
        }
        let is_legal = |play: &Play| {
            play.cards & must_include == must_include && to_beat.is_none_or(|other| play.beats(other))
        };
        let mut plays: Vec<Play> = self
            .combinations(hand)
            .into_iter()
            .filter_map(|cards| self.play(cards))
            .filter(is_legal)
            .collect();
        plays.sort_by_key(|play| (play.cards.count_ones(), play.kind, play.strength, play.cards));
        plays.dedup();
        plays
    }

    /// All combinations in a hand, some of them twice.
    fn combinations(self, hand: Mask) -> Vec<Mask> {
        let ranks: Vec<Mask> = (0..RANKS).map(|rank| hand & (0xF << (SUITS * rank))).collect();
        let mut found = Vec::new();
        for (rank, &cards) in ranks.iter().enumerate() {
            for count in 1..=3 {
                found.extend(subsets(cards, count));
            }
            for (large, small) in [(3, 2), (4, 1)] {
                for many in subsets(cards, large) {
                    let others = ranks.iter().enumerate().filter(|&(other, _)| other != rank);
                    found.extend(others.flat_map(|(_, &few)| subsets(few, small)).map(|few| many | few));
                }
            }
        }
        for sequence in self.sequences() {
            let mut runs = vec![0];
            for rank in sequence {
                let longer = |run: Mask| subsets(ranks[rank], 1).into_iter().map(move |card| run | card);
                runs = runs.into_iter().flat_map(longer).collect();
            }
            found.extend(runs);
        }
        for suit in 0..SUITS {
            found.extend(subsets(hand & (SUIT << suit), 5));
        }
        found
    }
}

/// The cards of a rank, as bits from 0 for their suits.
fn of_rank(cards: Mask, rank: usize) -> Mask {
    cards >> (SUITS * rank) & 0xF
}

/// All sets of `count` of these cards.
fn subsets(cards: Mask, count: usize) -> Vec<Mask> {
    if count == 0 {
        return vec![0];
    }
    let mut found = Vec::new();
    let mut left = cards;
    while left.count_ones() as usize >= count {
        let lowest = left & left.wrapping_neg();
        left ^= lowest;
        found.extend(subsets(left, count - 1).into_iter().map(|others| others | lowest));
    }
    found
}
