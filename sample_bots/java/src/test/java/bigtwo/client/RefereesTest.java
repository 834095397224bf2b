package bigtwo.client;

import static bigtwo.client.FakeReferee.at;
import static org.junit.jupiter.api.Assertions.assertEquals;

import bigtwo.client.FakeReferee.Call;
import bigtwo.client.FakeReferee.Ending;
import bigtwo.referee.v1.Referee;
import io.grpc.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of arenas with several referees. */
final class RefereesTest {
    private final FakeReferee referee = new FakeReferee();
    private final FakeReferee other = new FakeReferee();
    private final FakeReferee balancer = new FakeReferee();
    private final Referee[] arena = {at("a", referee.address), at("b", other.address)};

    @AfterEach
    void close() {
        referee.close();
        other.close();
        balancer.close();
    }

    private static Options three(Options options) {
        return new Options(options.token(), options.referees(), null, 3, false);
    }

    @Test
    void botPlaysAtEveryRefereeOfTheWelcome() {
        try (RunningBot bot = new RunningBot(referee.address)) {
            Call first = referee.stream();
            first.welcome("a", arena);
            Call second = other.stream();
            second.welcome("b", arena);
            second.plays();
            first.plays();
            bot.leaves(first, second);
            referee.noOther();
        }
    }

    @Test
    void botHasOneStreamToARefereeThatIsListedWithAnotherAddress() {
        try (RunningBot bot = new RunningBot(referee.local())) {
            Call first = referee.stream();
            first.welcome("a", arena);
            Call second = other.stream();
            second.welcome("b", arena);
            second.plays();
            first.plays();
            bot.leaves(first, second);
            referee.noOther();
        }
    }

    @Test
    void botGivesUpASecondAddressOfAReferee() {
        try (RunningBot bot = new RunningBot(referee.address, referee.local())) {
            Call first = referee.stream();
            first.welcome("a", at("a", "arena.example.org:8710"));
            first.plays(); // now it has read the welcome
            referee.stream().end(Ending.connected("a"));
            bot.told("not needed");
            first.plays();
            bot.leaves(first);
            referee.noOther();
        }
    }

    @Test
    void botGivesUpAListedAddressThatLeadsNowhereWhenAnotherOneLeadsThere() {
        String nowhere = FakeReferee.nowhere();
        try (RunningBot bot = new RunningBot(nowhere, referee.address)) {
            Call first = referee.stream();
            first.welcome("a", at("a", nowhere));
            bot.told("not needed", nowhere, referee.address);
            first.plays();
            bot.leaves(first);
        }
    }

    @Test
    void botGoesToTheListedAddressWhenItsOwnLeadsToAnotherReferee() {
        try (RunningBot bot = new RunningBot(balancer.address)) {
            Call balanced = balancer.stream();
            balanced.welcome("a", arena);
            Call second = other.stream();
            second.welcome("b", arena);
            second.plays();
            balanced.end(Ending.of(Status.Code.UNAVAILABLE));
            balancer.stream().end(Ending.connected("b"));
            bot.told("not needed", balancer.address, other.address);
            Call first = referee.stream();
            first.welcome("a", arena);
            first.plays();
            bot.leaves(first, second);
            balancer.noOther();
        }
    }

    @Test
    void botTriesAgainWhereAnotherProcessOfItIsConnected() {
        try (RunningBot bot = new RunningBot(other.address, referee.address)) {
            Call second = other.stream();
            second.welcome("b", arena);
            second.plays();
            referee.stream().end(Ending.connected("a"));
            Call first = referee.stream();
            first.welcome("a", arena);
            first.plays();
            bot.leaves(first, second);
        }
    }

    @Test
    void botThatReachesOneOfTwoRefereesAsksItForAllItsSessions() {
        try (RunningBot bot = new RunningBot(RunningBot::first,
            RunningBot.options(RefereesTest::three, balancer.address))) {
            Call stream = balancer.stream();
            assertEquals(3, stream.hello.getMaxSessions());
            stream.welcome(0, "a", at("b", FakeReferee.nowhere()), at("a", balancer.address));
            stream.asks(3);
            bot.leaves(stream);
        }
    }

    @Test
    void botGivesSessionsBackToARefereeThatComesBack() {
        try (RunningBot bot = new RunningBot(RunningBot::first,
            RunningBot.options(RefereesTest::three, referee.address))) {
            Call first = referee.stream();
            first.welcome(2, "a", arena);
            other.stream().end(Ending.of(Status.Code.UNAVAILABLE));
            first.asks(3);
            Call second = other.stream();
            second.welcome(1, "b", arena);
            first.asks(2);
            bot.leaves(first, second);
        }
    }
}
