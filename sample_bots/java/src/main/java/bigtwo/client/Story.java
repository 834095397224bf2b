package bigtwo.client;

import bigtwo.referee.v1.Ratings;
import bigtwo.referee.v1.SessionEnded;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Tells of the bot's sessions on all streams: against whom they begin, how they end, what the bot is rated. */
final class Story {
    /** How many lines about sessions are written in a period; more are only counted. */
    static final int MOST_LINES = 20;

    static final Duration PERIOD = Duration.ofSeconds(10);

    private record Rating(int value, int matches) { }

    private final Consumer<String> log;
    private final InstantSource clock;
    private final Map<String, Rating> rated = new HashMap<>(); // by pool, the latest
    private Instant since = Instant.MIN; // when the period began
    private int lines;
    // What happened in the period without a line of its own.
    private int begun;
    private int ended;
    private int points;

    Story(Consumer<String> log, InstantSource clock) {
        this.log = log;
        this.clock = clock;
    }

    /** Tells that a session began, or that the bot came back to it; and first of a rating that is news. */
    synchronized void began(Session session) {
        news(session);
        if (!may()) {
            begun++;
            return;
        }
        log.accept("%s %s: tournament %s, seat %d, against %s, %s".formatted(
            session.started().getResumed() ? "session goes on" : "session begins", session.started().getSessionId(),
            session.started().getTournament(), session.seat(), String.join(", ", others(session)),
            session.ruleset().name()));
    }

    /** Tells how a session ended. */
    synchronized void ended(Session session, SessionEnded message) {
        boolean isVoid = session.seat() >= message.getScoresCount();
        int score = isVoid ? 0 : message.getScores(session.seat());
        if (!may()) {
            ended++;
            points += score;
            return;
        }
        String id = session.started().getSessionId();
        if (isVoid) {
            log.accept("session %s is void, it may be continued later".formatted(id));
            return;
        }
        long place = 1 + message.getScoresList().stream().filter(other -> other > score).count();
        log.accept("session %s has ended: points %d, place %d of %d"
            .formatted(id, score, place, message.getScoresCount()));
    }

    /** Tells what was only counted. */
    synchronized void end() {
        if (begun > 0 || ended > 0) {
            log.accept("not shown one by one: %d begun, %d ended, points %d".formatted(begun, ended, points));
        }
        begun = 0;
        ended = 0;
        points = 0;
    }

    /** Tells of the bot's rating where there is one, the first time and whenever a match was added to it. */
    private void news(Session session) {
        Ratings ratings = session.started().getRatings();
        int seat = session.seat();
        if (seat >= ratings.getValuesCount() || seat >= ratings.getMatchesCount()) {
            return;
        }
        Rating now = new Rating(ratings.getValues(seat), ratings.getMatches(seat));
        Rating before = rated.get(ratings.getPool());
        if (before != null && now.matches <= before.matches) { // also of a match that was handed out earlier
            return;
        }
        rated.put(ratings.getPool(), now);
        if (now.matches == 0) {
            log.accept("not rated yet in %s, begins with %d".formatted(ratings.getPool(), now.value));
        } else {
            String change = before == null ? "" : " (%+d)".formatted(now.value - before.value);
            log.accept("rated %d%s in %s".formatted(now.value, change, ratings.getPool()));
        }
    }

    /** Tells whether a line may be written; at the end of a period it tells in one line what was only counted. */
    private boolean may() {
        Instant now = clock.instant();
        if (!now.isBefore(since.plus(PERIOD))) {
            since = now;
            lines = 0;
            end();
        }
        lines++;
        return lines <= MOST_LINES;
    }

    /** Names the other bots, with their ratings where there are any. */
    private static List<String> others(Session session) {
        Ratings ratings = session.started().getRatings();
        List<String> names = new ArrayList<>();
        for (int seat = 0; seat < session.seats(); seat++) {
            if (seat == session.seat()) {
                continue;
            }
            String rating = "";
            if (seat < ratings.getValuesCount() && seat < ratings.getMatchesCount()) {
                rating = ratings.getMatches(seat) > 0 ? " (" + ratings.getValues(seat) + ")" : " (not rated yet)";
            }
            names.add(session.started().getSeats(seat) + rating);
        }
        return names;
    }
}
