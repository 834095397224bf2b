package bigtwo.client;

import bigtwo.referee.v1.Action;
import bigtwo.referee.v1.ActionKind;
import bigtwo.referee.v1.DealEnded;
import bigtwo.referee.v1.DealStarted;
import bigtwo.referee.v1.Direction;
import bigtwo.referee.v1.SessionStarted;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One session as the bot sees it: the sum of the events that it was sent. */
public final class Session {
    private final SessionStarted started;
    private final Ruleset ruleset;
    private final int seat;
    private final int[] counts;
    private final List<Action> actions = new ArrayList<>();
    private List<Integer> scores;
    private int deal;
    private boolean clockwise;
    private Cards hand = Cards.NONE;
    private Cards gone = Cards.NONE;

    /** Opens a session; throws IllegalArgumentException if its ruleset or its seat cannot be read. */
    public Session(SessionStarted started) {
        this.started = started;
        ruleset = Ruleset.parse(started.getRuleset());
        seat = started.getSeat();
        if (!started.hasSeat() || seat < 0 || seat >= started.getSeatsCount()) {
            throw new IllegalArgumentException("session_started.seat: " + seat + " of " + started.getSeatsCount());
        }
        counts = new int[started.getSeatsCount()];
        scores = started.getScoresList();
    }

    /** Returns the message that opened it: names, ruleset, seats, clocks. */
    public SessionStarted started() {
        return started;
    }

    public Ruleset ruleset() {
        return ruleset;
    }

    /** Returns the bot's own seat. */
    public int seat() {
        return seat;
    }

    public int seats() {
        return counts.length;
    }

    /** Returns the running score by seat; empty at the start of a session. */
    public List<Integer> scores() {
        return scores;
    }

    /** Returns the number of the deal, from 1; 0 before the first. */
    public int deal() {
        return deal;
    }

    /** Returns the bot's own cards. */
    public Cards hand() {
        return hand;
    }

    /** Returns how many cards a seat holds. */
    public int count(int ofSeat) {
        return counts[ofSeat];
    }

    /** Returns all cards that were played in this deal. */
    public Cards gone() {
        return gone;
    }

    /** Returns what happened in this deal. */
    public List<Action> actions() {
        return Collections.unmodifiableList(actions);
    }

    /** Returns the seat that plays after another one. */
    public int next(int after) {
        return (after + (clockwise ? 1 : counts.length - 1)) % counts.length;
    }

    void dealStarted(DealStarted message) {
        deal = message.getDeal();
        clockwise = message.getDirection() == Direction.DIRECTION_CLOCKWISE;
        hand = Cards.of(message.getHandValueList());
        for (int each = 0; each < counts.length; each++) {
            counts[each] = each < message.getHandSizesCount() ? message.getHandSizes(each) : 0;
        }
        gone = Cards.NONE;
        actions.clear();
    }

    void dealEnded(DealEnded message) {
        happened(message.getActionsList());
        scores = message.getScoresList();
    }

    void happened(List<Action> since) {
        for (Action action : since) {
            actions.add(action);
            Cards cards = Cards.of(action.getCardsValueList());
            if (action.getKind() == ActionKind.ACTION_KIND_EXCHANGE) {
                change(action.getSeat(), -1, cards, Cards.NONE);
                change(action.getPartner(), 1, Cards.NONE, cards);
            } else {
                gone = gone.plus(cards);
                Cards drawn = Cards.of(action.getDrawnCardsValueList());
                change(action.getSeat(), action.getDrawn() - cards.size(), cards, drawn);
            }
        }
    }

    private void change(int whose, int count, Cards without, Cards with) {
        if (whose >= 0 && whose < counts.length) {
            counts[whose] += count;
        }
        if (whose == seat) {
            hand = hand.minus(without).plus(with);
        }
    }
}
