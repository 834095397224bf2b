package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/** A bot that runs until the test's end, or is told to finish or to leave. */
final class RunningBot implements AutoCloseable {
    private static final Exception NONE = new Exception("none");

    final Client client;
    private final BlockingQueue<String> news = new LinkedBlockingQueue<>();
    private final BlockingQueue<Exception> ended = new LinkedBlockingQueue<>();

    /** Runs a bot that plays the first legal play at these addresses. */
    RunningBot(String... addresses) {
        this(RunningBot::first, options(addresses));
    }

    RunningBot(Strategy strategy, Options options) {
        client = new Client(options, session -> strategy, news::add);
        Thread thread = new Thread(() -> {
            try {
                client.run();
                ended.add(NONE);
            } catch (Exception failure) {
                ended.add(failure);
            }
        });
        thread.start();
    }

    static Cards first(Turn turn) {
        return turn.legal().get(0);
    }

    static Options options(String... addresses) {
        return new Options("secret", List.of(addresses), null, 0, false);
    }

    static Options options(Function<Options, Options> change, String... addresses) {
        return change.apply(options(addresses));
    }

    /** Tells the bot to leave at once; fails unless it says goodbye on these streams, and ends well. */
    void leaves(FakeReferee.Call... streams) {
        client.leave();
        Arrays.stream(streams).forEach(FakeReferee.Call::saysGoodbye);
        ends();
    }

    /** Waits for the bot's end, which must be a good one. */
    void ends() {
        assertSame(NONE, FakeReferee.receive(ended));
    }

    /** Waits for the bot's end, which must be a failure of this class. */
    <T extends Exception> T fails(Class<T> kind) {
        Exception failure = FakeReferee.receive(ended);
        assertTrue(kind.isInstance(failure), failure::toString);
        return kind.cast(failure);
    }

    /** Waits for a line of news that has these parts. */
    String told(String... parts) {
        while (true) {
            String line = FakeReferee.receive(news);
            if (Arrays.stream(parts).allMatch(line::contains)) {
                return line;
            }
        }
    }

    /** Returns the lines of news that nobody waited for yet. */
    List<String> untold() {
        return List.copyOf(news);
    }

    @Override
    public void close() {
        client.leave();
    }
}
