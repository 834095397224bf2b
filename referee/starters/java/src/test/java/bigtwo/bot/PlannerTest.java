package bigtwo.bot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import bigtwo.client.Cards;
import bigtwo.client.Testing;
import org.junit.jupiter.api.Test;

final class PlannerTest {
    private final Testing table = new Testing(Planner::new, Testing.CHINESE, 4).deal("3D 3C 9S", 9, 9, 9);

    @Test
    void itShedsAsManyCardsAsItCan() {
        assertEquals(Cards.parse("3D 3C"), table.turn("", "3D,3C,9S,3D 3C"));
    }

    @Test
    void itPassesWithoutALegalPlay() {
        assertEquals(Cards.NONE, table.happened(3, "2S").turn("2S", ""));
    }
}
