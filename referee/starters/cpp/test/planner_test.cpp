#include "bot/planner.h"

#include <gtest/gtest.h>

#include "client/testing.h"

using bigtwo::Cards;

struct PlannerTest : testing::Test {
    bigtwo::Testing table{bigtwo::make<Planner>(), bigtwo::Testing::CHINESE, 4};

    PlannerTest() { table.deal("3D 3C 9S", {9, 9, 9}); }
};

TEST_F(PlannerTest, ShedsAsManyCardsAsItCan) {
    EXPECT_EQ(table.turn("", "3D,3C,9S,3D 3C"), Cards::parse("3D 3C"));
}

TEST_F(PlannerTest, PassesWithoutALegalPlay) {
    table.happened(3, "2S");
    EXPECT_TRUE(table.turn("2S", "").empty());
}
