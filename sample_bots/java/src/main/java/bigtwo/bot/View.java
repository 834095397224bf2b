package bigtwo.bot;

import bigtwo.client.Cards;
import bigtwo.client.Session;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How things stand at a turn, with what was worked out for it. */
final class View {
    /** How much of a play's cost is saved when it surely wins its trick: the bot then leads again. */
    private static final double KEEP_CONTROL = 0.7;

    private static final int SAME = 3; // cards of a rank at most in a small play
    private static final int FIVE = 5;

    private final Pack pack;
    // How many cards another seat holds, of those that still hold any.
    private int shortest;
    private int longest;
    /** How many copies of each card the others may hold, by place in the pack. */
    private final int[] unseen;
    /** In how many ranks above a rank the others may hold so many cards: by number of cards, and rank. */
    private final int[][] higher;
    private final Map<Cards, Double> costs = new HashMap<>();

    View(Pack pack, Session session) {
        this.pack = pack;
        for (int seat = 0; seat < session.seats(); seat++) {
            int count = session.count(seat);
            if (seat != session.seat() && count > 0) {
                longest = Math.max(longest, count);
                shortest = shortest == 0 ? count : Math.min(shortest, count);
            }
        }
        unseen = new int[pack.cards.size()];
        int[] held = new int[pack.ranks];
        for (int place = 0; place < unseen.length; place++) {
            int card = pack.cards.get(place);
            unseen[place] = Math.max(0, pack.decks - session.hand().count(card) - session.gone().count(card));
            held[pack.rank(card)] += unseen[place];
        }
        higher = new int[SAME + 1][pack.ranks];
        for (int size = 1; size <= SAME; size++) {
            for (int rank = pack.ranks - 2; rank >= 0; rank--) {
                higher[size][rank] = higher[size][rank + 1] + (held[rank + 1] >= size ? 1 : 0);
            }
        }
    }

    /** Returns how many cards the seat with the fewest holds, of the others that hold any. */
    int shortest() {
        return shortest;
    }

    /** Guesses how likely a play wins its trick, from 0 to 1; it is 1 when no other seat holds as many cards. */
    double control(Cards play) {
        if (play.size() > longest) {
            return 1;
        }
        int high = play.stream().map(pack::place).max().orElseThrow();
        int rank = pack.rank(pack.cards.get(high));
        switch (play.size()) {
            case 1:
                int above = 0;
                for (int place = high + 1; place < unseen.length; place++) {
                    above += unseen[place];
                }
                return 1.0 / (1 + above);
            case 2:
                return 1 / (1 + 0.5 * higher[2][rank]);
            case SAME:
                return 1 / (1 + 0.15 * higher[SAME][rank]);
            default:
                return strength(play, (double) rank / pack.ranks);
        }
    }

    /** Returns the same for a large play, from its shape; height is its highest rank, from 0 to 1. */
    private double strength(Cards play, double height) {
        int most = pack.byRank(play).stream().mapToInt(List::size).max().orElseThrow();
        if (most > SAME) {
            return 0.95;
        }
        if (most == SAME) {
            return 0.8;
        }
        boolean suited = play.stream().map(pack::suit).distinct().count() == 1;
        return suited ? 0.65 : 0.4 + 0.2 * height;
    }

    /** Returns in how many plays a hand could be gone, 2 standing for more. */
    int plays(Cards hand) {
        long ranks = pack.byRank(hand).stream().filter(cards -> !cards.isEmpty()).count();
        if (ranks == 1 && (hand.size() <= 2 || hand.size() == SAME && pack.triples)) {
            return 1;
        }
        return hand.size() == FIVE && combinations(hand).contains(hand) ? 1 : 2;
    }

    /** Returns what it takes to get rid of a hand, in plays that do not win their trick. */
    double cost(Cards hand) {
        Double known = costs.get(hand);
        if (known != null) {
            return known;
        }
        double best = rankCost(hand);
        if (hand.size() >= FIVE) {
            List<Cards> combinations = combinations(hand);
            for (Cards play : combinations.subList(0, Math.min(combinations.size(), breadth(hand.size())))) {
                best = Math.min(best, playCost(play) + cost(hand.minus(play)));
            }
        }
        costs.put(hand, best);
        return best;
    }

    /** Returns how many combinations of a hand are tried, so that large hands take no longer. */
    private static int breadth(int size) {
        if (size <= 14) {
            return 40;
        }
        if (size <= 20) {
            return 8;
        }
        return size <= 28 ? 3 : 1;
    }

    /** Returns the cost of a hand that goes as singles, pairs and triples. */
    double rankCost(Cards hand) {
        double cost = 0;
        for (List<Integer> cards : pack.byRank(hand)) {
            for (int from = 0; from < cards.size();) {
                int left = cards.size() - from;
                int size = pack.triples && left % 2 == 1 && left >= SAME ? SAME : Math.min(2, left);
                cost += playCost(Cards.of(cards.subList(from, from + size)));
                from += size;
            }
        }
        return cost;
    }

    double playCost(Cards play) {
        return 1 - KEEP_CONTROL * control(play);
    }

    /**
     * Returns five-card combinations of a hand, not all there are: enough to plan with. The referee alone says which
     * are legal.
     */
    private List<Cards> combinations(Cards hand) {
        List<List<Integer>> ranks = pack.byRank(hand);
        List<Cards> found = new ArrayList<>();
        straights(ranks, found);
        if (pack.flushes) {
            flushes(hand, found);
        }
        fullHouses(ranks, found);
        return found;
    }

    /** Finds five ranks in a row, the highest rank left out. */
    private void straights(List<List<Integer>> ranks, List<Cards> found) {
        for (int low = 0; low + FIVE < pack.ranks; low++) {
            List<List<Integer>> row = ranks.subList(low, low + FIVE);
            if (row.stream().noneMatch(List::isEmpty)) {
                found.add(Cards.of(row.stream().map(cards -> cards.get(0)).toList()));
            }
        }
    }

    /** Finds the runs of five among the cards of a suit. */
    private void flushes(Cards hand, List<Cards> found) {
        for (List<Integer> cards : pack.bySuit(hand)) {
            for (int low = 0; low + FIVE <= cards.size(); low++) {
                found.add(Cards.of(cards.subList(low, low + FIVE)));
            }
        }
    }

    /** Finds triples with pairs, and quads with a single card. */
    private static void fullHouses(List<List<Integer>> ranks, List<Cards> found) {
        for (List<Integer> many : ranks) {
            for (List<Integer> few : ranks) {
                if (many == few) {
                    continue;
                }
                if (many.size() >= SAME && few.size() >= 2) {
                    found.add(Cards.of(many.subList(0, SAME)).plus(Cards.of(few.subList(0, 2))));
                }
                if (many.size() > SAME && !few.isEmpty()) {
                    found.add(Cards.of(many.subList(0, SAME + 1)).plus(Cards.of(few.subList(0, 1))));
                }
            }
        }
    }
}
