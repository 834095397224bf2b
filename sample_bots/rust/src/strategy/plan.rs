//! How a hand could be gone in few plays. Nothing here decides what is legal.

use std::collections::HashMap;

use crate::client::{Cards, Ruleset, Session};

/// How much of a play's cost is saved when it surely wins its trick: the bot then leads again.
const KEEP_CONTROL: f64 = 0.7;

/// What the planner has to know of a ruleset's cards.
pub(crate) struct Pack {
    /// The numbers of the cards, the lowest first.
    cards: Vec<i32>,
    /// By number of the card: its place among the cards, its rank and its suit, from 0.
    place: [usize; 64],
    rank: [usize; 64],
    suit: [usize; 64],
    /// How many ranks there are, jokers included, and how many suits.
    ranks: usize,
    suits: usize,
    decks: usize,
    /// The highest card.
    pub(crate) top: Cards,
    has_triples: bool,
    has_flushes: bool,
}

impl Pack {
    pub(crate) fn new(ruleset: &Ruleset) -> Self {
        let may = |kind: &str| ruleset.plays.iter().any(|play| play == kind);
        let (jokers, suits) = (ruleset.joker_numbers(), ruleset.suits.len());
        let mut pack = Self {
            cards: ruleset.order(),
            place: [0; 64],
            rank: [0; 64],
            suit: [0; 64],
            ranks: ruleset.ranks.len() + jokers.len(),
            suits,
            decks: ruleset.decks.max(1),
            top: Cards::default(),
            has_triples: may("triple"),
            has_flushes: may("flush"),
        };
        for (place, &card) in pack.cards.iter().enumerate() {
            (pack.rank[index(card)], pack.suit[index(card)]) = (place / suits, place % suits);
        }
        for (number, &joker) in jokers.iter().enumerate() {
            pack.rank[index(joker)] = ruleset.ranks.len() + number;
        }
        pack.cards.extend(jokers);
        for (place, &card) in pack.cards.iter().enumerate() {
            pack.place[index(card)] = place;
            pack.top = Cards::from_numbers(&[card]);
        }
        pack
    }

    /// Sorts cards by rank, and by suit within a rank.
    fn by_rank(&self, cards: Cards) -> Vec<Vec<i32>> {
        let mut ranks = vec![Vec::new(); self.ranks];
        for &card in &self.cards {
            ranks[self.rank[index(card)]].extend(std::iter::repeat_n(card, cards.count(card)));
        }
        ranks
    }
}

fn index(card: i32) -> usize {
    usize::try_from(card).unwrap_or_default() % 64
}

/// How things stand at a turn, with what was worked out for it.
pub(crate) struct View<'a> {
    pub(crate) pack: &'a Pack,
    /// How many cards another seat holds at least and at most, of those that still hold any; 0 where none does.
    pub(crate) shortest: usize,
    longest: usize,
    /// How many copies of each card the others may hold, by place in the pack.
    unseen: Vec<usize>,
    /// In how many ranks above r the others may hold n cards: `higher[n][r]`.
    higher: [Vec<usize>; 4],
    costs: HashMap<Cards, f64>,
}

#[allow(clippy::cast_precision_loss)] // counts are small
impl<'a> View<'a> {
    pub(crate) fn new(pack: &'a Pack, session: &Session) -> Self {
        let others =
            session.counts.iter().enumerate().filter(|&(seat, &count)| seat != session.seat && count > 0);
        let others: Vec<usize> = others.map(|(_, &count)| count).collect();
        let seen = |card| session.hand.count(card) + session.gone.count(card);
        let unseen: Vec<usize> =
            pack.cards.iter().map(|&card| pack.decks.saturating_sub(seen(card))).collect();
        let mut held = vec![0; pack.ranks];
        for (&card, copies) in pack.cards.iter().zip(&unseen) {
            held[pack.rank[index(card)]] += copies;
        }
        let above =
            |rank: usize, least: usize| held[rank + 1..].iter().filter(|&&count| count >= least).count();
        Self {
            pack,
            shortest: others.iter().copied().min().unwrap_or(0),
            longest: others.iter().copied().max().unwrap_or(0),
            unseen,
            higher: [0, 1, 2, 3].map(|least| (0..pack.ranks).map(|rank| above(rank, least)).collect()),
            costs: HashMap::new(),
        }
    }

    /// Guesses how likely a play wins its trick, from 0 to 1; it is 1 when no other seat holds as many cards.
    pub(crate) fn control(&self, play: Cards) -> f64 {
        let (size, list) = (play.len(), play.numbers());
        let Some(high) = list.iter().map(|&card| self.pack.place[index(card)]).max() else { return 0.0 };
        if size > self.longest {
            return 1.0;
        }
        let rank = self.pack.rank[index(self.pack.cards[high])];
        match size {
            1 => 1.0 / (1.0 + self.unseen[high + 1..].iter().sum::<usize>() as f64),
            2 => 1.0 / (1.0 + 0.5 * self.higher[2][rank] as f64),
            3 => 1.0 / (1.0 + 0.15 * self.higher[3][rank] as f64),
            _ => self.strength(play, &list, rank as f64 / self.pack.ranks as f64),
        }
    }

    /// The same for a large play, from its shape; `height` is its highest rank, from 0 to 1.
    fn strength(&self, play: Cards, list: &[i32], height: f64) -> f64 {
        let most = self.pack.by_rank(play).iter().map(Vec::len).max();
        let suit = |card: i32| self.pack.suit[index(card)];
        match most {
            Some(4..) => 0.95,
            Some(3) => 0.8,
            _ if list.iter().all(|&card| suit(card) == suit(list[0])) => 0.65,
            _ => 0.4 + 0.2 * height,
        }
    }

    /// In how many plays a hand could be gone, 2 standing for more.
    pub(crate) fn plays(&self, hand: Cards) -> usize {
        let ranks = self.pack.by_rank(hand).iter().filter(|cards| !cards.is_empty()).count();
        let is_of_a_rank = ranks == 1 && (hand.len() <= 2 || hand.len() == 3 && self.pack.has_triples);
        if is_of_a_rank || hand.len() == 5 && self.combinations(hand).contains(&hand) { 1 } else { 2 }
    }

    /// What it takes to get rid of a hand, in plays that do not win their trick.
    pub(crate) fn cost(&mut self, hand: Cards) -> f64 {
        if let Some(&known) = self.costs.get(&hand) {
            return known;
        }
        let mut best = self.rank_cost(hand);
        if hand.len() >= 5 {
            for play in self.combinations(hand).into_iter().take(breadth(hand.len())) {
                best = best.min(self.play_cost(play) + self.cost(hand.minus(play)));
            }
        }
        self.costs.insert(hand, best);
        best
    }

    /// The cost of a hand that goes as singles, pairs and triples.
    pub(crate) fn rank_cost(&self, hand: Cards) -> f64 {
        let mut cost = 0.0;
        for cards in self.pack.by_rank(hand) {
            let mut cards = cards.as_slice();
            while !cards.is_empty() {
                let is_odd = self.pack.has_triples && cards.len() % 2 == 1 && cards.len() >= 3;
                let (play, left) = cards.split_at(if is_odd { 3 } else { cards.len().min(2) });
                cost += self.play_cost(Cards::from_numbers(play));
                cards = left;
            }
        }
        cost
    }

    pub(crate) fn play_cost(&self, play: Cards) -> f64 {
        1.0 - KEEP_CONTROL * self.control(play)
    }

    /// Five-card combinations of a hand, not all there are: enough to plan with. The referee alone says which are
    /// legal.
    fn combinations(&self, hand: Cards) -> Vec<Cards> {
        let ranks = self.pack.by_rank(hand);
        let mut found = self.straights(&ranks);
        if self.pack.has_flushes {
            self.flushes(hand, &mut found);
        }
        full_houses(&ranks, &mut found);
        found
    }

    /// Five ranks in a row, the highest rank left out.
    fn straights(&self, ranks: &[Vec<i32>]) -> Vec<Cards> {
        let lowest =
            |run: &[Vec<i32>]| run.iter().map(|rank| rank.first().copied()).collect::<Option<Vec<i32>>>();
        let below = &ranks[..self.pack.ranks - 1];
        below.windows(5).filter_map(lowest).map(|cards| Cards::from_numbers(&cards)).collect()
    }

    /// The runs of five among the cards of a suit.
    fn flushes(&self, hand: Cards, found: &mut Vec<Cards>) {
        let mut suits = vec![Vec::new(); self.pack.suits];
        for &card in &self.pack.cards {
            suits[self.pack.suit[index(card)]].extend(std::iter::repeat_n(card, hand.count(card)));
        }
        found.extend(suits.iter().flat_map(|cards| cards.windows(5)).map(Cards::from_numbers));
    }
}

/// How many combinations of a hand are tried, so that large hands take no longer.
fn breadth(size: usize) -> usize {
    match size {
        ..=14 => 40,
        15..=20 => 8,
        21..=28 => 3,
        _ => 1,
    }
}

/// Triples with pairs, and quads with a single card.
fn full_houses(ranks: &[Vec<i32>], found: &mut Vec<Cards>) {
    for (i, many) in ranks.iter().enumerate() {
        for (j, few) in ranks.iter().enumerate() {
            for (large, small) in [(3, 2), (4, 1)] {
                if i != j && many.len() >= large && few.len() >= small {
                    found.push(Cards::from_numbers(&[&many[..large], &few[..small]].concat()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pack, View};
    use crate::testing::{CHINESE, cards, session};

    #[test]
    fn packs_of_tiles_jokers_and_several_packs_are_in_order() {
        let with = |from: &str, to: &str| session(&CHINESE.replace(from, to), "2S AS", &[2, 9]);
        let tiles =
            with(r#""T", "J", "Q", "K", "A", "2""#, r#""10", "11", "12", "13", "14", "15", "1", "2""#);
        let pack = Pack::new(&tiles.ruleset);
        assert_eq!((pack.top, pack.ranks), (cards("2S"), 15));
        assert_eq!(pack.rank[57], 12); // 15D

        let jokers = Pack::new(&with(r#""decks": 1"#, r#""decks": 1, "jokers": 2"#).ruleset);
        assert_eq!((jokers.top, jokers.ranks, jokers.rank[61], jokers.rank[62]), (cards("RJ"), 15, 13, 14));

        let packs = with(r#""decks": 1"#, r#""decks": 2"#);
        let pack = Pack::new(&packs.ruleset);
        let view = View::new(&pack, &packs);
        assert!(view.control(cards("2S")) >= 1.0, "nobody beats the highest card");
        assert!(view.control(cards("AS")) < 0.5, "the other twos are out");
    }
}
