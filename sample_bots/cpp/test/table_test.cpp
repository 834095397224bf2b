// Tests of what becomes of events, and of strategies that fail.
#include "client/table.h"

#include <gtest/gtest.h>

#include "client/testing.h"
#include "events.h"
#include "fake_referee.h"

using bigtwo::Cards;
using bigtwo::Outcome;
using bigtwo::Turn;

namespace v1 = referee::v1;

namespace {

/// Thinks when the test says so; what is cancelled is never heard of.
class Later : public bigtwo::Thinker {
public:
    bigtwo::Work think(bigtwo::Thought thought, std::optional<bigtwo::Milliseconds>,
                       std::function<void(const Outcome&)> done) override {
        const int number = next_++;
        thoughts_[number] = [=] { done(bigtwo::outcome_of(thought)); };
        return [this, number] { thoughts_.erase(number); };
    }

    void think() {
        for (const auto& [number, work] : std::exchange(thoughts_, {})) {
            work();
        }
    }

    bool has_thoughts() const { return !thoughts_.empty(); }

private:
    int next_ = 0;
    std::map<int, bigtwo::Work> thoughts_;
};

struct TableTest : testing::Test {
    Later thinker;
    bigtwo::Story story{[](const std::string&) {}};
    std::vector<std::string> log;
    std::vector<v1::Move> moves;
    std::unique_ptr<bigtwo::Table> table;

    void table_of(bigtwo::Maker maker) {
        table = std::make_unique<bigtwo::Table>(
            std::move(maker), thinker, story, [this](const std::string& line) { log.push_back(line); },
            [](const bigtwo::StrategyFailed&) {}, [this](v1::Move move) { moves.push_back(std::move(move)); });
    }

    void take(const std::vector<v1::Event>& events) {
        for (const v1::Event& event : events) {
            table->take(event);
        }
    }

    v1::Move answered(Choose choose, const std::function<void(v1::Turn&)>& change) {
        table_of(chooses(std::move(choose)));
        v1::Event event = events::turn();
        change(*event.mutable_turn());
        take({events::started(), events::dealt("3D 3C 3H"), event});
        thinker.think();
        EXPECT_EQ(moves.size(), 1u);
        const v1::Move move = moves.at(0);
        moves.clear();
        EXPECT_EQ(move.session(), 7u);
        EXPECT_EQ(move.sequence(), 4u);
        return move;
    }
};

v1::Action action(unsigned seat, v1::ActionKind kind, const std::string& cards) {
    v1::Action action;
    action.set_seat(seat);
    action.set_kind(kind);
    Cards::parse(cards).put_into(*action.mutable_cards());
    return action;
}

v1::Action exchange(unsigned seat, unsigned partner, const std::string& cards) {
    v1::Action given = action(seat, v1::ACTION_KIND_EXCHANGE, cards);
    given.set_partner(partner);
    return given;
}

}  // namespace

TEST_F(TableTest, SessionIsTheSumOfItsEvents) {
    const bigtwo::Session* session = nullptr;
    table_of([&](const bigtwo::Session& of) {
        session = &of;
        return chooses(first)(of);
    });
    v1::Action drawn = action(1, v1::ACTION_KIND_PASS, "");
    drawn.set_drawn(1);
    drawn.add_drawn_cards(v1::CARD_4C);
    v1::Action unknown = action(8, static_cast<v1::ActionKind>(99), "");
    unknown.add_cards(static_cast<v1::Card>(63));
    v1::Event turn = events::turn();
    for (const v1::Action& each :
         {exchange(2, 1, "2S"), exchange(1, 2, "3D"), exchange(0, 2, ""), action(0, v1::ACTION_KIND_PLAY, "4D"), drawn,
          action(2, v1::ACTION_KIND_BOMB, "5D 5C"), unknown}) {
        *turn.mutable_turn()->add_actions() = each;
    }
    take({events::started(), events::dealt("3D 3C 3H"), turn});
    thinker.think();
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->hand(), Cards::parse("3C 3H 2S 4C"));
    EXPECT_EQ((std::vector{session->count(0), session->count(1), session->count(2)}), (std::vector{1, 4, 4}));
    EXPECT_EQ(session->gone().text(), "4D 5D 5C #63");
    EXPECT_EQ(session->deal(), 3);
    EXPECT_EQ(session->next(0), 2);
    v1::Event over;
    over.mutable_deal_ended()->set_session(7);
    *over.mutable_deal_ended()->add_actions() = action(0, v1::ACTION_KIND_PLAY, "5S");
    for (int score : {0, -3, 2}) {
        over.mutable_deal_ended()->add_scores(score);
    }
    take({over});
    EXPECT_EQ(session->count(0), 0);
    EXPECT_EQ(session->scores(), (std::vector{0, -3, 2}));
    take({events::dealt("3D")});
    EXPECT_EQ(session->hand(), Cards::parse("3D"));
    EXPECT_TRUE(session->gone().empty() && session->actions().empty());
    take({events::ended()});
    EXPECT_FALSE(table->busy());
}

TEST_F(TableTest, TurnIsAnsweredWithTheStrategysPlayOrPass) {
    const auto passable = [](v1::Turn& turn) { turn.set_can_pass(true); };
    const v1::Move played = answered([](const Turn& turn) { return turn.legal.at(1); }, passable);
    EXPECT_EQ(Cards::of(played.cards()), Cards::parse("3C 3H"));
    EXPECT_FALSE(played.passes());
    const v1::Move passed = answered([](const Turn&) { return Cards(); }, passable);
    EXPECT_TRUE(passed.passes() && passed.cards().empty());
}

TEST_F(TableTest, TurnOfAnUnknownKindIsAPassOrTheFirstPlay) {
    const Choose never = [](const Turn&) -> Cards { throw std::logic_error("asked"); };
    const auto unknown = [](v1::Turn& turn) { turn.set_kind(static_cast<v1::TurnKind>(77)); };
    EXPECT_EQ(Cards::of(answered(never, unknown).cards()), Cards::parse("3D"));
    EXPECT_TRUE(answered(never, [&](v1::Turn& turn) {
                    unknown(turn);
                    turn.set_can_pass(true);
                }).passes());
}

TEST_F(TableTest, StrategyThatFailsFailsInThatTurnAlone) {
    const std::vector<std::pair<std::string, Choose>> misuses = {
        {"std::runtime_error: no idea", [](const Turn&) -> Cards { throw std::runtime_error("no idea"); }},
        {"std::out_of_range: vector", [](const Turn& turn) { return turn.legal.at(99); }},
        {"std::out_of_range: vector", [](const Turn& turn) { return turn.legal.at(turn.session.count(-1)); }},
        {"std::invalid_argument: not a card: 3X", [](const Turn&) { return Cards::parse("3X"); }},
        {"int was thrown, which is no std::exception", [](const Turn&) -> Cards { throw 42; }},
        {"char const* was thrown, which is no", [](const Turn&) -> Cards { throw "no idea"; }},
        {"std::bad_function_call: ", [](const Turn& turn) { return Choose()(turn); }},
        {"std::logic_error: choose returned 1000000 cards",
         [](const Turn&) { return Cards(std::vector<int>(1'000'000, v1::CARD_3D)); }},
        {"std::runtime_error: ??\xC3\xA9?", [](const Turn&) -> Cards { throw std::runtime_error("\xFF\xC0\xC3\xA9\xC3"); }},
    };
    for (const auto& [told, misuse] : misuses) {
        moves.clear();
        log.clear();
        bool failed = false;
        table_of(chooses([&](const Turn& turn) {
            return std::exchange(failed, true) ? turn.legal.at(0) : misuse(turn);
        }));
        take({events::started(), events::dealt("3D 3C 3H"), events::turn()});
        thinker.think();
        take({events::turn()});
        thinker.think();
        ASSERT_EQ(moves.size(), 2u);
        EXPECT_TRUE(moves[0].failure().starts_with(told)) << moves[0].failure();
        EXPECT_FALSE(moves[0].passes() || !moves[0].cards().empty());
        EXPECT_EQ(Cards::of(moves[1].cards()), Cards::parse("3D"));
        ASSERT_EQ(log.size(), 1u);
        EXPECT_TRUE(log[0].starts_with(
            "the strategy failed in session cup/1/1/1, deal 3, with hand 3D 3C 3H, to beat nothing: " + told))
            << log[0];
    }
}

TEST_F(TableTest, FailureIsCutToWhatTheRefereeKeepsOfUtf8) {
    std::string text;
    for (int count = 0; count < 5000; count++) {
        text += "\xF0\x9F\x82\xA1";  // a playing card
    }
    EXPECT_EQ(bigtwo::brief(text), text.substr(0, 4000));
    EXPECT_EQ(bigtwo::brief("a\xED\xA0\x80"  // a surrogate
                            "b\xE0\x80\x80"  // longer than needed
                            "c\xF4\x90\x80\x80"  // beyond Unicode
                            "d\xE2\x82"),
              "a???b???c????d??");
}

TEST_F(TableTest, MakerThatFailsIsToldOfEachTurn) {
    int attempts = 0;
    table_of([&](const bigtwo::Session& session) -> std::unique_ptr<bigtwo::Strategy> {
        if (++attempts == 1) {
            throw std::runtime_error("not ready");
        }
        return attempts == 2 ? nullptr : chooses(first)(session);
    });
    take({events::started(), events::dealt("3D 3C 3H")});
    for (int turn = 0; turn < 3; turn++) {
        take({events::turn()});
        thinker.think();
    }
    EXPECT_EQ(moves.at(0).failure(), "std::runtime_error: not ready");
    EXPECT_EQ(moves.at(1).failure(), "std::logic_error: no strategy was made for the session, but null");
    EXPECT_EQ(Cards::of(moves.at(2).cards()), Cards::parse("3D"));
}

TEST_F(TableTest, ThoughtIsGivenUpWhenTheRefereeHasGoneOn) {
    v1::Event deal_ended, fault;
    deal_ended.mutable_deal_ended()->set_session(7);
    fault.mutable_fault()->set_session(7);
    fault.mutable_fault()->set_sequence(4);
    for (const v1::Event& event : {events::ended(), events::dealt("3D"), events::started(), deal_ended, fault}) {
        table_of(chooses(first));
        take({events::started(), events::dealt("3D"), events::turn()});
        EXPECT_TRUE(table->thinking());
        take({event});
        EXPECT_FALSE(table->thinking());
        thinker.think();
        EXPECT_TRUE(moves.empty());
    }
}

TEST_F(TableTest, SessionThatCannotBeReadIsPlayedByDefault) {
    for (const char* ruleset :
         {"{", "null", R"({"new": 1})", R"({"ranks": ["16"], "suits": ["D"]})", R"({"ranks": ["3"], "suits": ["X"]})",
          R"({"ranks": 3, "suits": ["D"]})", R"({"ranks": ["3"], "suits": ["D"], "jokers": 3e9})"}) {
        log.clear();
        moves.clear();
        table_of(chooses(first));
        v1::SessionStarted started = events::session();
        started.set_ruleset(ruleset);
        take({events::started(started), events::dealt("3D"), events::turn()});
        ASSERT_EQ(moves.size(), 1u) << ruleset;
        EXPECT_EQ(Cards::of(moves[0].cards()), Cards::parse("3D"));
        EXPECT_FALSE(thinker.has_thoughts());
        EXPECT_TRUE(log.at(0).starts_with("session cup/1/1/1 cannot be read"));
    }
}

TEST_F(TableTest, UnknownEventIsIgnored) {
    table_of(chooses(first));
    v1::Event event;
    ASSERT_TRUE(event.ParseFromString(std::string("\xa2\x06\x01\x00", 4)));
    take({event});
    EXPECT_TRUE(moves.empty());
}

TEST(Testing, FailsWhereAnAnswerIsNotLegalOrTheStrategyFails) {
    bigtwo::Testing illegal(chooses([](const Turn&) { return Cards(); }), bigtwo::Testing::CHINESE, 2);
    illegal.deal("3D", {1});
    EXPECT_THROW(illegal.turn("", "3D"), std::logic_error);
    EXPECT_TRUE(illegal.turn("3D", "").empty());
    bigtwo::Testing failing(chooses([](const Turn&) -> Cards { throw 42; }), bigtwo::Testing::CHINESE, 2);
    failing.deal("3D", {1});
    EXPECT_THROW(failing.turn("", "3D"), bigtwo::StrategyFailed);
    EXPECT_THROW(bigtwo::Testing(chooses(first), "{}", 2), std::invalid_argument);
}
