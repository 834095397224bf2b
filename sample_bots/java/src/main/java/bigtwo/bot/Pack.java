package bigtwo.bot;

import bigtwo.client.Cards;
import bigtwo.client.Ruleset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What the planner has to know of a ruleset's cards. */
final class Pack {
    private static final int NUMBERS = 128; // every card's number is below

    /** The numbers of the cards, the lowest first. */
    final List<Integer> cards;
    /** How many ranks there are; each joker is one of its own. */
    final int ranks;
    final int suits;
    final int decks;
    /** The highest card. */
    final Cards top;
    final boolean triples;
    final boolean flushes;
    private final int plain; // cards that are no jokers
    private final int[] places = new int[NUMBERS];

    Pack(Ruleset ruleset) {
        cards = ruleset.order();
        suits = ruleset.suits().size();
        plain = ruleset.ranks().size() * suits;
        ranks = ruleset.ranks().size() + cards.size() - plain;
        decks = ruleset.decks();
        top = Cards.of(List.of(cards.get(cards.size() - 1)));
        triples = ruleset.plays().contains("triple");
        flushes = ruleset.plays().contains("flush");
        Arrays.fill(places, -1);
        for (int place = 0; place < cards.size(); place++) {
            places[cards.get(place)] = place;
        }
    }

    /** Returns the place of a card in the order, from 0; a card that the pack does not have is as the highest. */
    int place(int card) {
        int place = card < NUMBERS ? places[card] : -1;
        return place < 0 ? cards.size() - 1 : place;
    }

    /** Returns the rank of a card, from 0. */
    int rank(int card) {
        int place = place(card);
        return place < plain ? place / suits : plain / suits + place - plain;
    }

    /** Returns the suit of a card, from 0; jokers have the lowest. */
    int suit(int card) {
        int place = place(card);
        return place < plain ? place % suits : 0;
    }

    /** Sorts cards by rank, and by suit within a rank. */
    List<List<Integer>> byRank(Cards sorted) {
        return sorted(sorted, true);
    }

    /** Sorts cards by suit, and by rank within a suit. */
    List<List<Integer>> bySuit(Cards sorted) {
        return sorted(sorted, false);
    }

    private List<List<Integer>> sorted(Cards some, boolean byRank) {
        List<List<Integer>> groups = new ArrayList<>();
        for (int group = 0; group < (byRank ? ranks : suits); group++) {
            groups.add(new ArrayList<>());
        }
        some.stream().boxed().sorted((one, other) -> Integer.compare(place(one), place(other)))
            .forEach(card -> groups.get(byRank ? rank(card) : suit(card)).add(card));
        return groups;
    }
}
