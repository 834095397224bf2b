//! A table without a network, to test a strategy at.

use crate::client::{Cards, Session, Strategy, Turn};
use crate::pb::{Action, ActionKind, DealStarted, Direction, SessionStarted, TurnKind};
use crate::rules::{Mask, PACK, Play, Preset};

/// A ruleset, as far as the client and the planner read it: that of the preset `chinese`.
pub const CHINESE: &str = r#"{
    "name": "chinese", "decks": 1,
    "ranks": ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"], "suits": ["D", "C", "H", "S"],
    "plays": ["single", "pair", "triple", "straight", "flush", "full_house", "quads", "straight_flush"],
    "last_top_card": "allowed", "draw_on_pass": "none"
}"#;

/// What makes the strategy of a seat.
pub type Maker<'a> = &'a dyn Fn(&Session) -> Box<dyn Strategy>;

/// The cards of a text, "3D 3C".
///
/// # Panics
///
/// A word is no card.
#[must_use]
pub fn cards(text: &str) -> Cards {
    Cards::parse(text).unwrap_or_else(|| panic!("not all of {text:?} are cards"))
}

/// A session in which the bot has seat 0 and these cards; `counts` is how many cards each seat holds.
///
/// # Panics
///
/// The ruleset cannot be read.
#[must_use]
pub fn session(ruleset: &str, hand: &str, counts: &[usize]) -> Session {
    let mut session = opened(ruleset, 0, counts.len());
    (session.hand, session.counts) = (cards(hand), counts.to_vec());
    session
}

/// A turn to play; `legal` are the legal plays, with commas between them, and `to_beat` is empty for a lead.
#[must_use]
pub fn turn(session: &Session, to_beat: &str, legal: &str) -> Turn {
    Turn {
        session: session.clone().into(),
        kind: TurnKind::Play,
        legal: legal.split(',').filter(|play| !play.trim().is_empty()).map(cards).collect(),
        to_beat: cards(to_beat),
        can_pass: !to_beat.is_empty(),
        ..Turn::default()
    }
}

/// Plays a deal of `chinese` with four strategies, dealt as `seed` says; gives how many cards each is left with.
///
/// # Panics
///
/// A strategy chooses what is not legal.
pub fn play_deal(makers: [Maker<'_>; 4], seed: u64) -> [usize; 4] {
    let hands = dealt(seed);
    let mut seats: Vec<(Session, Box<dyn Strategy>)> = Vec::new();
    for (seat, (hand, make)) in hands.iter().zip(makers).enumerate() {
        let mut session = opened(CHINESE, seat, 4);
        session.deal_started(&DealStarted {
            deal: 1,
            hand: numbers(*hand),
            hand_sizes: vec![13; 4],
            direction: Direction::Anticlockwise.into(),
            ..DealStarted::default()
        });
        let strategy = make(&session);
        seats.push((session, strategy));
    }
    let mut seat = hands.iter().position(|hand| hand & 1 == 1).unwrap_or_default();
    let (mut must_include, mut table): (Mask, Option<(usize, Play)>) = (1, None);
    loop {
        let (session, strategy) = &mut seats[seat];
        let to_beat = table.filter(|(owner, _)| *owner != seat).map(|(_, play)| play);
        let plays = Preset::Chinese.legal(mask(session.hand), to_beat.as_ref(), must_include);
        let turn = Turn {
            session: session.clone().into(),
            kind: TurnKind::Play,
            legal: plays.iter().map(|play| Cards::from_numbers(&numbers(play.cards))).collect(),
            to_beat: to_beat.map_or_else(Cards::default, |play| Cards::from_numbers(&numbers(play.cards))),
            can_pass: to_beat.is_some(),
            ..Turn::default()
        };
        let choice = if plays.is_empty() { Cards::default() } else { strategy.choose(&turn) };
        let place = turn.legal.iter().position(|&play| play == choice);
        assert!(
            place.is_some() || choice.is_empty() && turn.can_pass,
            "seat {seat} chose {choice}, which is not legal"
        );
        if let Some(place) = place {
            (table, must_include) = (Some((seat, plays[place])), 0);
        }
        let kind = if place.is_some() { ActionKind::Play } else { ActionKind::Pass };
        let (number, cards) = (u32::try_from(seat).unwrap_or_default(), choice.numbers());
        let action = Action { seat: number, kind: kind.into(), cards, ..Action::default() };
        for (session, _) in &mut seats {
            session.happened(std::slice::from_ref(&action));
        }
        if seats[seat].0.hand.is_empty() {
            return std::array::from_fn(|seat| seats[seat].0.hand.len());
        }
        seat = seats[seat].0.next(seat);
    }
}

fn opened(ruleset: &str, seat: usize, seats: usize) -> Session {
    let started = SessionStarted {
        ruleset: ruleset.into(),
        seats: (0..seats).map(|seat| format!("owner/bot{seat}@1")).collect(),
        seat: u32::try_from(seat).ok(),
        scores: vec![0; seats],
        ..SessionStarted::default()
    };
    Session::new(started).unwrap_or_else(|why| panic!("{why}"))
}

/// Four hands of thirteen cards, mixed by splitmix64.
fn dealt(seed: u64) -> [Mask; 4] {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    let mut pack: Vec<(u64, Mask)> = (0..52).map(|card| (random(), 1 << card)).collect();
    pack.sort_unstable();
    std::array::from_fn(|seat| pack.iter().skip(seat).step_by(4).map(|(_, card)| card).sum())
}

fn numbers(mask: Mask) -> Vec<i32> {
    (0..52).filter(|card| mask >> card & 1 == 1).map(|card| card + 1).collect()
}

fn mask(cards: Cards) -> Mask {
    cards.numbers().into_iter().map(|number| 1 << (number - 1)).sum::<Mask>() & PACK
}

#[cfg(test)]
mod tests {
    use super::play_deal;
    use crate::client::{Cards, Session, Strategy, Turn};

    #[test]
    #[should_panic(expected = "chose , which is not legal")]
    fn what_is_not_legal_is_refused() {
        let passing = |_: &Session| -> Box<dyn Strategy> { Box::new(|_: &Turn| Cards::default()) };
        play_deal([&passing; 4], 3);
    }
}
