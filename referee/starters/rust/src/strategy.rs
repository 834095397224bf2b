//! Your bot. It knows no rules: it chooses from the plays that the referee lists.

use crate::client::{Cards, Session, Strategy, Turn};

/// Makes your bot for a session, which has its ruleset, its seats, and what has happened so far.
#[must_use]
pub fn new_strategy(_session: &Session) -> Box<dyn Strategy> {
    Box::new(choose)
}

/// One of the legal plays, or no cards for a pass. This one sheds as many cards as it can.
fn choose(turn: &Turn) -> Cards {
    let mut best = Cards::default();
    for &play in &turn.legal {
        if play.len() > best.len() {
            best = play;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{choose, new_strategy};
    use crate::testing::{CHINESE, cards, play_deal, session, turn};

    #[test]
    fn it_leads_with_as_many_cards_as_it_can() {
        let session = session(CHINESE, "3D 3C 9D", &[3, 5, 5, 5]);
        assert_eq!(choose(&turn(&session, "", "3D,3C,9D,3D 3C")), cards("3D 3C"));
    }

    #[test]
    fn it_passes_without_a_legal_play() {
        let session = session(CHINESE, "3D 3C 9D", &[3, 5, 5, 5]);
        assert_eq!(choose(&turn(&session, "2S", "")), cards(""));
    }

    #[test]
    fn it_plays_a_deal() {
        let left = play_deal([&new_strategy; 4], 7);
        assert_eq!(left.iter().filter(|&&cards| cards == 0).count(), 1);
    }
}
