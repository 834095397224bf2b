//! The planner: few plays for its hand, weak ones first, with an eye on who is nearly out.

mod plan;

use std::collections::HashMap;

use crate::client::{Cards, Session, Strategy, Turn};
use crate::pb::{ActionKind, TurnKind};
use plan::{Pack, View};

// What a planner weighs, in plays: getting rid of one play is worth 1.

/// Winning a trick, and so the next lead.
const WIN_TRICK: f64 = 0.5;
/// A card led: the others have fewer large plays than small ones.
const PER_CARD_LED: f64 = 0.08;
/// A card got rid of before somebody goes out.
const PER_CARD_LATE: f64 = 0.3;
/// Cards that somebody holds then.
const LATE: usize = 4;
/// Every pass in a row with two seats, less with more: waiting costs.
const IMPATIENCE: f64 = 1.0;
/// A pass where who passes draws cards.
const PER_DRAW: f64 = 1.0;
/// Stopping a seat that could go out.
const NEARLY_OUT: f64 = 2.0;
/// Being left with the highest card alone, where the ruleset minds.
const LAST_TOP_CARD: f64 = 5.0;
const GOING_OUT: f64 = 100.0;
const SURE_TO_WIN: f64 = 50.0;
/// More legal plays than this are looked at roughly first.
const ROUGH_FROM: usize = 120;
const ROUGH_TO: usize = 40;
/// And of more than this only some, so that very large hands take no longer.
const GLANCES: usize = 3000;

/// Makes the strategy for a session.
#[must_use]
pub fn new_strategy(session: &Session) -> Box<dyn Strategy> {
    Box::new(Planner { pack: Pack::new(&session.ruleset) })
}

/// Plans how its hand would be gone in the fewest plays. It chooses the play that brings the plan on most: weak
/// plays while they can be had cheaply, twos and strong combinations when they win something. It knows no rules: it
/// chooses from the plays that the referee lists.
struct Planner {
    pack: Pack,
}

impl Strategy for Planner {
    fn choose(&mut self, turn: &Turn) -> Cards {
        if turn.legal.is_empty() {
            return Cards::default();
        }
        let mut view = View::new(&self.pack, &turn.session);
        match turn.kind {
            TurnKind::Exchange => exchange(&mut view, turn),
            TurnKind::BeatOwn => Cards::default(), // the trick is won, and a lead is worth more than the play
            TurnKind::Bomb => bomb(&view, turn),
            TurnKind::Play | TurnKind::Unspecified => play(&mut view, turn),
        }
    }
}

/// Returns the card without which the hand is best.
fn exchange(view: &mut View<'_>, turn: &Turn) -> Cards {
    let hand = turn.session.hand;
    let costs = turn.legal.iter().map(|&card| (view.cost(hand.minus(card)), card));
    costs.min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Cards::default, |(_, card)| card)
}

/// Bombs when somebody is nearly out, or when it brings the bot to its last play.
fn bomb(view: &View<'_>, turn: &Turn) -> Cards {
    let is_due = |play: &&Cards| view.shortest <= 2 || view.plays(turn.session.hand.minus(**play)) <= 1;
    turn.legal.iter().find(is_due).copied().unwrap_or_default()
}

#[allow(clippy::cast_precision_loss)] // counts are small
fn play(view: &mut View<'_>, turn: &Turn) -> Cards {
    let session = &turn.session;
    let (mut best, mut top) = (Cards::default(), f64::NEG_INFINITY);
    if turn.can_pass {
        let others = session.counts.len().saturating_sub(1).max(1);
        top = -IMPATIENCE * passes(session) as f64 / others as f64;
        if session.ruleset.draw_on_pass != "none" {
            top -= PER_DRAW;
        }
    }
    let now = view.cost(session.hand);
    for play in candidates(view, turn) {
        let score = score(view, turn, play, now);
        if score > top {
            (best, top) = (play, score);
        }
    }
    best
}

/// How often the bot has passed since its last play.
fn passes(session: &Session) -> usize {
    let own = session.actions.iter().rev().filter(|action| action.seat as usize == session.seat);
    own.take_while(|action| action.kind() == ActionKind::Pass).count()
}

/// All legal plays, or of very many those that look best at a glance.
fn candidates(view: &View<'_>, turn: &Turn) -> Vec<Cards> {
    let legal = &turn.legal;
    if legal.len() <= ROUGH_FROM {
        return legal.clone();
    }
    let mut sorted: Vec<Cards> = legal.iter().step_by(legal.len().div_ceil(GLANCES)).copied().collect();
    let glance = |&play: &Cards| view.rank_cost(turn.session.hand.minus(play)) + view.play_cost(play);
    let costs: HashMap<Cards, f64> = sorted.iter().map(|play| (*play, glance(play))).collect();
    sorted.sort_by(|a, b| costs[a].total_cmp(&costs[b]));
    sorted.truncate(ROUGH_TO);
    sorted
}

/// How much better the bot stands after a play than after a pass; `now` is the cost of its whole hand.
#[allow(clippy::cast_precision_loss)]
fn score(view: &mut View<'_>, turn: &Turn, play: Cards, now: f64) -> f64 {
    let left = turn.session.hand.minus(play);
    if left.is_empty() {
        return GOING_OUT;
    }
    let (control, cards) = (view.control(play), play.len() as f64);
    let mut score = now - view.cost(left) + WIN_TRICK * control;
    if view.shortest <= LATE {
        score += PER_CARD_LATE * cards;
    } else if turn.to_beat.is_empty() {
        score += PER_CARD_LED * cards;
    }
    if control >= 1.0 && view.plays(left) == 1 {
        score += SURE_TO_WIN;
    }
    if view.shortest <= 2 && play.len() <= view.shortest {
        // Whoever is nearly out must not get this trick.
        score += NEARLY_OUT * if turn.to_beat.is_empty() { control - 1.0 } else { control };
    }
    if turn.session.ruleset.last_top_card != "allowed" && left == view.pack.top {
        score -= LAST_TOP_CARD;
    }
    score
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::new_strategy;
    use crate::client::{Cards, Session, Strategy, Turn};
    use crate::pb::{Action, ActionKind, TurnKind};
    use crate::testing::{CHINESE, cards, play_deal, session};

    fn turn(session: Session, kind: TurnKind, to_beat: &str, can_pass: bool, legal: &str) -> Turn {
        let legal = legal.split(',').filter(|play| !play.is_empty()).map(cards).collect();
        Turn { session: Arc::new(session), kind, legal, to_beat: cards(to_beat), can_pass, ..Turn::default() }
    }

    fn chosen(turn: &Turn) -> Cards {
        new_strategy(&turn.session).choose(turn)
    }

    #[test]
    fn planner_chooses() {
        use TurnKind::{BeatOwn, Bomb, Exchange, Play};
        let quads = "7D 7C 7H 7S";
        for (name, kind, hand, counts, to_beat, can_pass, legal, wanted) in [
            (
                "the weakest single that breaks nothing",
                Play,
                "4D 4C 6S 9D TH 2S",
                [6, 9, 9, 9],
                "3D",
                true,
                "4D,4C,6S,9D,TH,2S",
                "6S",
            ),
            (
                "a pass rather than a broken straight",
                Play,
                "4D 5C 6S 7D 8H TD TH TS KD KC",
                [10, 9, 9, 9],
                "3D",
                true,
                "4D,5C,6S,7D,8H,TD,TH,TS,KD,KC",
                "",
            ),
            ("the whole hand", Play, "9D 9C", [2, 5, 5, 5], "", false, "9D,9C,9D 9C", "9D 9C"),
            (
                "the straight to lead",
                Play,
                "4D 5C 6S 7D 8H KD",
                [6, 9, 9, 9],
                "",
                false,
                "4D,5C,6S,7D,8H,KD,4D 5C 6S 7D 8H",
                "4D 5C 6S 7D 8H",
            ),
            (
                "no single to lead when somebody holds one card",
                Play,
                "5D 8D 8C QS",
                [4, 1, 9, 9],
                "",
                false,
                "5D,8D,8C,QS,8D 8C",
                "8D 8C",
            ),
            (
                "the highest single when somebody holds one card",
                Play,
                "5D 8D QS AS",
                [4, 1, 9, 9],
                "4D",
                true,
                "5D,8D,QS,AS",
                "AS",
            ),
            ("the two, then the last card", Play, "5D 2S", [2, 4, 4, 4], "4D", true, "5D,2S", "2S"),
            (
                "to return the card that fits nothing",
                Exchange,
                "4D 6C 6H 8D 8C",
                [5, 5, 5, 5],
                "",
                false,
                "4D,6C,6H,8D,8C",
                "4D",
            ),
            ("not to beat itself", BeatOwn, "5D 6D", [2, 5, 5, 5], "4D", true, "5D,6D", ""),
            ("no bomb early", Bomb, "7D 7C 7H 7S 3D 4D 9H", [7, 9, 9, 9], "2S", true, quads, ""),
            (
                "a bomb when somebody is nearly out",
                Bomb,
                "7D 7C 7H 7S 3D 4D 9H",
                [7, 9, 9, 2],
                "2S",
                true,
                quads,
                quads,
            ),
            ("a bomb before the last play", Bomb, "7D 7C 7H 7S 9H", [5, 9, 9, 9], "2S", true, quads, quads),
            ("a pass without a legal play", Bomb, "3D 4D", [2, 9, 9, 2], "2S", true, "", ""),
        ] {
            let turn = turn(session(CHINESE, hand, &counts), kind, to_beat, can_pass, legal);
            assert_eq!(chosen(&turn), cards(wanted), "{name}");
        }
    }

    #[test]
    fn planner_does_not_wait_for_ever() {
        let hand = "4D 5C 6S 7D 8H TD TH TS KD KC";
        let passes_before_a_play = (0..10).find(|&passes| {
            let mut session = session(CHINESE, hand, &[10, 9]);
            let pass = Action { kind: ActionKind::Pass.into(), ..Action::default() };
            session.actions = vec![pass; passes];
            !chosen(&turn(session, TurnKind::Play, "3D", true, "KC")).is_empty()
        });
        assert!(passes_before_a_play.is_some_and(|passes| passes > 0), "{passes_before_a_play:?}");
    }

    fn lowest(_: &Session) -> Box<dyn Strategy> {
        Box::new(|turn: &Turn| turn.legal.first().copied().unwrap_or_default())
    }

    #[test]
    fn planner_goes_out_more_often_than_the_lowest_plays() {
        let mut won = [0; 4];
        for seed in 0..100 {
            let left = play_deal([&new_strategy, &lowest, &lowest, &lowest], seed);
            for (won, cards) in won.iter_mut().zip(left) {
                *won += usize::from(cards == 0);
            }
        }
        assert!(won[0] > 30 && won[0] > *won[1..].iter().max().unwrap(), "{won:?}");
    }
}
