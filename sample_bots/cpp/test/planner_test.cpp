// Tests of what the planner chooses.
#include "bot/planner.h"

#include <gtest/gtest.h>

#include "client/testing.h"

using bigtwo::Cards;

namespace v1 = referee::v1;

namespace {

bigtwo::Testing table(const std::string& hand, const std::vector<unsigned>& others) {
    bigtwo::Testing table(bigtwo::make<Planner>(), bigtwo::Testing::CHINESE, static_cast<int>(others.size()) + 1);
    table.deal(hand, others);
    return table;
}

struct Choice {
    const char* name;
    v1::TurnKind kind;
    const char* hand;
    unsigned next;
    const char* to_beat;
    const char* legal;
    const char* wanted;
};

class PlannerTest : public testing::TestWithParam<Choice> {};

const Choice CHOICES[] = {
    {"the weakest single that breaks nothing", v1::TURN_KIND_PLAY, "4D 4C 6S 9D TH 2S", 9, "3D", "4D,4C,6S,9D,TH,2S", "6S"},
    {"a pass rather than a broken straight", v1::TURN_KIND_PLAY, "4D 5C 6S 7D 8H TD TH TS KD KC", 9, "3D",
     "4D,5C,6S,7D,8H,TD,KC", ""},
    {"the whole hand", v1::TURN_KIND_PLAY, "9D 9C", 5, "", "9D,9C,9D 9C", "9D 9C"},
    {"the straight to lead", v1::TURN_KIND_PLAY, "4D 5C 6S 7D 8H KD", 9, "", "4D,5C,6S,7D,8H,KD,4D 5C 6S 7D 8H",
     "4D 5C 6S 7D 8H"},
    {"no single to lead when somebody holds one card", v1::TURN_KIND_PLAY, "5D 8D 8C QS", 1, "", "5D,8D,8C,QS,8D 8C",
     "8D 8C"},
    {"the highest single when somebody holds one card", v1::TURN_KIND_PLAY, "5D 8D QS AS", 1, "4D", "5D,8D,QS,AS", "AS"},
    {"the two and then the last card", v1::TURN_KIND_PLAY, "5D 2S", 4, "4D", "5D,2S", "2S"},
    {"to return the card that fits nothing", v1::TURN_KIND_EXCHANGE, "4D 6C 6H 8D 8C", 5, "", "4D,6C,6H,8D,8C", "4D"},
    {"not to beat itself", v1::TURN_KIND_BEAT_OWN, "5D 6D", 5, "4D", "5D,6D", ""},
    {"no bomb early", v1::TURN_KIND_BOMB, "7D 7C 7H 7S 3D 4D 9H", 9, "2S", "7D 7C 7H 7S", ""},
    {"a bomb when somebody is nearly out", v1::TURN_KIND_BOMB, "7D 7C 7H 7S 3D 4D 9H", 2, "2S", "7D 7C 7H 7S",
     "7D 7C 7H 7S"},
    {"a bomb before the last play", v1::TURN_KIND_BOMB, "7D 7C 7H 7S 9H", 9, "2S", "7D 7C 7H 7S", "7D 7C 7H 7S"},
    {"a pass without a legal play", v1::TURN_KIND_BOMB, "3D 4D", 2, "2S", "", ""},
};

}  // namespace

TEST_P(PlannerTest, Chooses) {
    const Choice& choice = GetParam();
    const bool can_pass = choice.kind != v1::TURN_KIND_EXCHANGE && *choice.to_beat != '\0';
    EXPECT_EQ(table(choice.hand, {choice.next, 9, 9}).turn(choice.kind, choice.to_beat, can_pass, choice.legal),
              Cards::parse(choice.wanted))
        << choice.name;
}

INSTANTIATE_TEST_SUITE_P(All, PlannerTest, testing::ValuesIn(CHOICES));

TEST(Planner, DoesNotWaitForEver) {
    auto waiting = table("4D 5C 6S 7D 8H TD TH TS KD KC", {9});
    int passes = 0;
    while (passes < 10 && waiting.turn("3D", "KC").empty()) {
        passes++;
    }
    EXPECT_GT(passes, 0);
    EXPECT_LT(passes, 10);
}

TEST(Planner, KnowsTilesJokersAndTwoPacks) {
    const Pack tiles(bigtwo::Ruleset::parse(
        R"({"ranks": ["13", "14", "15", "1", "2"], "suits": ["D", "C", "H", "S"], "jokers": 1})"));
    EXPECT_EQ(tiles.top(), Cards::parse("RJ"));
    EXPECT_EQ(tiles.rank(v1::CARD_15S), 2);
    EXPECT_EQ(tiles.rank(v1::CARD_RJ), 5);
    EXPECT_EQ(tiles.suit(v1::CARD_2S), 3);
    EXPECT_EQ(tiles.place(-1), 20);
    std::string two_packs = bigtwo::Testing::CHINESE;
    two_packs.replace(two_packs.find("\"decks\": 1"), 10, "\"decks\": 2");
    bigtwo::Testing packs(bigtwo::make<Planner>(), two_packs, 2);
    packs.deal("5D 2S", {4});
    EXPECT_EQ(packs.turn("4D", "5D,2S"), Cards::parse("2S")) << "nobody beats the highest card";
}
