package bigtwo.client;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** The threads of a bot: one for each thought, so that none waits for another. None keeps the program alive. */
final class Threads implements AutoCloseable {
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final ExecutorService thoughts;
    private final ScheduledThreadPoolExecutor timer;

    Threads() {
        thoughts = Executors.newCachedThreadPool(named("thought"));
        timer = new ScheduledThreadPoolExecutor(1, named("timer"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE.toSeconds(), TimeUnit.SECONDS);
    }

    private static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Runs something after a while on an executor; returns what cancels it. */
    Runnable after(Duration delay, Executor executor, Runnable work) {
        try {
            Future<?> future = timer.schedule(() -> executor.execute(work), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException over) {
            return () -> { };
        }
    }

    /** Returns a thinker for one who does everything on an executor. */
    Thinker thinker(Executor executor) {
        return new Thinker() {
            @Override
            public <T> Runnable think(Callable<T> thought, Duration limit, Consumer<Outcome<T>> done) {
                return begin(thought, limit, done, executor);
            }
        };
    }

    private <T> Runnable begin(
        Callable<T> thought, Duration limit, Consumer<Thinker.Outcome<T>> done, Executor executor
    ) {
        // Only looked at on the executor: what is left to cancel, nothing once the thought is over.
        AtomicReference<Runnable> cancel = new AtomicReference<>();
        Consumer<Thinker.Outcome<T>> once = outcome -> {
            Runnable rest = cancel.getAndSet(null);
            if (rest != null) {
                rest.run();
                done.accept(outcome);
            }
        };
        Future<?> thinking = thoughts.submit(() -> {
            Thinker.Outcome<T> outcome = Thinker.outcome(thought);
            executor.execute(() -> once.accept(outcome));
        });
        Runnable unwatch = limit == null ? () -> { }
            : after(limit, executor, () -> once.accept(new Thinker.Outcome<>(null, null, true)));
        cancel.set(() -> {
            unwatch.run();
            thinking.cancel(true);
        });
        return () -> {
            Runnable rest = cancel.getAndSet(null);
            if (rest != null) {
                rest.run();
            }
        };
    }

    /** Ends all thoughts that can be interrupted. */
    @Override
    public void close() {
        timer.shutdownNow();
        thoughts.shutdownNow();
    }
}
