package bigtwo.client;

import bigtwo.referee.v1.Card;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A set of cards that may hold a card several times, as with two packs. It never changes; equal sets are equal. Cards
 * are numbers, as in the messages, so that cards to come have a place in it, too.
 */
public final class Cards {
    /** No cards; as an answer, a pass. */
    public static final Cards NONE = new Cards(new int[0]);

    private static final String PREFIX = "CARD_";

    private final int[] numbers; // sorted

    private Cards(int[] numbers) {
        this.numbers = numbers;
    }

    /** Returns the set of these cards, by their numbers. */
    public static Cards of(Collection<Integer> numbers) {
        return numbers.isEmpty() ? NONE : new Cards(numbers.stream().mapToInt(Integer::intValue).sorted().toArray());
    }

    /** Returns the set of these cards. */
    public static Cards of(Card... cards) {
        return of(Arrays.stream(cards).map(Card::getNumber).toList());
    }

    /** Returns the cards of a text such as "3D 3C"; throws IllegalArgumentException if it names no cards. */
    public static Cards parse(String text) {
        return of(Arrays.stream(text.split(" ")).filter(word -> !word.isEmpty())
            .map(word -> Card.valueOf(PREFIX + word).getNumber()).toList());
    }

    public int size() {
        return numbers.length;
    }

    public boolean isEmpty() {
        return numbers.length == 0;
    }

    /** Returns how many copies of a card there are. */
    public int count(int card) {
        int copies = 0;
        for (int number : numbers) {
            if (number == card) {
                copies++;
            }
        }
        return copies;
    }

    /** Tells whether all of other, with all copies, is in this set. */
    public boolean holds(Cards other) {
        return size() - minus(other).size() == other.size();
    }

    /** Returns this set with the cards of other. */
    public Cards plus(Cards other) {
        int[] all = Arrays.copyOf(numbers, size() + other.size());
        System.arraycopy(other.numbers, 0, all, size(), other.size());
        Arrays.sort(all);
        return new Cards(all);
    }

    /** Returns this set without the cards of other; those that it does not hold do not matter. */
    public Cards minus(Cards other) {
        int[] left = new int[numbers.length];
        int size = 0;
        int taken = 0;
        for (int number : numbers) {
            while (taken < other.numbers.length && other.numbers[taken] < number) {
                taken++;
            }
            if (taken < other.numbers.length && other.numbers[taken] == number) {
                taken++;
            } else {
                left[size++] = number;
            }
        }
        return size == 0 ? NONE : new Cards(Arrays.copyOf(left, size));
    }

    /** Returns the numbers of the cards, the lowest first. */
    public IntStream stream() {
        return Arrays.stream(numbers);
    }

    /** Returns the numbers of the cards as a message has them. */
    public List<Integer> list() {
        return stream().boxed().toList();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Cards cards && Arrays.equals(numbers, cards.numbers);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(numbers);
    }

    /** Returns the cards as text: "3D 3C". */
    @Override
    public String toString() {
        return stream().mapToObj(Cards::name).collect(Collectors.joining(" "));
    }

    private static String name(int number) {
        Card card = Card.forNumber(number);
        return card == null ? "#" + number : card.name().substring(PREFIX.length());
    }
}
