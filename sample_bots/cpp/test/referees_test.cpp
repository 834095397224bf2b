// Tests of arenas with several referees.
#include "fake_referee.h"

namespace {

struct RefereesTest : testing::Test {
    FakeReferee referee, other, balancer;
    const std::vector<referee::v1::Referee> arena = {at("a", referee.address), at("b", other.address)};

    static bigtwo::Options three(std::vector<std::string> addresses) {
        bigtwo::Options options = RunningBot::options(std::move(addresses));
        options.max_sessions = 3;
        return options;
    }
};

}  // namespace

TEST_F(RefereesTest, BotPlaysAtEveryRefereeOfTheWelcome) {
    RunningBot bot(referee.address);
    Call& one = referee.stream();
    one.welcome("a", arena);
    Call& two = other.stream();
    two.welcome("b", arena);
    two.plays();
    one.plays();
    bot.leaves({&one, &two});
    referee.no_other();
}

TEST_F(RefereesTest, BotHasOneStreamToARefereeThatIsListedWithAnotherAddress) {
    RunningBot bot(referee.local());
    Call& one = referee.stream();
    one.welcome("a", arena);
    Call& two = other.stream();
    two.welcome("b", arena);
    two.plays();
    one.plays();
    bot.leaves({&one, &two});
    referee.no_other();
}

TEST_F(RefereesTest, BotGivesUpASecondAddressOfAReferee) {
    RunningBot bot(referee.address, referee.local());
    Call& one = referee.stream();
    one.welcome("a", {at("a", "arena.example.org:8710")});
    one.plays();  // now it has read the welcome
    referee.stream().end(ending::connected("a"));
    bot.told({"not needed"});
    one.plays();
    bot.leaves({&one});
    referee.no_other();
}

TEST_F(RefereesTest, BotGivesUpAListedAddressThatLeadsNowhereWhenAnotherOneLeadsThere) {
    const std::string listed = nowhere();
    RunningBot bot(listed, referee.address);
    Call& one = referee.stream();
    one.welcome("a", {at("a", listed)});
    bot.told({"not needed", listed, referee.address});
    one.plays();
    bot.leaves({&one});
}

TEST_F(RefereesTest, BotGoesToTheListedAddressWhenItsOwnLeadsToAnotherReferee) {
    RunningBot bot(balancer.address);
    Call& balanced = balancer.stream();
    balanced.welcome("a", arena);
    Call& two = other.stream();
    two.welcome("b", arena);
    two.plays();
    balanced.end(ending::of(grpc::StatusCode::UNAVAILABLE));
    balancer.stream().end(ending::connected("b"));
    bot.told({"not needed", balancer.address, other.address});
    Call& one = referee.stream();
    one.welcome("a", arena);
    one.plays();
    bot.leaves({&one, &two});
    balancer.no_other();
}

TEST_F(RefereesTest, BotTriesAgainWhereAnotherProcessOfItIsConnected) {
    RunningBot bot(other.address, referee.address);
    Call& two = other.stream();
    two.welcome("b", arena);
    two.plays();
    referee.stream().end(ending::connected("a"));
    Call& one = referee.stream();
    one.welcome("a", arena);
    one.plays();
    bot.leaves({&one, &two});
}

TEST_F(RefereesTest, BotThatReachesOneOfTwoRefereesAsksItForAllItsSessions) {
    RunningBot bot(three({balancer.address}));
    Call& stream = balancer.stream();
    EXPECT_EQ(stream.hello.max_sessions(), 3u);
    stream.welcome(0, "a", {at("b", nowhere()), at("a", balancer.address)});
    stream.asks(3);
    bot.leaves({&stream});
}

TEST_F(RefereesTest, BotGivesSessionsBackToARefereeThatComesBack) {
    RunningBot bot(three({referee.address}));
    Call& one = referee.stream();
    one.welcome(2, "a", arena);
    other.stream().end(ending::of(grpc::StatusCode::UNAVAILABLE));
    one.asks(3);
    Call& two = other.stream();
    two.welcome(1, "b", arena);
    one.asks(2);
    bot.leaves({&one, &two});
}
