// Tests of pings, batches, faults, connecting again, and being refused.
#include <pthread.h>

#include <atomic>
#include <future>

#include "events.h"
#include "fake_referee.h"

using bigtwo::Cards;
using bigtwo::Turn;
using grpc::StatusCode;

TEST(Client, AnswersABatchOfTurnsInOneMessage) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.send(events::response({events::turn(8), events::turn(9), events::turn(10)}));
    const auto request = stream.request();
    std::vector<unsigned> sessions;
    for (const auto& move : request.moves()) {
        sessions.push_back(move.session());
    }
    EXPECT_EQ(sessions, (std::vector<unsigned>{8, 9, 10}));
}

TEST(Client, AnswersPingsWhileItThinks) {
    std::promise<void> thinking, decided;
    FakeReferee referee;
    RunningBot bot(RunningBot::options({referee.address}), [&](const Turn& turn) {
        thinking.set_value();
        decided.get_future().wait();
        return turn.legal.at(0);
    });
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.send(events::response({events::started(), events::dealt("3D"), events::turn()}));
    thinking.get_future().wait();
    for (unsigned id = 5; id < 8; id++) {
        stream.ping(id);
        const auto request = stream.request();
        EXPECT_EQ(request.pong().id(), id);
        EXPECT_EQ(request.moves_size(), 0);
    }
    decided.set_value();
    EXPECT_EQ(stream.move().session(), 7u);
}

TEST(Client, DoesNotHoldUpOtherSessionsForOneThatNeverAnswersAndTellsTheRefereeInTime) {
    std::promise<void> over;
    const std::shared_future<void> is_over = over.get_future().share();
    const auto hand = std::make_shared<std::promise<std::string>>();
    const auto asked = std::make_shared<std::atomic<int>>(0);
    FakeReferee referee;
    RunningBot bot(RunningBot::options({referee.address}), [=](const Turn& turn) {
        if (turn.session.started().session() == 7 && (*asked)++ == 0) {
            is_over.wait();
            hand->set_value(turn.session.hand().text());
        }
        return turn.legal.at(0);
    });
    Call& stream = referee.stream();
    stream.welcome("a");
    auto brief = events::turn();
    brief.mutable_turn()->set_decision_ms(500);
    stream.send(events::response(
        {events::started(7), events::dealt("3D"), events::started(8), brief, events::turn(8)}));
    EXPECT_EQ(stream.move().session(), 8u);
    const auto failed = stream.move();
    EXPECT_EQ(failed.session(), 7u);
    EXPECT_EQ(failed.failure(), "no answer within 500 ms");
    bot.told({"the strategy failed in session cup/1/1/1", "no answer within 500 ms"});
    stream.send(events::response({events::turn(8)}));
    EXPECT_EQ(stream.move().session(), 8u);
    stream.send(events::response({events::dealt("4D"), events::turn()}));  // a new strategy answers
    EXPECT_EQ(stream.move().cards(0), referee::v1::CARD_3D);
    over.set_value();
    EXPECT_EQ(hand->get_future().get(), "3D");  // as it was, though the session has gone on
}

TEST(Client, TellsOfAStrategyThatEndsItsThread) {
    std::atomic<int> asked = 0;
    FakeReferee referee;
    RunningBot bot(RunningBot::options({referee.address}), [&](const Turn& turn) {
        if (asked++ == 0) {
            pthread_exit(nullptr);
        }
        return turn.legal.at(0);
    });
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.send(events::response({events::started(), events::dealt("3D"), events::turn()}));
    EXPECT_EQ(stream.move().failure(), "the strategy ended its thread");
    stream.plays();
}

TEST(Client, EndsWhenTheStrategyOfAStrictBotFails) {
    FakeReferee referee;
    bigtwo::Options options = RunningBot::options({referee.address});
    options.strict = true;
    RunningBot bot(options, [](const Turn&) -> Cards { throw std::runtime_error("no idea"); });
    Call& stream = referee.stream();
    stream.welcome("a");
    stream.send(events::response({events::started(), events::dealt("3D"), events::turn()}));
    EXPECT_EQ(stream.move().failure(), "std::runtime_error: no idea");
    stream.says_goodbye();
    EXPECT_STREQ(bot.fails<bigtwo::StrategyFailed>().what(),
                 "the strategy failed in session cup/1/1/1, deal 3, with hand 3D, to beat nothing: "
                 "std::runtime_error: no idea");
}

TEST(Client, TellsOfAFaultWithItsPlace) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");
    referee::v1::Event event;
    auto& fault = *event.mutable_fault();
    fault.set_session(7);
    fault.set_reason("too low");
    fault.set_faults(1);
    fault.set_fault_limit(3);
    fault.add_hand(referee::v1::CARD_3D);
    fault.add_default_cards(referee::v1::CARD_3D);
    stream.send(events::response({events::started(), events::dealt("3D"), event}));
    bot.told({"too low", "session cup/1/1/1, deal 3", "fault 1 of 3", "hand 3D", "played instead 3D"});
}

TEST(Client, ConnectsAgain) {
    const std::vector<grpc::Status> endings = {
        ending::of(StatusCode::UNAVAILABLE),
        grpc::Status::OK,
        ending::of(StatusCode::PERMISSION_DENIED),  // from a proxy
        ending::connected("a"),
        ending::again(StatusCode::RESOURCE_EXHAUSTED, "FLOOD", 1),
        ending::again(StatusCode::INVALID_ARGUMENT, "NEW_REASON", 1),
    };
    for (const grpc::Status& status : endings) {
        FakeReferee referee;
        RunningBot bot(referee.address);
        referee.stream().end(status);
        Call& stream = referee.stream();
        stream.welcome("a");
        stream.plays();
    }
}

TEST(Client, WaitsAsLongAsItIsTold) {
    referee::v1::PlayResponse closing;
    closing.mutable_closing()->mutable_retry_delay()->set_nanos(700'000'000);
    const std::vector<std::function<void(Call&)>> ends = {
        [](Call& stream) { stream.end(ending::again(StatusCode::UNAVAILABLE, "CLOSING", 700)); },
        [&](Call& stream) {
            stream.send(closing);
            stream.plays();  // open sessions go on
            stream.end(ending::of(StatusCode::UNAVAILABLE));
        },
    };
    for (const auto& end : ends) {
        FakeReferee referee;
        RunningBot bot(referee.address);
        Call& stream = referee.stream();
        stream.welcome("a");
        const auto began = std::chrono::steady_clock::now();
        end(stream);
        referee.stream();
        EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(700));
    }
}

TEST(Client, EndsWhenItIsRefused) {
    const std::vector<std::pair<std::string, StatusCode>> refusals = {
        {"TOKEN_MISSING", StatusCode::UNAUTHENTICATED},   {"TOKEN_UNKNOWN", StatusCode::UNAUTHENTICATED},
        {"TOKEN_SCOPE", StatusCode::PERMISSION_DENIED},   {"TOKEN_REVOKED", StatusCode::PERMISSION_DENIED},
        {"PROTOCOL_VERSION", StatusCode::FAILED_PRECONDITION}, {"MESSAGE_UNREADABLE", StatusCode::INVALID_ARGUMENT},
        {"NEW_REASON", StatusCode::RESOURCE_EXHAUSTED},
    };
    for (const auto& [reason, code] : refusals) {
        FakeReferee referee, other;
        RunningBot bot(referee.address, other.address);
        Call& stream = other.stream();
        stream.welcome("b");
        stream.answers_ping();
        referee.stream().end(ending::reason(code, reason));
        stream.says_goodbye();
        const auto refused = bot.fails<bigtwo::Refused>();
        EXPECT_EQ(refused.reason(), reason);
        EXPECT_EQ(refused.what(), "referee " + referee.address + " refuses the bot: " + reason + ": in words");
    }
}

TEST(Client, SplitsMovesAtTheLimitOfAMessage) {
    FakeReferee referee;
    RunningBot bot(referee.address);
    Call& stream = referee.stream();
    stream.welcome("a");  // without a limit: the smallest
    referee::v1::PlayResponse response;
    for (unsigned session = 1; session <= 1000; session++) {
        *response.add_events() = events::turn(session);
    }
    stream.send(response);
    int answered = 0;
    while (answered < 1000) {
        const auto request = stream.request();
        EXPECT_LE(request.ByteSizeLong(), 4096u);
        answered += request.moves_size();
    }
    EXPECT_EQ(answered, 1000);
}
