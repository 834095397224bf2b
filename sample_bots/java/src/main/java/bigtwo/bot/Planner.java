package bigtwo.bot;

import bigtwo.client.Cards;
import bigtwo.client.Session;
import bigtwo.client.Strategy;
import bigtwo.client.Turn;
import bigtwo.referee.v1.Action;
import bigtwo.referee.v1.ActionKind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Plans how its hand would be gone in the fewest plays. It chooses the play that brings the plan on most: weak plays
 * while they can be had cheaply, twos and strong combinations when they win something. It knows no rules: it chooses
 * from the plays that the referee lists.
 */
final class Planner implements Strategy {
    // What it weighs, in plays: getting rid of one play is worth 1.
    private static final double WIN_TRICK = 0.5; // winning a trick, and so the next lead
    private static final double PER_CARD_LED = 0.08; // a card led: the others have fewer large plays than small ones
    private static final double PER_CARD_LATE = 0.3; // a card got rid of before somebody goes out
    private static final int LATE = 4; // cards that somebody holds then
    private static final double IMPATIENCE = 1; // every pass in a row with two seats, less with more: waiting costs
    private static final double PER_DRAW = 1; // a pass where whoever passes draws cards
    private static final double NEARLY_OUT = 2; // stopping a seat that could go out
    private static final double LAST_TOP_CARD = 5; // being left with the highest card alone, where the ruleset minds
    private static final double GOING_OUT = 100;
    private static final double SURE_TO_WIN = 50;
    private static final int ROUGH_FROM = 120; // more legal plays than this are looked at roughly first
    private static final int ROUGH_TO = 40;
    private static final int GLANCES = 3000; // and of more than this only some, so that large hands take no longer

    private final Session session;
    private final Pack pack;

    /** Returns a planner for a session. */
    Planner(Session session) {
        this.session = session;
        pack = new Pack(session.ruleset());
    }

    @Override
    public Cards choose(Turn turn) {
        if (turn.legal().isEmpty()) {
            return Cards.NONE;
        }
        View view = new View(pack, session);
        return switch (turn.kind()) {
            case TURN_KIND_EXCHANGE -> exchange(view, turn.legal());
            case TURN_KIND_BEAT_OWN -> Cards.NONE; // the trick is won, and a lead is worth more than the play
            case TURN_KIND_BOMB -> bomb(view, turn.legal());
            default -> play(view, turn);
        };
    }

    /** Returns the card without which the hand is best. */
    private Cards exchange(View view, List<Cards> legal) {
        return legal.stream()
            .min(Comparator.comparingDouble(card -> view.cost(session.hand().minus(card)))).orElseThrow();
    }

    /** Bombs when somebody is nearly out, or when it brings the bot to its last play. */
    private Cards bomb(View view, List<Cards> legal) {
        return legal.stream()
            .filter(play -> view.shortest() <= 2 || view.plays(session.hand().minus(play)) <= 1)
            .findFirst().orElse(Cards.NONE);
    }

    private Cards play(View view, Turn turn) {
        Cards best = Cards.NONE;
        double top = Double.NEGATIVE_INFINITY;
        if (turn.canPass()) {
            top = -IMPATIENCE * passes() / Math.max(1, session.seats() - 1);
            if (!"none".equals(session.ruleset().drawOnPass())) {
                top -= PER_DRAW;
            }
        }
        double now = view.cost(session.hand());
        for (Cards play : candidates(view, turn.legal())) {
            double score = score(view, turn, play, now);
            if (score > top) {
                best = play;
                top = score;
            }
        }
        return best;
    }

    /** Returns how often the bot has passed since its last play. */
    private int passes() {
        int count = 0;
        for (Action action : session.actions()) {
            if (action.getSeat() == session.seat()) {
                count = action.getKind() == ActionKind.ACTION_KIND_PASS ? count + 1 : 0;
            }
        }
        return count;
    }

    /** Returns all legal plays, or of very many those that look best at a glance. */
    private List<Cards> candidates(View view, List<Cards> legal) {
        if (legal.size() <= ROUGH_FROM) {
            return legal;
        }
        int step = (legal.size() + GLANCES - 1) / GLANCES;
        Map<Cards, Double> costs = new HashMap<>();
        List<Cards> some = IntStream.iterate(0, place -> place < legal.size(), place -> place + step)
            .mapToObj(legal::get).toList();
        for (Cards play : some) {
            costs.put(play, view.rankCost(session.hand().minus(play)) + view.playCost(play));
        }
        return some.stream().sorted(Comparator.comparing(costs::get)).limit(ROUGH_TO).toList();
    }

    /** Returns how much better the bot stands after a play than after a pass; now is the cost of its whole hand. */
    private double score(View view, Turn turn, Cards play, double now) {
        Cards left = session.hand().minus(play);
        if (left.isEmpty()) {
            return GOING_OUT;
        }
        double control = view.control(play);
        double score = now - view.cost(left) + WIN_TRICK * control;
        boolean leads = turn.toBeat().isEmpty();
        if (view.shortest() <= LATE) {
            score += PER_CARD_LATE * play.size();
        } else if (leads) {
            score += PER_CARD_LED * play.size();
        }
        if (control == 1 && view.plays(left) == 1) {
            score += SURE_TO_WIN;
        }
        if (view.shortest() <= 2 && play.size() <= view.shortest()) {
            // Whoever is nearly out must not get this trick.
            score += leads ? NEARLY_OUT * (control - 1) : NEARLY_OUT * control;
        }
        if (!"allowed".equals(session.ruleset().lastTopCard()) && left.equals(pack.top)) {
            score -= LAST_TOP_CARD;
        }
        return score;
    }
}
