package bigtwo.client;

import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.Fault;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.SessionEnded;
import bigtwo.referee.v1.SessionStarted;
import bigtwo.referee.v1.TurnKind;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The open sessions of one stream: events in, moves out. It is used by one thread; strategies think elsewhere. */
final class Table {
    /** So much before its time is up a turn is given up, so that the referee still hears of it. */
    private static final Duration MARGIN = Duration.ofMillis(20);

    private static final int MOST_FRAMES = 4;
    private static final int MOST_CHARACTERS = 1000;

    /** The bot in one session; without one that can be read, it takes default actions. */
    private static final class Seat {
        final Session session;
        Strategy strategy; // null until it is made
        bigtwo.referee.v1.Turn open; // what is thought about; null for nothing
        Runnable cancel;

        Seat(Session session) {
            this.session = session;
        }
    }

    /** What a strategy answers; it was made with the first answer of a session. */
    private record Answer(Strategy strategy, Cards cards) { }

    private final Maker maker;
    private final Thinker thinker;
    private final Story story;
    private final Consumer<String> log;
    private final Consumer<StrategyFailed> failed;
    private final Consumer<Move> moves;
    private final Map<Integer, Seat> seats = new HashMap<>();
    private int thinking;

    /**
     * Returns an empty table.
     *
     * @param failed is told of each failure of a strategy
     * @param moves gets the answers, on the thread that the table is used by
     */
    Table(
        Maker maker, Thinker thinker, Story story, Consumer<String> log, Consumer<StrategyFailed> failed,
        Consumer<Move> moves
    ) {
        this.maker = maker;
        this.thinker = thinker;
        this.story = story;
        this.log = log;
        this.failed = failed;
        this.moves = moves;
    }

    /** Tells whether any session is open. */
    boolean isBusy() {
        return !seats.isEmpty();
    }

    /** Tells whether a strategy thinks. */
    boolean isThinking() {
        return thinking > 0;
    }

    /** Takes in an event. */
    void take(Event event) {
        switch (event.getEventCase()) {
            case TURN -> turn(event.getTurn());
            case SESSION_STARTED -> open(event.getSessionStarted());
            case DEAL_STARTED -> {
                Seat seat = free(event.getDealStarted().getSession());
                if (seat != null) {
                    seat.session.dealStarted(event.getDealStarted());
                }
            }
            case DEAL_ENDED -> {
                Seat seat = free(event.getDealEnded().getSession());
                if (seat != null) {
                    seat.session.dealEnded(event.getDealEnded());
                }
            }
            case SESSION_ENDED -> close(event.getSessionEnded());
            case FAULT -> fault(event.getFault());
            case NOTICE -> log.accept("notice: " + event.getNotice().getText());
            default -> { } // nothing that this bot needs, or of a later version
        }
    }

    /** Gives up what strategies think about. */
    void close() {
        seats.keySet().forEach(this::free);
    }

    /** Returns the seat in a session, or null; whatever was thought about there is over. */
    private Seat free(int handle) {
        Seat seat = seats.get(handle);
        if (seat != null && seat.open != null) {
            seat.cancel.run();
            seat.strategy = null; // it may go on thinking
            settled(seat);
        }
        return seat;
    }

    private void settled(Seat seat) {
        seat.open = null;
        thinking--;
    }

    private void open(SessionStarted started) {
        free(started.getSession());
        seats.put(started.getSession(), null);
        try {
            Session session = new Session(started);
            story.began(session);
            seats.put(started.getSession(), new Seat(session));
        } catch (IllegalArgumentException unreadable) {
            log.accept("session %s cannot be read, and default actions are taken: %s"
                .formatted(started.getSessionId(), unreadable.getMessage()));
        }
    }

    private void close(SessionEnded ended) {
        Seat seat = free(ended.getSession());
        if (seat != null) {
            story.ended(seat.session, ended);
        }
        seats.remove(ended.getSession());
    }

    private void fault(Fault fault) {
        Seat seat = seats.get(fault.getSession());
        if (seat != null && seat.open != null && seat.open.getSequence() == fault.getSequence()) {
            free(fault.getSession()); // the referee acted instead
        }
        String where = seat == null ? "" : where(seat) + ": ";
        log.accept("%sfault %d of %d: %s; hand %s, answered %s, played instead %s".formatted(
            where, fault.getFaults(), fault.getFaultLimit(), fault.getReason(), shown(fault.getHandValueList()),
            shown(fault.getAnsweredValueList()), shown(fault.getDefaultCardsValueList())));
    }

    private static String shown(List<Integer> cards) {
        return cards.isEmpty() ? "nothing" : Cards.of(cards).toString();
    }

    private static String where(Seat seat) {
        return "session %s, deal %d".formatted(seat.session.started().getSessionId(), seat.session.deal());
    }

    private void turn(bigtwo.referee.v1.Turn message) {
        Seat seat = free(message.getSession());
        if (seat == null) {
            moves.accept(move(message, byDefault(Turn.of(null, message))));
            return;
        }
        seat.session.happened(message.getActionsList());
        Turn turn = Turn.of(seat.session, message);
        if (turn.kind() == TurnKind.UNRECOGNIZED || turn.kind() == TurnKind.TURN_KIND_UNSPECIFIED) {
            moves.accept(move(message, byDefault(turn)));
            return;
        }
        Strategy known = seat.strategy;
        seat.open = message;
        thinking++;
        seat.cancel = thinker.think(() -> answer(known, turn), limit(message), outcome -> done(seat, turn, outcome));
    }

    private Answer answer(Strategy known, Turn turn) throws Exception {
        Strategy strategy = known == null ? maker.make(turn.session()) : known;
        if (strategy == null) {
            throw new NullPointerException("no strategy was made for the session, but null");
        }
        Cards cards = strategy.choose(turn);
        if (cards == null) {
            throw new NullPointerException("choose returned null; a pass is Cards.NONE");
        }
        return new Answer(strategy, cards);
    }

    /** Returns how long may be thought; null where the turn does not say. */
    private static Duration limit(bigtwo.referee.v1.Turn message) {
        long allowed = Integer.toUnsignedLong(message.getDecisionMs());
        if (allowed == 0) {
            return null;
        }
        return Duration.ofMillis(Math.max(allowed / 2, allowed - MARGIN.toMillis()));
    }

    private void done(Seat seat, Turn turn, Thinker.Outcome<Answer> outcome) {
        settled(seat);
        Answer answer = outcome.thought();
        if (answer != null) {
            seat.strategy = answer.strategy;
            moves.accept(move(turn.message(), answer.cards));
            return;
        }
        Throwable failure = outcome.failure();
        if (outcome.tooLate()) {
            seat.strategy = null; // it may go on thinking
            failure = new TooLate("no answer within %d ms"
                .formatted(Integer.toUnsignedLong(turn.message().getDecisionMs())));
        }
        String text = brief(failure);
        String where = "the strategy failed in %s, with hand %s, to beat %s".formatted(
            where(seat), seat.session.hand(), turn.toBeat().isEmpty() ? "nothing" : turn.toBeat());
        log.accept(where + ": " + text);
        moves.accept(move(turn.message()).setFailure(text).build());
        failed.accept(new StrategyFailed(where, failure));
    }

    /** Says that a strategy has not answered in time. */
    private static final class TooLate extends RuntimeException {
        private static final long serialVersionUID = 1;

        TooLate(String message) {
            super(message, null, false, false);
        }
    }

    /** Returns an error and its innermost calls, as far as the referee keeps them. */
    private static String brief(Throwable failure) {
        StringBuilder text = new StringBuilder();
        try {
            text.append(failure);
        } catch (Throwable broken) { // toString is the strategy's own, too
            text.append(failure.getClass().getName());
        }
        StackTraceElement[] frames = failure.getStackTrace();
        for (int frame = 0; frame < Math.min(MOST_FRAMES, frames.length); frame++) {
            text.append("\n  at ").append(frames[frame]);
        }
        return text.substring(0, Math.min(MOST_CHARACTERS, text.length()));
    }

    private static Move.Builder move(bigtwo.referee.v1.Turn turn) {
        return Move.newBuilder().setSession(turn.getSession()).setSequence(turn.getSequence());
    }

    private static Move move(bigtwo.referee.v1.Turn turn, Cards cards) {
        return move(turn).addAllCardsValue(cards.list()).setPasses(cards.isEmpty()).build();
    }

    /** Returns a pass where it is legal, else the first legal play. */
    private static Cards byDefault(Turn turn) {
        return turn.canPass() || turn.legal().isEmpty() ? Cards.NONE : turn.legal().get(0);
    }
}
