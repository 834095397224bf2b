package bigtwo.client;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Has strategies think, so that those who wait for the answers can do other things. */
interface Thinker {
    /**
     * Begins to think. done is called once, as by the caller, with a thought or why there is none; after cancel it is
     * not called.
     *
     * @param limit when it is too late, or null for never
     * @return what cancels the thought
     */
    <T> Runnable think(Callable<T> thought, Duration limit, Consumer<Outcome<T>> done);

    /**
     * What came of a thought.
     *
     * @param failure null where there is a thought
     * @param tooLate whether nothing came in time
     */
    record Outcome<T>(T thought, Throwable failure, boolean tooLate) { }

    /** Returns the outcome of a thought that is waited for. */
    static <T> Outcome<T> outcome(Callable<T> thought) {
        try {
            return new Outcome<>(thought.call(), null, false);
        } catch (Throwable failure) { // also an Error: it is the strategy's own
            return new Outcome<>(null, failure, false);
        }
    }
}
