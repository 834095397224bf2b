#include "client/ruleset.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace bigtwo {

namespace {

// The ranks in the order of the card numbers; with 60 tiles some have other names.
const std::map<std::string, int> RANKS = {
    {"3", 0},  {"4", 1},  {"5", 2},  {"6", 3},   {"7", 4},   {"8", 5},  {"9", 6},  {"T", 7},  {"J", 8},   {"Q", 9},
    {"K", 10}, {"A", 11}, {"2", 12}, {"14", 13}, {"15", 14}, {"10", 7}, {"11", 8}, {"12", 9}, {"13", 10}, {"1", 11},
};
const std::map<std::string, int> SUITS = {{"D", 0}, {"C", 1}, {"H", 2}, {"S", 3}};
constexpr int RED_JOKER = 62;
constexpr int MOST_JOKERS = 2;
constexpr int MOST_DECKS = 100;

/// Reads members of a JSON object; one that is missing or has another type is as the empty one.
struct JsonObject {
    google::protobuf::Struct members;

    const google::protobuf::Value& at(const std::string& name) const {
        auto found = members.fields().find(name);
        return found == members.fields().end() ? google::protobuf::Value::default_instance() : found->second;
    }

    std::vector<std::string> texts(const std::string& name) const {
        std::vector<std::string> texts;
        for (const auto& value : at(name).list_value().values()) {
            texts.push_back(value.string_value());
        }
        return texts;
    }

    /// Throws std::invalid_argument for a number that is not from 0 to the most.
    int number(const std::string& name, int most) const {
        const double value = at(name).number_value();
        if (!(value >= 0 && value <= most)) {
            throw std::invalid_argument("session_started.ruleset: " + name + " is out of range");
        }
        return static_cast<int>(value);
    }
};

void check_known(const char* what, const std::vector<std::string>& names, const std::map<std::string, int>& known) {
    if (names.empty()) {
        throw std::invalid_argument(std::string("session_started.ruleset: no ") + what + "s");
    }
    for (const std::string& name : names) {
        if (!known.contains(name)) {
            throw std::invalid_argument(std::string("session_started.ruleset: unknown ") + what + " " + name);
        }
    }
}

}  // namespace

Ruleset Ruleset::parse(const std::string& json) {
    JsonObject read;
    auto status = google::protobuf::util::JsonStringToMessage(json, &read.members);
    if (!status.ok()) {
        throw std::invalid_argument("session_started.ruleset: no JSON object");
    }
    Ruleset ruleset;
    ruleset.name = read.at("name").string_value();
    ruleset.decks = std::max(1, read.number("decks", MOST_DECKS));
    ruleset.ranks = read.texts("ranks");
    ruleset.suits = read.texts("suits");
    ruleset.jokers = read.number("jokers", MOST_JOKERS);
    ruleset.plays = read.texts("plays");
    ruleset.last_top_card = read.at("last_top_card").string_value();
    ruleset.draw_on_pass = read.at("draw_on_pass").string_value();
    check_known("rank", ruleset.ranks, RANKS);
    check_known("suit", ruleset.suits, SUITS);
    return ruleset;
}

bool Ruleset::can_play(const std::string& kind) const {
    return std::find(plays.begin(), plays.end(), kind) != plays.end();
}

std::vector<int> Ruleset::order() const {
    std::vector<int> cards;
    for (const std::string& rank : ranks) {
        for (const std::string& suit : suits) {
            cards.push_back(4 * RANKS.at(rank) + SUITS.at(suit) + 1);
        }
    }
    for (int joker = jokers - 1; joker >= 0; joker--) {
        cards.push_back(RED_JOKER - joker);
    }
    return cards;
}

}  // namespace bigtwo
