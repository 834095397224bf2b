//! What a bot knows of a session.

use std::sync::Arc;

use serde::Deserialize;

use super::cards::Cards;
use crate::pb::{Action, ActionKind, Card, DealEnded, DealStarted, Direction, SessionStarted};

/// The ranks in the order of the card numbers.
const RANKS: [&str; 15] = ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2", "14", "15"];
/// Other names of ranks, with 60 tiles, and what they stand for.
const TILES: [(&str, &str); 5] = [("10", "T"), ("11", "J"), ("12", "Q"), ("13", "K"), ("1", "A")];
const SUITS: [&str; 4] = ["D", "C", "H", "S"];

/// A part of the rules of a session; the whole is in [`SessionStarted::ruleset`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Ruleset {
    /// Its name.
    pub name: String,
    /// The number of packs.
    pub decks: usize,
    /// The ranks in order, the lowest first.
    pub ranks: Vec<String>,
    /// The suits in order, the lowest first.
    pub suits: Vec<String>,
    /// The number of jokers in a pack.
    pub jokers: usize,
    /// The kinds that may be played.
    pub plays: Vec<String>,
    /// "allowed", or what the highest card may not do as the last one.
    pub last_top_card: String,
    /// "none" unless who passes draws cards.
    pub draw_on_pass: String,
}

impl Ruleset {
    /// Reads a ruleset as a session has it. The error says what is missing, or what of its pack is not known here.
    fn read(text: &str) -> Result<Self, String> {
        let ruleset: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if ruleset.ranks.is_empty() || ruleset.suits.is_empty() {
            return Err("no ranks or no suits".into());
        }
        if let Some(rank) = ruleset.ranks.iter().find(|rank| rank_number(rank).is_none()) {
            return Err(format!("unknown rank {rank:?}"));
        }
        if let Some(suit) = ruleset.suits.iter().find(|suit| suit_number(suit).is_none()) {
            return Err(format!("unknown suit {suit:?}"));
        }
        Ok(ruleset)
    }

    /// The numbers of the cards of a pack without its jokers, the lowest first: by rank, and by suit within a rank.
    #[must_use]
    pub fn order(&self) -> Vec<i32> {
        let number = |rank: &String, suit: &String| Some(4 * rank_number(rank)? + suit_number(suit)? + 1);
        self.ranks
            .iter()
            .flat_map(|rank| self.suits.iter().filter_map(move |suit| number(rank, suit)))
            .collect()
    }

    /// The numbers of a pack's jokers, the lower one first.
    #[must_use]
    pub fn joker_numbers(&self) -> &'static [i32] {
        const BOTH: [i32; 2] = [Card::Bj as i32, Card::Rj as i32];
        &BOTH[2 - self.jokers.min(2)..]
    }
}

fn rank_number(name: &str) -> Option<i32> {
    let name = TILES.iter().find(|(tile, _)| *tile == name).map_or(name, |(_, rank)| rank);
    RANKS.iter().position(|rank| *rank == name)?.try_into().ok()
}

fn suit_number(name: &str) -> Option<i32> {
    SUITS.iter().position(|suit| *suit == name)?.try_into().ok()
}

/// One session as the bot sees it: the sum of the events that it was sent.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The message that opened it: names, ruleset, seats, clocks.
    pub started: Arc<SessionStarted>,
    /// What the planner needs of its rules.
    pub ruleset: Arc<Ruleset>,
    /// The bot's own seat.
    pub seat: usize,
    /// The running score by seat.
    pub scores: Vec<i32>,
    /// Counts from 1; 0 before the first.
    pub deal: u32,
    /// True when seat s is followed by seat s + 1, false when by s - 1.
    pub is_clockwise: bool,
    /// The bot's own cards.
    pub hand: Cards,
    /// How many cards each seat holds.
    pub counts: Vec<usize>,
    /// All cards that were played in this deal.
    pub gone: Cards,
    /// What happened in this deal.
    pub actions: Vec<Action>,
}

impl Session {
    /// Opens a session. The error says why the ruleset cannot be read, or that the seat is none of the seats.
    ///
    /// # Errors
    ///
    /// The session cannot be read.
    pub fn new(started: SessionStarted) -> Result<Self, String> {
        let ruleset =
            Ruleset::read(&started.ruleset).map_err(|why| format!("session_started.ruleset: {why}"))?;
        let seats = started.seats.len();
        let seat = started.seat.map_or(usize::MAX, |seat| seat as usize);
        if seat >= seats {
            return Err(format!("session_started.seat: {:?} of {seats}", started.seat));
        }
        Ok(Self {
            ruleset: Arc::new(ruleset),
            seat,
            scores: started.scores.clone(),
            counts: vec![0; seats],
            started: Arc::new(started),
            ..Self::default()
        })
    }

    /// The session's public name, "match/number".
    #[must_use]
    pub fn id(&self) -> &str {
        &self.started.session_id
    }

    /// The seat that plays after `seat`.
    #[must_use]
    pub fn next(&self, seat: usize) -> usize {
        let seats = self.counts.len();
        (seat + if self.is_clockwise { 1 } else { seats - 1 }) % seats
    }

    pub(crate) fn deal_started(&mut self, started: &DealStarted) {
        self.deal = started.deal;
        self.is_clockwise = started.direction() == Direction::Clockwise;
        self.hand = Cards::from_numbers(&started.hand);
        let sizes = started.hand_sizes.iter().map(|&size| size as usize).chain(std::iter::repeat(0));
        self.counts = sizes.take(self.counts.len()).collect();
        self.gone = Cards::default();
        self.actions.clear();
    }

    pub(crate) fn deal_ended(&mut self, ended: &DealEnded) {
        self.happened(&ended.actions);
        self.scores.clone_from(&ended.scores);
    }

    pub(crate) fn happened(&mut self, actions: &[Action]) {
        for action in actions {
            let (seat, cards) = (action.seat as usize, Cards::from_numbers(&action.cards));
            if action.kind() == ActionKind::Exchange {
                self.exchanged(seat, action.partner.map(|partner| partner as usize), cards);
            } else {
                self.gone = self.gone.plus(cards);
                self.count(seat, action.drawn as usize, cards.len());
                if seat == self.seat {
                    self.hand = self.hand.minus(cards).plus(Cards::from_numbers(&action.drawn_cards));
                }
            }
            self.actions.push(action.clone());
        }
    }

    fn exchanged(&mut self, seat: usize, partner: Option<usize>, card: Cards) {
        self.count(seat, 0, 1);
        if let Some(partner) = partner {
            self.count(partner, 1, 0);
        }
        if seat == self.seat {
            self.hand = self.hand.minus(card);
        } else if partner == Some(self.seat) {
            self.hand = self.hand.plus(card);
        }
    }

    fn count(&mut self, seat: usize, more: usize, fewer: usize) {
        if let Some(count) = self.counts.get_mut(seat) {
            *count = (*count + more).saturating_sub(fewer);
        }
    }
}
