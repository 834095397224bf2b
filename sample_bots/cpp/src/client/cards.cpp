#include "client/cards.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace bigtwo {

namespace {

constexpr std::string_view CARD_PREFIX = "CARD_";

}  // namespace

Cards::Cards(std::vector<int> numbers) : numbers_(std::move(numbers)) {
    std::sort(numbers_.begin(), numbers_.end());
}

Cards::Cards(std::span<const int> numbers) : Cards(std::vector<int>(numbers.begin(), numbers.end())) {}

Cards::Cards(std::initializer_list<referee::v1::Card> cards) : Cards(std::vector<int>(cards.begin(), cards.end())) {}

Cards Cards::parse(std::string_view text) {
    std::istringstream words{std::string(text)};
    std::vector<int> numbers;
    for (std::string word; words >> word;) {
        referee::v1::Card card;
        if (!referee::v1::Card_Parse(std::string(CARD_PREFIX) + word, &card)) {
            throw std::invalid_argument("not a card: " + word);
        }
        numbers.push_back(card);
    }
    return Cards(std::move(numbers));
}

int Cards::count(int card) const {
    return static_cast<int>(std::count(numbers_.begin(), numbers_.end(), card));
}

bool Cards::holds(const Cards& other) const {
    return std::includes(numbers_.begin(), numbers_.end(), other.numbers_.begin(), other.numbers_.end());
}

Cards Cards::plus(const Cards& other) const {
    Cards all;
    std::merge(numbers_.begin(), numbers_.end(), other.numbers_.begin(), other.numbers_.end(),
               std::back_inserter(all.numbers_));
    return all;
}

Cards Cards::minus(const Cards& other) const {
    Cards left;
    std::set_difference(numbers_.begin(), numbers_.end(), other.numbers_.begin(), other.numbers_.end(),
                        std::back_inserter(left.numbers_));
    return left;
}

std::string Cards::text() const {
    std::string text;
    for (int number : numbers_) {
        text += text.empty() ? "" : " ";
        text += referee::v1::Card_IsValid(number)
                    ? referee::v1::Card_Name(static_cast<referee::v1::Card>(number)).substr(CARD_PREFIX.size())
                    : "#" + std::to_string(number);
    }
    return text;
}

}  // namespace bigtwo
