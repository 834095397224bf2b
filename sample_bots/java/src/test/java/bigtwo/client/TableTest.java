package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bigtwo.referee.v1.Action;
import bigtwo.referee.v1.ActionKind;
import bigtwo.referee.v1.DealEnded;
import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.Fault;
import bigtwo.referee.v1.Move;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of what becomes of events, and of strategies that fail. */
final class TableTest {
    private final List<Move> moves = new ArrayList<>();
    private final List<String> log = new ArrayList<>();
    private final List<Runnable> thoughts = new ArrayList<>();
    private final List<Session> made = new ArrayList<>();
    private Table table;

    /** Thinks when the test says so; what is cancelled is never heard of. */
    private final class Later implements Thinker {
        @Override
        public <T> Runnable think(Callable<T> thought, Duration limit, Consumer<Outcome<T>> done) {
            Runnable work = () -> done.accept(Thinker.outcome(thought));
            thoughts.add(work);
            return () -> thoughts.remove(work);
        }
    }

    private void tableOf(Strategy strategy) {
        makes(session -> {
            made.add(session);
            return strategy;
        });
    }

    private void makes(Maker maker) {
        table = new Table(maker, new Later(), new Story(line -> { }, InstantSource.system()), log::add,
            failure -> { }, moves::add);
    }

    private void take(Event... events) {
        List.of(events).forEach(table::take);
    }

    private void think() {
        List<Runnable> now = List.copyOf(thoughts);
        thoughts.clear();
        now.forEach(Runnable::run);
    }

    private static Action action(int seat, ActionKind kind, String cards) {
        return Action.newBuilder().setSeat(seat).setKind(kind).addAllCardsValue(Cards.parse(cards).list()).build();
    }

    private static Action exchange(int seat, int partner, String cards) {
        return action(seat, ActionKind.ACTION_KIND_EXCHANGE, cards).toBuilder().setPartner(partner).build();
    }

    private static Event since(Action... actions) {
        return Events.turn(bigtwo.referee.v1.Turn.newBuilder().setSession(7).addAllActions(List.of(actions)));
    }

    @Test
    void sessionIsTheSumOfItsEvents() {
        tableOf(RunningBot::first);
        take(Events.started(), Events.dealt("3D 3C 3H"), since(
            exchange(2, 1, "2S"),
            exchange(1, 2, "3D"),
            exchange(0, 2, ""),
            action(0, ActionKind.ACTION_KIND_PLAY, "4D"),
            Action.newBuilder().setSeat(1).setKind(ActionKind.ACTION_KIND_PASS)
                .setDrawn(1).addDrawnCardsValue(6).build(),
            action(2, ActionKind.ACTION_KIND_BOMB, "5D 5C"),
            Action.newBuilder().setSeat(8).setKindValue(99).addCardsValue(63).build()
        ));
        think();
        Session session = made.get(0);
        assertEquals(Cards.parse("3C 3H 2S 4C"), session.hand());
        assertEquals(List.of(1, 4, 4), List.of(session.count(0), session.count(1), session.count(2)));
        assertEquals("4D 5D 5C #63", session.gone().toString());
        assertEquals(3, session.deal());
        assertEquals(2, session.next(0));
        take(Event.newBuilder().setDealEnded(DealEnded.newBuilder().setSession(7).addAllScores(List.of(0, -3, 2))
            .addActions(action(0, ActionKind.ACTION_KIND_PLAY, "5S"))).build());
        assertEquals(0, session.count(0));
        assertEquals(List.of(0, -3, 2), session.scores());
        take(Events.dealt("3D"));
        assertEquals(Cards.parse("3D"), session.hand());
        assertTrue(session.gone().isEmpty() && session.actions().isEmpty());
        take(Events.ended(7));
        assertFalse(table.isBusy());
    }

    private Move answered(Strategy strategy, bigtwo.referee.v1.Turn.Builder turn) {
        tableOf(strategy);
        take(Events.started(), Events.dealt("3D 3C 3H"), Events.turn(turn.setSession(7)));
        think();
        assertEquals(1, moves.size());
        assertEquals(7, moves.get(0).getSession());
        assertEquals(4, moves.get(0).getSequence());
        return moves.get(0);
    }

    @Test
    void turnIsAnsweredWithTheStrategysPlayOrPass() {
        Move played = answered(turn -> turn.legal().get(1), bigtwo.referee.v1.Turn.newBuilder().setCanPass(true));
        assertEquals(Cards.parse("3C 3H"), Cards.of(played.getCardsValueList()));
        assertFalse(played.getPasses());
        moves.clear();
        Move passed = answered(turn -> Cards.NONE, bigtwo.referee.v1.Turn.newBuilder().setCanPass(true));
        assertTrue(passed.getPasses() && passed.getCardsCount() == 0);
    }

    @Test
    void turnOfAnUnknownKindIsAPassOrTheFirstPlay() {
        Strategy never = turn -> {
            throw new AssertionError("asked");
        };
        assertTrue(answered(never, bigtwo.referee.v1.Turn.newBuilder().setKindValue(77).setCanPass(true)).getPasses());
        moves.clear();
        Move played = answered(never, bigtwo.referee.v1.Turn.newBuilder().setKindValue(77));
        assertEquals(List.of(1), played.getCardsValueList());
    }

    /** An error that cannot even be shown. */
    private static final class Unspeakable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            throw new IllegalStateException();
        }
    }

    static Cards endless(Turn turn) {
        return endless(turn);
    }

    record Misuse(String told, Strategy strategy) { }

    static Stream<Misuse> misuses() {
        return Stream.of(
            new Misuse("java.lang.IllegalStateException: no idea\n  at bigtwo.client.TableTest.", turn -> {
                throw new IllegalStateException("no idea");
            }),
            new Misuse("java.lang.Exception: checked\n  at ", turn -> {
                throw new Exception("checked");
            }),
            new Misuse("java.lang.ArrayIndexOutOfBoundsException: Index 99 ", turn -> turn.legal().get(99)),
            new Misuse("java.lang.UnsupportedOperationException", turn -> turn.legal().remove(0)),
            new Misuse("java.lang.StackOverflowError\n  at bigtwo.client.TableTest.endless(", TableTest::endless),
            new Misuse("java.lang.NullPointerException: choose returned null; a pass is Cards.NONE", turn -> null),
            new Misuse("java.lang.InterruptedException", turn -> {
                throw new InterruptedException();
            }),
            new Misuse(Unspeakable.class.getName() + "\n  at ", turn -> {
                throw new Unspeakable();
            })
        );
    }

    @ParameterizedTest
    @MethodSource("misuses")
    void strategyThatFailsFailsInThatTurnAlone(Misuse misuse) {
        boolean[] failed = {false};
        tableOf(turn -> {
            if (failed[0]) {
                return turn.legal().get(0);
            }
            failed[0] = true;
            return misuse.strategy.choose(turn);
        });
        take(Events.started(), Events.dealt("3D 3C 3H"), since());
        think();
        take(since());
        think();
        assertEquals(2, moves.size());
        String failure = moves.get(0).getFailure();
        assertTrue(failure.startsWith(misuse.told), failure);
        assertFalse(moves.get(0).getPasses() || moves.get(0).getCardsCount() > 0);
        assertEquals(List.of(1), moves.get(1).getCardsValueList());
        assertEquals(1, log.size());
        assertTrue(log.get(0).startsWith(
            "the strategy failed in session cup/1/1/1, deal 3, with hand 3D 3C 3H, to beat nothing: " + misuse.told));
    }

    @Test
    void longFailureIsCutToWhatTheRefereeKeeps() {
        Move move = answered(turn -> {
            throw new IllegalStateException("x".repeat(5000));
        }, bigtwo.referee.v1.Turn.newBuilder());
        assertEquals(1000, move.getFailure().length());
    }

    @Test
    void makerThatFailsIsToldOfEachTurn() {
        int[] attempts = {0};
        makes(session -> {
            if (++attempts[0] == 1) {
                throw new IllegalStateException("not ready");
            }
            return attempts[0] == 2 ? null : RunningBot::first;
        });
        take(Events.started(), Events.dealt("3D 3C 3H"));
        for (int turn = 0; turn < 3; turn++) {
            take(since());
            think();
        }
        assertTrue(moves.get(0).getFailure().startsWith("java.lang.IllegalStateException: not ready"));
        assertTrue(moves.get(1).getFailure().contains("no strategy was made for the session"));
        assertEquals(List.of(1), moves.get(2).getCardsValueList());
    }

    static Stream<Event> overtaking() {
        return Stream.of(
            Events.ended(7), Events.dealt("3D"), Events.started(),
            Event.newBuilder().setDealEnded(DealEnded.newBuilder().setSession(7)).build(),
            Event.newBuilder().setFault(Fault.newBuilder().setSession(7).setSequence(4)).build()
        );
    }

    @ParameterizedTest
    @MethodSource("overtaking")
    void thoughtIsGivenUpWhenTheRefereeHasGoneOn(Event event) {
        tableOf(RunningBot::first);
        take(Events.started(), Events.dealt("3D"), since());
        assertTrue(table.isThinking());
        take(event);
        assertFalse(table.isThinking());
        think();
        assertEquals(List.of(), moves);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{", "null", "{'new': 1}", "{'ranks': ['16'], 'suits': ['D']}", "{'ranks': ['3'], 'suits': ['X']}",
        "{'ranks': 3, 'suits': ['D']}",
    })
    void sessionThatCannotBeReadIsPlayedByDefault(String ruleset) {
        tableOf(RunningBot::first);
        take(Event.newBuilder().setSessionStarted(Events.session().setRuleset(ruleset.replace('\'', '"'))).build(),
            Events.dealt("3D"), since());
        assertEquals(List.of(1), moves.get(0).getCardsValueList());
        assertEquals(List.of(), thoughts);
        assertTrue(log.get(0).startsWith("session cup/1/1/1 cannot be read"));
    }

    @Test
    void unknownEventIsIgnored() throws InvalidProtocolBufferException {
        tableOf(RunningBot::first);
        take(Event.parseFrom(ByteString.fromHex("a2060100")));
        assertEquals(List.of(), moves);
    }
}
