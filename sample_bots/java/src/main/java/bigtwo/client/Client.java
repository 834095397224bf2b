package bigtwo.client;

import bigtwo.referee.v1.Welcome;
import io.grpc.Status;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * A bot's side of the Play stream: it connects to every referee of an arena, keeps the state of every session, answers
 * pings, batches moves, connects again and leaves politely. What to play is a strategy's matter.
 */
public final class Client {
    // Waits between attempts to connect: doubling, each drawn at random from half to the whole. They come on top of the
    // delay that a referee asks for.
    private static final Duration FIRST_WAIT = Duration.ofMillis(100);
    private static final Duration LAST_WAIT = Duration.ofSeconds(5);

    private final Options options;
    private final Maker maker;
    private final Consumer<String> log;
    private final Story story;
    private final Threads threads = new Threads();

    // All below is guarded by this.
    private final Referees referees = new Referees();
    private final Set<Stream> streams = new HashSet<>();
    private final Queue<Thread> dialled = new ArrayDeque<>(); // those that nobody waits for yet
    private boolean finishing;
    private boolean leaving;
    private Exception ended; // why the bot ends on its own

    /**
     * Returns a bot.
     *
     * @param log takes lines of news, from any thread
     */
    public Client(Options options, Maker maker, Consumer<String> log) {
        this.options = options;
        this.maker = maker;
        this.log = log;
        story = new Story(log, InstantSource.system());
    }

    /**
     * Plays until it is told to finish, and returns when the last session has ended; until it is told to leave, and
     * returns at once.
     *
     * @throws Refused as soon as one of the referees will not have the bot
     * @throws StrategyFailed when the strategy of a strict bot fails
     * @throws InterruptedException when the thread is interrupted; the bot leaves
     */
    public void run() throws Refused, StrategyFailed, InterruptedException {
        try (threads) {
            synchronized (this) {
                dial(options.referees());
            }
            // A stream may make the bot meet more referees.
            for (Thread thread = nextDialled(); thread != null; thread = nextDialled()) {
                thread.join();
            }
        } finally {
            leave();
            story.end();
        }
        synchronized (this) {
            if (ended instanceof Refused refused) {
                throw refused;
            }
            if (ended instanceof StrategyFailed failed) {
                throw failed;
            }
            if (ended instanceof RuntimeException mistake) {
                throw mistake;
            }
        }
    }

    private synchronized Thread nextDialled() {
        return dialled.poll();
    }

    /** Makes the bot take no new session, and leave when its last one has ended. */
    public synchronized void finish() {
        finishing = true;
        streams.forEach(stream -> stream.post(stream::finish));
        notifyAll();
    }

    /** Makes the bot say goodbye and leave at once. */
    public synchronized void leave() {
        leaving = true;
        streams.forEach(stream -> stream.post(stream::leave));
        notifyAll();
    }

    private synchronized void end(Exception why) {
        if (ended == null) {
            ended = why;
        }
        leave();
    }

    /** Opens a stream to each address that has none. Called with the lock. */
    private void dial(List<String> addresses) {
        for (String address : addresses) {
            if (referees.dial(address)) {
                Thread thread = new Thread(() -> {
                    try {
                        stay(address);
                    } catch (RuntimeException mistake) { // of this client
                        end(mistake);
                    }
                }, address);
                thread.setDaemon(true);
                dialled.add(thread);
                thread.start();
            }
        }
    }

    /** Tells whether a bot that perhaps owes answers tries to be connected. */
    private synchronized boolean goesOn(boolean owes) {
        return !leaving && (owes || !finishing);
    }

    /**
     * Keeps a stream to a referee until the bot leaves, is refused, or turns out to be connected to that referee at
     * another address. A bot that finishes comes back only to sessions that are open.
     */
    private void stay(String address) {
        Consumer<String> told = line -> log.accept("referee " + address + ": " + line);
        Consumer<StrategyFailed> failed = options.strict() ? this::end : failure -> { };
        Duration wait = FIRST_WAIT;
        boolean owes = false;
        String kind = "";
        while (true) {
            Stream stream = new Stream(address, options, maker, threads, story, told, failed, owes, (welcome, self) -> {
                told.accept("connected as %s, referee %s".formatted(welcome.getBot(), welcome.getRefereeId()));
                welcomed(address, welcome, self);
            });
            if (!open(stream, owes)) {
                return;
            }
            Failure failure = stream.play();
            owes = stream.owes();
            if (failure.isFinal()) {
                end(new Refused(address, failure));
                return;
            }
            String other = ended(address, stream, failure);
            if (!goesOn(owes)) {
                return;
            }
            if (other != null) {
                told.accept("not needed, the bot is connected to it at " + other);
                return;
            }
            if (stream.welcomed()) {
                wait = FIRST_WAIT;
                kind = "";
            }
            if (!failure.kind().equals(kind)) { // what stays the same is told once
                kind = failure.kind();
                told.accept("not connected, trying again: " + why(address, failure));
            }
            Duration least = longer(failure.delay(), stream.retryDelay());
            long half = wait.toMillis() / 2;
            pause(least.toMillis() + half + ThreadLocalRandom.current().nextLong(half), owes);
            wait = wait.multipliedBy(2).compareTo(LAST_WAIT) < 0 ? wait.multipliedBy(2) : LAST_WAIT;
        }
    }

    private static Duration longer(Duration delay, Duration other) {
        return delay == null || delay.compareTo(other) < 0 ? other : delay;
    }

    /** Says why a stream ended, also where gRPC does not know why it did not come about. */
    private String why(String address, Failure failure) {
        boolean unreached = failure.code() == Status.Code.UNAVAILABLE && failure.reason().isEmpty();
        String found = unreached ? Unreached.why(address, options.tls()) : null;
        return found == null ? failure.toString() : found;
    }

    /** Notes a stream that is about to begin; returns false if it should not. */
    private synchronized boolean open(Stream stream, boolean owes) {
        return goesOn(owes) && streams.add(stream);
    }

    private synchronized void welcomed(String address, Welcome welcome, Stream stream) {
        referees.welcomed(address, welcome, stream::ask);
        if (finishing) {
            stream.finish();
            return;
        }
        dial(referees.missing());
        referees.share(options.maxSessions());
    }

    /** Returns another address at which the bot is connected to the same referee, or null. */
    private synchronized String ended(String address, Stream stream, Failure failure) {
        streams.remove(stream);
        String other = referees.ended(address, failure);
        if (!finishing && !leaving) {
            dial(referees.missing()); // this address may have led to another referee before
            referees.share(options.maxSessions());
        }
        return other;
    }

    /** Waits, but not longer than the bot tries to be connected. */
    private synchronized void pause(long millis, boolean owes) {
        long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
        try {
            for (long left = millis; left > 0 && goesOn(owes);
                left = Duration.ofNanos(until - System.nanoTime()).toMillis()) {
                wait(left);
            }
        } catch (InterruptedException told) {
            Thread.currentThread().interrupt();
        }
    }
}
