package bigtwo.client;

import bigtwo.referee.v1.Closing;
import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.Hello;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.PlayRequest;
import bigtwo.referee.v1.PlayResponse;
import bigtwo.referee.v1.Wants;
import bigtwo.referee.v1.Welcome;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * One connection to one referee. The thread of play folds events and collects answers. gRPC's threads answer pings and
 * hand it the rest; strategies think on threads of their own. So nothing keeps a pong back.
 */
final class Stream {
    static final MethodDescriptor<PlayRequest, PlayResponse> PLAY =
        MethodDescriptor.<PlayRequest, PlayResponse>newBuilder()
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .setFullMethodName("referee.v1.BotService/Play")
            .setRequestMarshaller(ProtoUtils.marshaller(PlayRequest.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(PlayResponse.getDefaultInstance()))
            .build();
    static final Metadata.Key<String> AUTHORIZATION =
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private static final int PROTOCOL_VERSION = 1;
    private static final String SDK = "bigtwo-bot java 1.0.0";
    /** How long answers are kept back while others are thought about. */
    private static final Duration FLUSH_AFTER = Duration.ofMillis(5);
    /** How long the referee is waited for. */
    private static final Duration WELCOME_WITHIN = Duration.ofSeconds(20);
    /** How long a bot that finishes is without a session before it says goodbye: one may be on its way. */
    private static final Duration SETTLE_FOR = Duration.ofMillis(500);
    /** How long the end of the stream is waited for after a goodbye. */
    private static final Duration FAREWELL_WITHIN = Duration.ofSeconds(3);
    private static final int KEEPALIVE_SECONDS = 10;
    private static final int KEEPALIVE_TIMEOUT_SECONDS = 5;

    private final String address;
    private final Options options;
    private final Threads threads;
    private final Consumer<String> log;
    private final BiConsumer<Welcome, Stream> onWelcome;
    private final Table table;
    private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
    private volatile Outbox outbox; // from play on

    // All below is used by the thread of play.
    private final List<Move> moves = new ArrayList<>();
    private Closing closing = Closing.getDefaultInstance();
    private Failure failure;
    private boolean welcomed;
    private boolean owes;
    private boolean finishing;
    private boolean flushing;
    private Runnable notSettled = () -> { };

    /**
     * Returns a stream that is opened by play.
     *
     * @param owes whether sessions were open on the stream before this one
     * @param onWelcome is told once of the referee's welcome, on the thread of play
     */
    Stream(
        String address, Options options, Maker maker, Threads threads, Story story, Consumer<String> log,
        Consumer<StrategyFailed> failed, boolean owes, BiConsumer<Welcome, Stream> onWelcome
    ) {
        this.address = address;
        this.options = options;
        this.threads = threads;
        this.log = log;
        this.owes = owes;
        this.onWelcome = onWelcome;
        table = new Table(maker, threads.thinker(inbox::add), story, log, failed, moves::add);
    }

    /** Plays until the stream ends, and returns why it did; interrupted, it cancels the stream. */
    Failure play() {
        ManagedChannel channel;
        try {
            channel = Grpc.newChannelBuilder("dns:///" + address, credentials(options.tls()))
                .directExecutor() // nothing waits on it
                .disableRetry()
                .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
        } catch (IOException | IllegalArgumentException wrong) {
            return Failure.of(Status.UNAVAILABLE.withDescription(wrong.toString()), new Metadata());
        }
        ClientCall<PlayRequest, PlayResponse> call = channel.newCall(PLAY, CallOptions.DEFAULT);
        outbox = new Outbox(call);
        Runnable unwatch = threads.after(WELCOME_WITHIN, inbox::add, () -> {
            if (!welcomed) {
                outbox.cancel("no welcome came");
            }
        });
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + options.token());
        call.start(new Listener(call), headers);
        call.request(1);
        outbox.hello(hello());
        try {
            while (failure == null) {
                inbox.take().run();
                for (Runnable next = inbox.poll(); next != null; next = inbox.poll()) {
                    next.run();
                }
                answer();
            }
        } catch (InterruptedException told) {
            Thread.currentThread().interrupt();
            failure = Failure.of(Status.CANCELLED.withDescription("interrupted"), new Metadata());
        } finally {
            unwatch.run();
            notSettled.run();
            table.close();
            outbox.cancel("the bot has left");
            channel.shutdownNow();
        }
        return failure;
    }

    private Hello hello() {
        Hello.Builder hello = Hello.newBuilder()
            .setProtocolVersion(PROTOCOL_VERSION).setSdk(SDK).setWants(Wants.newBuilder().setLegalPlays(true));
        if (options.maxSessions() > 0) {
            hello.setMaxSessions(options.maxSessions());
        }
        return hello.build();
    }

    private static ChannelCredentials credentials(Options.Tls tls) throws IOException {
        if (tls == null) {
            return InsecureChannelCredentials.create();
        }
        TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
        if (tls.authorities() != null) {
            builder.trustManager(tls.authorities().toFile());
        }
        if (tls.certificate() != null) {
            builder.keyManager(tls.certificate().toFile(), tls.key().toFile());
        }
        return builder.build();
    }

    /** What gRPC calls; nothing here may wait. */
    private final class Listener extends ClientCall.Listener<PlayResponse> {
        private final ClientCall<PlayRequest, PlayResponse> call;

        Listener(ClientCall<PlayRequest, PlayResponse> call) {
            this.call = call;
        }

        @Override
        public void onMessage(PlayResponse response) {
            if (response.hasPing()) {
                outbox.pong(response.getPing().getId());
            }
            inbox.add(() -> receive(response));
            call.request(1);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            outbox.over();
            inbox.add(() -> failure = Failure.of(status, trailers));
        }
    }

    private void receive(PlayResponse response) {
        if (response.hasWelcome() && !welcomed) {
            welcomed = true;
            outbox.limit(response.getWelcome().getMaxMessageBytes());
            onWelcome.accept(response.getWelcome(), this);
        }
        if (response.hasClosing()) {
            closing = response.getClosing();
            log.accept("the referee is closing: %s; it ends within %s"
                .formatted(closing.getReason(), Failure.duration(closing.getEndDelay())));
        }
        for (Event event : response.getEventsList()) {
            table.take(event);
        }
        if (response.getEventsCount() > 0) {
            owes = table.isBusy();
            settle();
        }
    }

    /** Sends the answers that there are, unless more are soon to come. */
    private void answer() {
        if (moves.isEmpty() || flushing && table.isThinking()) {
            return;
        }
        if (!table.isThinking()) {
            flush();
            return;
        }
        flushing = true;
        threads.after(FLUSH_AFTER, inbox::add, () -> {
            flushing = false;
            flush();
        });
    }

    private void flush() {
        outbox.moves(moves);
        moves.clear();
    }

    /** Makes the bot take no new session here, and leave when its last one has ended. Called on the thread of play. */
    void finish() {
        if (finishing) {
            return;
        }
        if (welcomed) {
            finishing = true;
            outbox.ask(0);
            settle();
        } else if (!owes) {
            outbox.cancel("the bot has finished");
        }
    }

    /** Says goodbye after a while without a session, if the bot finishes. */
    private void settle() {
        notSettled.run();
        if (finishing && !table.isBusy()) {
            notSettled = threads.after(SETTLE_FOR, inbox::add, () -> {
                owes = false;
                leave();
            });
        }
    }

    /** Says goodbye at once. Called on the thread of play. */
    void leave() {
        if (!welcomed) {
            outbox.cancel("the bot leaves");
            return;
        }
        flush();
        outbox.goodbye();
        threads.after(FAREWELL_WITHIN, inbox::add, () -> outbox.cancel("the bot has left"));
    }

    /** Runs something on the thread of play, if the stream has not ended by then. */
    void post(Runnable work) {
        inbox.add(work);
    }

    /** Asks for another number of sessions at once; from any thread. */
    void ask(int sessions) {
        outbox.ask(sessions);
    }

    boolean welcomed() {
        return welcomed;
    }

    /** Tells whether sessions are open, here or, before the welcome, on the stream before this one. */
    boolean owes() {
        return owes;
    }

    /** Returns the least wait after the end of the stream, where the referee announced that it is closing. */
    Duration retryDelay() {
        return Failure.duration(closing.getRetryDelay());
    }
}
