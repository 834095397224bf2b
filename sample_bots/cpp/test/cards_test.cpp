// Tests of sets of cards, and of their order.
#include "client/cards.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "client/ruleset.h"

using bigtwo::Cards;

TEST(Cards, HoldCopies) {
    const Cards cards = Cards::parse("3C 3D 3D RJ");
    EXPECT_EQ(cards.text(), "3D 3D 3C RJ");
    EXPECT_EQ(cards.count(referee::v1::CARD_3D), 2);
    EXPECT_EQ(cards.minus(Cards::parse("3D 4D")),
              (Cards{referee::v1::CARD_3D, referee::v1::CARD_3C, referee::v1::CARD_RJ}));
    EXPECT_EQ(cards, Cards::parse("3D RJ").plus(Cards::parse("3C 3D")));
    EXPECT_TRUE(cards.holds(Cards::parse("3D 3D")));
    EXPECT_FALSE(cards.holds(Cards::parse("3C 3C")));
    EXPECT_TRUE(cards.minus(cards).empty());
    EXPECT_EQ(Cards(std::vector{63, -1}).text(), "#-1 #63");
    EXPECT_THROW(Cards::parse("3X"), std::invalid_argument);
}

TEST(Ruleset, OrdersItsPack) {
    const auto ruleset = bigtwo::Ruleset::parse(
        R"({"ranks": ["14", "1", "2"], "suits": ["S", "D"], "jokers": 2, "decks": 2})");
    std::string order;
    for (int card : ruleset.order()) {
        order += Cards(std::vector{card}).text() + " ";
    }
    EXPECT_EQ(order, "14S 14D AS AD 2S 2D BJ RJ ");
    EXPECT_EQ(ruleset.decks, 2);
}
