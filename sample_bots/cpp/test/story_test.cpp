// Tests of what the log tells of sessions.
#include "client/story.h"

#include <gtest/gtest.h>

#include "events.h"

using bigtwo::Story;

namespace {

struct StoryTest : testing::Test {
    std::vector<std::string> log;
    Story::Clock::time_point now{};
    Story story{[this](const std::string& line) { log.push_back(line); }, [this] { return now; }};

    static bigtwo::Session rated(int value, unsigned matches) {
        referee::v1::SessionStarted started = events::session();
        started.set_tournament("cup");
        auto& ratings = *started.mutable_ratings();
        ratings.set_pool("two");
        for (int each : {1510, value, 1490}) {
            ratings.add_values(each);
        }
        for (unsigned each : {3u, matches, 0u}) {
            ratings.add_matches(each);
        }
        return bigtwo::Session(started);
    }

    static referee::v1::SessionEnded scores(const std::vector<int>& scores) {
        referee::v1::SessionEnded ended;
        ended.mutable_scores()->Add(scores.begin(), scores.end());
        return ended;
    }
};

}  // namespace

TEST_F(StoryTest, TellsOfSessionsResultsAndRatings) {
    story.began(rated(1500, 0));
    story.ended(rated(1500, 0), scores({5, -3, -2}));
    story.began(rated(1507, 1));
    story.began(rated(1500, 0));  // of a match that was handed out earlier
    story.began(rated(1499, 2));
    story.ended(rated(1499, 2), scores({}));
    const std::string begins = "session begins cup/1/1/1: tournament cup, seat 1, against a (1510), c (not rated yet), small";
    EXPECT_EQ(log, (std::vector<std::string>{
                       "not rated yet in two, begins with 1500", begins,
                       "session cup/1/1/1 has ended: points -3, place 3 of 3",
                       "rated 1507 (+7) in two", begins, begins,
                       "rated 1499 (-8) in two", begins,
                       "session cup/1/1/1 is void, it may be continued later",
                   }));
}

TEST_F(StoryTest, OnlyCountsManySessions) {
    for (int session = 0; session < Story::MOST_LINES; session++) {
        story.ended(rated(1500, 0), scores({0, 1, 0}));
    }
    EXPECT_EQ(log.size(), static_cast<std::size_t>(Story::MOST_LINES));
    log.clear();
    story.began(rated(1500, 0));
    story.ended(rated(1500, 0), scores({0, 1, 0}));
    story.ended(rated(1500, 0), scores({0, 4, 0}));
    EXPECT_EQ(log, std::vector<std::string>{"not rated yet in two, begins with 1500"});
    log.clear();
    now += Story::PERIOD;
    story.ended(rated(1500, 0), scores({0, 1, 0}));
    story.end();
    EXPECT_EQ(log, (std::vector<std::string>{
                       "not shown one by one: 1 begun, 2 ended, points 5",
                       "session cup/1/1/1 has ended: points 1, place 1 of 3",
                   }));
}
