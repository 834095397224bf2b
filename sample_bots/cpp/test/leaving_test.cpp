// Tests of finishing and leaving.
#include "events.h"
#include "fake_referee.h"

TEST(Leaving, PlaysSessionsToTheirEnd) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.plays();
    bot.client.finish();
    stream.asks(0);
    stream.plays();
    stream.send(events::response({events::ended()}));
    stream.says_goodbye();
    bot.ends();
}

TEST(Leaving, ComesBackToOpenSessions) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& before = referee.stream();
    before.welcome("a");
    before.plays();
    bot.client.finish();
    before.asks(0);
    before.end(ending::of(grpc::StatusCode::UNAVAILABLE));
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.asks(0);
    stream.plays();
    stream.send(events::response({events::ended()}));
    stream.says_goodbye();
    bot.ends();
}

TEST(Leaving, LeavesWithoutASession) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.answers_ping();
    bot.client.finish();
    stream.asks(0);
    stream.says_goodbye();
    bot.ends();
}

TEST(Leaving, SaysGoodbyeAtOnceWhenItIsToldTo) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.plays();
    bot.client.finish();
    stream.asks(0);
    bot.leaves({&stream});
}

TEST(Leaving, EndsWhileNoRefereeIsThere) {
    RunningBot bot(nowhere());
    bot.client.finish();
    bot.ends();
}

TEST(Leaving, LeavesTheStreamOfARefereeThatDoesNotWelcomeIt) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    referee.stream();
    bot.client.leave();
    bot.ends();
}
