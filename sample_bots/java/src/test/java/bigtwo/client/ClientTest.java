package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bigtwo.client.FakeReferee.Call;
import bigtwo.client.FakeReferee.Ending;
import bigtwo.referee.v1.Closing;
import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.Fault;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.PlayRequest;
import bigtwo.referee.v1.PlayResponse;
import com.google.protobuf.Duration;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of pings, batches, faults, connecting again, and being refused. */
final class ClientTest {
    @Test
    void batchOfTurnsIsAnsweredInOneMessage() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.send(Events.response(Events.turn(8), Events.turn(9), Events.turn(10)));
            assertEquals(List.of(8, 9, 10), stream.request().getMovesList().stream().map(Move::getSession).toList());
        }
    }

    @Test
    void pingsAreAnsweredWhileItThinks() throws InterruptedException {
        CountDownLatch thinking = new CountDownLatch(1);
        CountDownLatch decided = new CountDownLatch(1);
        Strategy slow = turn -> {
            thinking.countDown();
            decided.await();
            return turn.legal().get(0);
        };
        try (FakeReferee referee = new FakeReferee();
            RunningBot bot = new RunningBot(slow, RunningBot.options(referee.address))) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.send(Events.response(Events.started(), Events.dealt("3D"), Events.turn(7)));
            thinking.await();
            for (int id = 5; id < 8; id++) {
                stream.ping(id);
                PlayRequest request = stream.request();
                assertEquals(id, request.getPong().getId());
                assertEquals(0, request.getMovesCount());
            }
            decided.countDown();
            assertEquals(7, stream.move().getSession());
        }
    }

    @Test
    void sessionIsNotHeldUpByAnotherThatNeverAnswersAndTheRefereeIsToldInTime() {
        AtomicBoolean over = new AtomicBoolean();
        Strategy stuck = turn -> {
            while (turn.session().started().getSession() == 7 && !over.get()) {
                Thread.onSpinWait(); // deaf to interrupts
            }
            return turn.legal().get(0);
        };
        try (FakeReferee referee = new FakeReferee();
            RunningBot bot = new RunningBot(stuck, RunningBot.options(referee.address))) {
            Call stream = referee.stream();
            stream.welcome("a");
            Event.Builder brief = Events.turn(7).toBuilder();
            brief.getTurnBuilder().setDecisionMs(500);
            stream.send(Events.response(Events.started(7), Events.started(8), brief.build(), Events.turn(8)));
            assertEquals(8, stream.move().getSession());
            Move failed = stream.move();
            assertEquals(7, failed.getSession());
            assertTrue(failed.getFailure().endsWith("no answer within 500 ms"), failed::getFailure);
            bot.told("the strategy failed in session cup/1/1/1", "no answer within 500 ms");
            stream.send(Events.response(Events.turn(8)));
            assertEquals(8, stream.move().getSession());
            over.set(true);
            stream.send(Events.response(Events.turn(7))); // a new strategy answers
            assertEquals(List.of(1), stream.move().getCardsValueList());
        }
    }

    @Test
    void strictBotEndsWhenItsStrategyFails() {
        Strategy failing = turn -> {
            throw new IllegalStateException("no idea");
        };
        try (FakeReferee referee = new FakeReferee();
            RunningBot bot = new RunningBot(failing, RunningBot.options(
                options -> new Options("secret", options.referees(), null, 0, true), referee.address))) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.send(Events.response(Events.started(), Events.dealt("3D"), Events.turn(7)));
            assertTrue(stream.move().getFailure().startsWith("java.lang.IllegalStateException: no idea\n"));
            stream.saysGoodbye();
            assertEquals("no idea", bot.fails(StrategyFailed.class).getCause().getMessage());
        }
    }

    @Test
    void faultIsToldWithItsPlace() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            Fault fault = Fault.newBuilder().setSession(7).setReason("too low").setFaults(1).setFaultLimit(3)
                .addHandValue(1).addDefaultCardsValue(1).build();
            stream.send(Events.response(
                Events.started(), Events.dealt("3D"), Event.newBuilder().setFault(fault).build()));
            bot.told("too low", "session cup/1/1/1, deal 3", "fault 1 of 3", "hand 3D", "played instead 3D");
        }
    }

    static Stream<Ending> endings() {
        return Stream.of(
            Ending.of(Status.Code.UNAVAILABLE),
            new Ending(Status.OK, new Metadata()),
            Ending.of(Status.Code.PERMISSION_DENIED), // from a proxy
            Ending.connected("a"),
            Ending.again(Status.Code.RESOURCE_EXHAUSTED, "FLOOD", 1),
            Ending.again(Status.Code.INVALID_ARGUMENT, "NEW_REASON", 1)
        );
    }

    @ParameterizedTest
    @MethodSource("endings")
    void botConnectsAgain(Ending ending) {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            referee.stream().end(ending);
            Call stream = referee.stream();
            stream.welcome("a");
            stream.plays();
        }
    }

    static Stream<Consumer<Call>> delays() {
        Closing closing =
            Closing.newBuilder().setRetryDelay(Duration.newBuilder().setNanos(700_000_000)).build();
        return Stream.of(
            stream -> stream.end(Ending.again(Status.Code.UNAVAILABLE, "CLOSING", 700)),
            stream -> {
                stream.send(PlayResponse.newBuilder().setClosing(closing));
                stream.plays(); // open sessions go on
                stream.end(Ending.of(Status.Code.UNAVAILABLE));
            }
        );
    }

    @ParameterizedTest
    @MethodSource("delays")
    void botWaitsAsLongAsItIsTold(Consumer<Call> end) {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            long began = System.nanoTime();
            end.accept(stream);
            referee.stream();
            assertTrue(System.nanoTime() - began >= 700_000_000);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "TOKEN_MISSING, UNAUTHENTICATED", "TOKEN_UNKNOWN, UNAUTHENTICATED", "TOKEN_SCOPE, PERMISSION_DENIED",
        "TOKEN_REVOKED, PERMISSION_DENIED", "PROTOCOL_VERSION, FAILED_PRECONDITION",
        "MESSAGE_UNREADABLE, INVALID_ARGUMENT", "NEW_REASON, RESOURCE_EXHAUSTED",
    })
    void botEndsWhenItIsRefused(String reason, Status.Code code) {
        try (FakeReferee referee = new FakeReferee(); FakeReferee other = new FakeReferee();
            RunningBot bot = new RunningBot(referee.address, other.address)) {
            Call stream = other.stream();
            stream.welcome("b");
            stream.answersPing();
            referee.stream().end(Ending.reason(code, reason));
            stream.saysGoodbye();
            Refused refused = bot.fails(Refused.class);
            assertEquals(reason, refused.reason());
            assertEquals("referee " + referee.address + " refuses the bot: " + reason + ": in words",
                refused.getMessage());
        }
    }

    @Test
    void movesAreSplitAtTheLimitOfAMessage() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a"); // without a limit: the smallest
            List<Event> turns = new ArrayList<>();
            for (int session = 1; session <= 1000; session++) {
                turns.add(Events.turn(session));
            }
            stream.send(Events.response(turns.toArray(Event[]::new)));
            int answered = 0;
            while (answered < 1000) {
                PlayRequest request = stream.request();
                assertTrue(request.getSerializedSize() <= 4096);
                answered += request.getMovesCount();
            }
            assertEquals(1000, answered);
        }
    }
}
