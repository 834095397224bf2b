package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import bigtwo.referee.v1.Ratings;
import bigtwo.referee.v1.SessionEnded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of what the log tells of sessions. */
final class StoryTest {
    private final List<String> log = new ArrayList<>();
    private Instant now = Instant.EPOCH;
    private final Story story = new Story(log::add, () -> now);

    private static Session rated(int value, int matches) {
        return new Session(Events.session().setTournament("cup").setRatings(Ratings.newBuilder().setPool("two")
            .addAllValues(List.of(1510, value, 1490)).addAllMatches(List.of(3, matches, 0))).build());
    }

    private static SessionEnded scores(Integer... scores) {
        return SessionEnded.newBuilder().addAllScores(List.of(scores)).build();
    }

    @Test
    void sessionsResultsAndNewsOfRatingsAreTold() {
        story.began(rated(1500, 0));
        story.ended(rated(1500, 0), scores(5, -3, -2));
        story.began(rated(1507, 1));
        story.began(rated(1500, 0)); // of a match that was handed out earlier
        story.began(rated(1499, 2));
        story.ended(rated(1499, 2), scores());
        String begins = "session begins cup/1/1/1: tournament cup, seat 1, against a (1510), c (not rated yet), null";
        assertEquals(List.of(
            "not rated yet in two, begins with 1500", begins,
            "session cup/1/1/1 has ended: points -3, place 3 of 3",
            "rated 1507 (+7) in two", begins, begins,
            "rated 1499 (-8) in two", begins,
            "session cup/1/1/1 is void, it may be continued later"
        ), log);
    }

    @Test
    void manySessionsAreOnlyCounted() {
        for (int session = 0; session < Story.MOST_LINES; session++) {
            story.ended(rated(1500, 0), scores(0, 1, 0));
        }
        assertEquals(Story.MOST_LINES, log.size());
        log.clear();
        story.began(rated(1500, 0));
        story.ended(rated(1500, 0), scores(0, 1, 0));
        story.ended(rated(1500, 0), scores(0, 4, 0));
        assertEquals(List.of("not rated yet in two, begins with 1500"), log);
        log.clear();
        now = now.plus(Story.PERIOD);
        story.ended(rated(1500, 0), scores(0, 1, 0));
        story.end();
        assertEquals(List.of("not shown one by one: 1 begun, 2 ended, points 5",
            "session cup/1/1/1 has ended: points 1, place 1 of 3"), log);
    }
}
