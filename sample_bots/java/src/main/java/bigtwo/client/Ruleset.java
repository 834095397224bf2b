package bigtwo.client;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import com.google.gson.annotations.SerializedName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A part of the rules of a session; the whole is in SessionStarted.ruleset.
 *
 * @param decks the number of packs
 * @param ranks in order, the lowest first
 * @param suits in order, the lowest first
 * @param jokers how many each pack has
 * @param plays the kinds that may be played
 * @param lastTopCard "allowed", or what the highest card may not do as the last one
 * @param drawOnPass "none" unless whoever passes draws cards
 */
public record Ruleset(
    String name,
    int decks,
    List<String> ranks,
    List<String> suits,
    int jokers,
    List<String> plays,
    @SerializedName("last_top_card") String lastTopCard,
    @SerializedName("draw_on_pass") String drawOnPass
) {
    /** The ranks in the order of the card numbers; with 60 tiles some have other names. */
    private static final Map<String, Integer> RANKS = Map.ofEntries(
        Map.entry("3", 0), Map.entry("4", 1), Map.entry("5", 2), Map.entry("6", 3), Map.entry("7", 4),
        Map.entry("8", 5), Map.entry("9", 6), Map.entry("T", 7), Map.entry("J", 8), Map.entry("Q", 9),
        Map.entry("K", 10), Map.entry("A", 11), Map.entry("2", 12), Map.entry("14", 13), Map.entry("15", 14),
        Map.entry("10", 7), Map.entry("11", 8), Map.entry("12", 9), Map.entry("13", 10), Map.entry("1", 11)
    );
    private static final Map<String, Integer> SUITS = Map.of("D", 0, "C", 1, "H", 2, "S", 3);
    private static final int RED_JOKER = 62;

    /** Reads the JSON of a ruleset; throws IllegalArgumentException if ranks or suits are missing or not known here. */
    public static Ruleset parse(String json) {
        Ruleset read;
        try {
            read = new Gson().fromJson(json, Ruleset.class);
        } catch (JsonParseException wrong) {
            throw new IllegalArgumentException("session_started.ruleset: " + wrong.getMessage(), wrong);
        }
        if (read == null || read.ranks == null || read.suits == null || read.ranks.isEmpty() || read.suits.isEmpty()) {
            throw new IllegalArgumentException("session_started.ruleset: no ranks or no suits");
        }
        for (String rank : read.ranks) {
            if (!RANKS.containsKey(rank)) {
                throw new IllegalArgumentException("session_started.ruleset: unknown rank " + rank);
            }
        }
        for (String suit : read.suits) {
            if (!SUITS.containsKey(suit)) {
                throw new IllegalArgumentException("session_started.ruleset: unknown suit " + suit);
            }
        }
        List<String> plays = read.plays == null ? List.of() : read.plays;
        return new Ruleset(read.name, Math.max(1, read.decks), read.ranks, read.suits, read.jokers, plays,
            read.lastTopCard, read.drawOnPass);
    }

    /** Returns the numbers of a pack's cards, the lowest first: by rank, by suit within a rank, then jokers. */
    public List<Integer> order() {
        List<Integer> cards = new ArrayList<>();
        for (String rank : ranks) {
            for (String suit : suits) {
                cards.add(4 * RANKS.get(rank) + SUITS.get(suit) + 1);
            }
        }
        for (int joker = jokers - 1; joker >= 0; joker--) {
            cards.add(RED_JOKER - joker);
        }
        return cards;
    }
}
