package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bigtwo.referee.v1.Card;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of sets of cards, and of their order. */
final class CardsTest {
    @Test
    void cardsHoldCopies() {
        Cards cards = Cards.parse("3C 3D 3D RJ");
        assertEquals("3D 3D 3C RJ", cards.toString());
        assertEquals(2, cards.count(Card.CARD_3D_VALUE));
        assertEquals(Cards.of(Card.CARD_3D, Card.CARD_3C, Card.CARD_RJ), cards.minus(Cards.parse("3D 4D")));
        assertEquals(cards, Cards.parse("3D RJ").plus(Cards.parse("3C 3D")));
        assertTrue(cards.holds(Cards.parse("3D 3D")));
        assertFalse(cards.holds(Cards.parse("3C 3C")));
        assertEquals(Cards.NONE, cards.minus(cards));
        assertEquals("#63", Cards.of(List.of(63)).toString());
        assertThrows(IllegalArgumentException.class, () -> Cards.parse("3X"));
    }

    @Test
    void orderOfAPackIsThatOfItsRuleset() {
        Ruleset ruleset = Ruleset.parse("""
            {"ranks": ["14", "1", "2"], "suits": ["S", "D"], "jokers": 2, "decks": 2}""");
        assertEquals("14S 14D AS AD 2S 2D BJ RJ",
            String.join(" ", ruleset.order().stream().map(card -> Cards.of(List.of(card)).toString()).toList()));
        assertEquals(2, ruleset.decks());
    }
}
