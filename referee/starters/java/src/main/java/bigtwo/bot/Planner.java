package bigtwo.bot;

import bigtwo.client.Cards;
import bigtwo.client.Session;
import bigtwo.client.Strategy;
import bigtwo.client.Turn;

/** Your bot in one session. It knows no rules: it chooses from the plays that the referee lists. */
final class Planner implements Strategy {
    private final Session session;

    /** Returns your bot for a session: its ruleset, its seats, and what has happened so far. */
    Planner(Session session) {
        this.session = session;
    }

    /** Returns one of the legal plays, or no cards for a pass. This one sheds as many cards as it can. */
    @Override
    public Cards choose(Turn turn) {
        Cards best = Cards.NONE;
        for (Cards play : turn.legal()) {
            if (play.size() > best.size() || play.equals(session.hand())) {
                best = play;
            }
        }
        return best;
    }
}
