package bigtwo.client;

import bigtwo.client.FakeReferee.Call;
import bigtwo.client.FakeReferee.Ending;
import io.grpc.Status;
import org.junit.jupiter.api.Test;

/** Tests of finishing and leaving. */
final class LeavingTest {
    @Test
    void botThatFinishesPlaysItsSessionsToTheirEnd() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.plays();
            bot.client.finish();
            stream.asks(0);
            stream.plays();
            stream.send(Events.response(Events.ended(7)));
            stream.saysGoodbye();
            bot.ends();
        }
    }

    @Test
    void botThatFinishesComesBackToItsSessions() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call first = referee.stream();
            first.welcome("a");
            first.plays();
            bot.client.finish();
            first.asks(0);
            first.end(Ending.of(Status.Code.UNAVAILABLE));
            Call stream = referee.stream();
            stream.welcome("a");
            stream.asks(0);
            stream.plays();
            stream.send(Events.response(Events.ended(7)));
            stream.saysGoodbye();
            bot.ends();
        }
    }

    @Test
    void botThatFinishesWithoutASessionLeaves() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.answersPing();
            bot.client.finish();
            stream.asks(0);
            stream.saysGoodbye();
            bot.ends();
        }
    }

    @Test
    void botThatLeavesSaysGoodbyeAtOnce() {
        try (FakeReferee referee = new FakeReferee(); RunningBot bot = new RunningBot(referee.address)) {
            Call stream = referee.stream();
            stream.welcome("a");
            stream.plays();
            bot.client.finish();
            stream.asks(0);
            bot.leaves(stream);
        }
    }

    @Test
    void botThatFinishesWhileNoRefereeIsThereEnds() {
        try (RunningBot bot = new RunningBot(FakeReferee.nowhere())) {
            bot.client.finish();
            bot.ends();
        }
    }
}
