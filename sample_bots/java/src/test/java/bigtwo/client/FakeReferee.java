package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bigtwo.referee.v1.Hello;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.Ping;
import bigtwo.referee.v1.PlayRequest;
import bigtwo.referee.v1.PlayResponse;
import bigtwo.referee.v1.Referee;
import bigtwo.referee.v1.Welcome;
import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogManager;

/** A referee that hands every stream to the test. */
final class FakeReferee implements AutoCloseable {
    /** Seconds after which a test gives up on what must come. */
    private static final int DEADLINE = 20;

    static {
        LogManager.getLogManager().reset(); // gRPC's own log
    }

    final String address;
    private final Server server;
    private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();

    FakeReferee() {
        this(InsecureServerCredentials.create());
    }

    FakeReferee(ServerCredentials credentials) {
        try {
            server = Grpc.newServerBuilderForPort(0, credentials)
                .addService(ServerServiceDefinition.builder("referee.v1.BotService")
                    .addMethod(Stream.PLAY, this::accept).build())
                .build().start();
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        address = "127.0.0.1:" + server.getPort();
    }

    private ServerCall.Listener<PlayRequest> accept(ServerCall<PlayRequest, PlayResponse> call, Metadata headers) {
        Call accepted = new Call(call, headers);
        calls.add(accepted);
        call.request(1);
        return accepted;
    }

    /** Returns the same address in another spelling. */
    String local() {
        return address.replace("127.0.0.1", "localhost");
    }

    /** Returns an address that nobody listens at. */
    static String nowhere() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "127.0.0.1:" + free.getLocalPort();
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Takes the bot's next stream and its hello. */
    Call stream() {
        Call call = receive(calls);
        assertEquals("Bearer secret", call.headers.get(Stream.AUTHORIZATION));
        call.hello = call.request().getHello();
        assertEquals(1, call.hello.getProtocolVersion());
        assertTrue(call.hello.getWants().getLegalPlays());
        return call;
    }

    /** Fails if the bot has opened a stream that was not taken. */
    void noOther() {
        assertEquals(0, calls.size());
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    /** Waits for what must come. */
    static <T> T receive(BlockingQueue<T> queue) {
        try {
            T value = queue.poll(DEADLINE, TimeUnit.SECONDS);
            assertNotNull(value, "nothing came");
            return value;
        } catch (InterruptedException told) {
            throw new AssertionError(told);
        }
    }

    static Referee at(String id, String address) {
        return Referee.newBuilder().setId(id).setAddress(address).build();
    }

    /** A status as a referee ends a call with it. */
    record Ending(Status status, Metadata trailers) {
        static Ending of(Status.Code code) {
            return new Ending(code.toStatus().withDescription("in words"), new Metadata());
        }

        /** With a reason, where trying again cannot help. */
        static Ending reason(Status.Code code, String reason) {
            return details(code, info(reason, ""));
        }

        /** With a reason, and after how many milliseconds to try again. */
        static Ending again(Status.Code code, String reason, int delay) {
            return details(code, info(reason, ""), retry(delay));
        }

        /** The bot is connected to the referee with this id already. */
        static Ending connected(String id) {
            return details(Status.Code.ABORTED, info("ALREADY_CONNECTED", id), retry(0));
        }

        private static ErrorInfo info(String reason, String refereeId) {
            return ErrorInfo.newBuilder().setDomain(Failure.DOMAIN).setReason(reason)
                .putMetadata("referee_id", refereeId).build();
        }

        private static RetryInfo retry(int delay) {
            return RetryInfo.newBuilder().setRetryDelay(Duration.newBuilder().setNanos(delay * 1_000_000)).build();
        }

        private static Ending details(Status.Code code, Message... details) {
            var made = StatusProto.toStatusRuntimeException(com.google.rpc.Status.newBuilder()
                .setCode(code.value()).setMessage("in words")
                .addAllDetails(Arrays.stream(details).map(Any::pack).toList()).build());
            return new Ending(made.getStatus(), made.getTrailers());
        }
    }

    /** The referee's side of a stream. */
    static final class Call extends ServerCall.Listener<PlayRequest> {
        Hello hello;
        private final ServerCall<PlayRequest, PlayResponse> call;
        private final Metadata headers;
        private final BlockingQueue<PlayRequest> requests = new LinkedBlockingQueue<>();
        private final BlockingQueue<Boolean> halfClosed = new LinkedBlockingQueue<>();

        Call(ServerCall<PlayRequest, PlayResponse> call, Metadata headers) {
            this.call = call;
            this.headers = headers;
            call.sendHeaders(new Metadata());
        }

        @Override
        public void onMessage(PlayRequest request) {
            requests.add(request);
            call.request(1);
        }

        @Override
        public void onHalfClose() {
            halfClosed.add(true);
        }

        PlayRequest request() {
            return receive(requests);
        }

        /** Returns the next move, which must be the only one of its message. */
        Move move() {
            List<Move> moves = request().getMovesList();
            assertEquals(1, moves.size());
            return moves.get(0);
        }

        synchronized void send(PlayResponse.Builder response) {
            call.sendMessage(response.build());
        }

        void ping(int id) {
            send(PlayResponse.newBuilder().setPing(Ping.newBuilder().setId(id)));
        }

        /** Welcomes the bot as the referee with this id, in an arena of these referees. */
        void welcome(String id, Referee... referees) {
            welcome(hello.getMaxSessions(), id, referees);
        }

        void welcome(int share, String id, Referee... referees) {
            send(PlayResponse.newBuilder().setWelcome(Welcome.newBuilder().setBot("owner/bot@1")
                .setRefereeId(id).setMaxSessions(share).addAllReferees(List.of(referees))));
        }

        /** Fails unless the bot answers a turn. */
        void plays() {
            send(Events.response(Events.started(), Events.dealt("3D"), Events.turn(7)));
            assertEquals(7, move().getSession());
        }

        /** Makes sure that the bot has read what was sent before. */
        void answersPing() {
            ping(1);
            assertEquals(1, request().getPong().getId());
        }

        /** Fails unless the bot asks for so many sessions. */
        void asks(int sessions) {
            PlayRequest request = request();
            assertTrue(request.hasCapacity(), request::toString);
            assertEquals(sessions, request.getCapacity().getMaxSessions());
        }

        /** Fails unless the bot says goodbye and ends its side of the stream. */
        void saysGoodbye() {
            assertTrue(request().hasGoodbye());
            receive(halfClosed);
            assertEquals(0, requests.size());
            end(new Ending(Status.OK, new Metadata()));
        }

        synchronized void end(Ending ending) {
            call.close(ending.status, ending.trailers);
        }
    }
}
