package bigtwo.bot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bigtwo.client.Cards;
import bigtwo.client.Ruleset;
import bigtwo.client.Testing;
import bigtwo.referee.v1.TurnKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of what the planner chooses. */
final class PlannerTest {
    private static Testing table(String hand, Integer... others) {
        return new Testing(Planner::new, Testing.CHINESE, others.length + 1).deal(hand, others);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        the weakest single that breaks nothing | 4D 4C 6S 9D TH 2S | 9 | 3D | 4D,4C,6S,9D,TH,2S | 6S
        a pass rather than a broken straight | 4D 5C 6S 7D 8H TD TH TS KD KC | 9 | 3D | 4D,5C,6S,7D,8H,TD,KC | ''
        the whole hand | 9D 9C | 5 | '' | 9D,9C,9D 9C | 9D 9C
        the straight to lead | 4D 5C 6S 7D 8H KD | 9 | '' | 4D,5C,6S,7D,8H,KD,4D 5C 6S 7D 8H | 4D 5C 6S 7D 8H
        no single to lead when somebody holds one card | 5D 8D 8C QS | 1 | '' | 5D,8D,8C,QS,8D 8C | 8D 8C
        the highest single when somebody holds one card | 5D 8D QS AS | 1 | 4D | 5D,8D,QS,AS | AS
        the two and then the last card | 5D 2S | 4 | 4D | 5D,2S | 2S
        """)
    void plannerPlays(String name, String hand, int next, String toBeat, String legal, String wanted) {
        assertEquals(Cards.parse(wanted), table(hand, next, 9, 9).turn(toBeat, legal));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        to return the card that fits nothing | EXCHANGE | 4D 6C 6H 8D 8C | 5 | '' | 4D,6C,6H,8D,8C | 4D
        not to beat itself | BEAT_OWN | 5D 6D | 5 | 4D | 5D,6D | ''
        no bomb early | BOMB | 7D 7C 7H 7S 3D 4D 9H | 9 | 2S | 7D 7C 7H 7S | ''
        a bomb when somebody is nearly out | BOMB | 7D 7C 7H 7S 3D 4D 9H | 2 | 2S | 7D 7C 7H 7S | 7D 7C 7H 7S
        a bomb before the last play | BOMB | 7D 7C 7H 7S 9H | 9 | 2S | 7D 7C 7H 7S | 7D 7C 7H 7S
        a pass without a legal play | BOMB | 3D 4D | 2 | 2S | '' | ''
        """)
    void plannerChooses(
        String name, String kind, String hand, int next, String toBeat, String legal, String wanted
    ) {
        Cards chosen = table(hand, next, 9, 9)
            .turn(TurnKind.valueOf("TURN_KIND_" + kind), toBeat, !kind.equals("EXCHANGE"), legal);
        assertEquals(Cards.parse(wanted), chosen);
    }

    @Test
    void plannerDoesNotWaitForEver() {
        Testing table = table("4D 5C 6S 7D 8H TD TH TS KD KC", 9);
        int passes = 0;
        while (table.turn("3D", "KC").isEmpty()) {
            passes++;
            assertTrue(passes < 10, "it passes for ever");
        }
        assertTrue(passes > 0, "it does not wait at all");
    }

    @Test
    void packOfTilesJokersAndTwoPacksIsKnown() {
        Pack tiles = new Pack(Ruleset.parse("""
            {"ranks": ["13", "14", "15", "1", "2"], "suits": ["D", "C", "H", "S"], "jokers": 1}"""));
        assertEquals(Cards.parse("RJ"), tiles.top);
        assertEquals(2, tiles.rank(Cards.parse("15S").list().get(0)));
        assertEquals(5, tiles.rank(Cards.parse("RJ").list().get(0)));
        assertEquals(3, tiles.suit(Cards.parse("2S").list().get(0)));
        Testing packs = new Testing(Planner::new, Testing.CHINESE.replace("\"decks\": 1", "\"decks\": 2"), 2)
            .deal("5D 2S", 4);
        assertEquals(Cards.parse("2S"), packs.turn("4D", "5D,2S"), "nobody beats the highest card");
    }
}
