#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "referee/v1/cards.pb.h"

namespace bigtwo {

/// A set of cards that may hold a card several times, as with two packs. Cards are numbers, as in the messages, so that
/// cards to come have a place in it, too.
class Cards {
public:
    /// No cards; as an answer, a pass.
    Cards() = default;
    /// These cards, by their numbers, in any order.
    explicit Cards(std::vector<int> numbers);
    explicit Cards(std::span<const int> numbers);
    Cards(std::initializer_list<referee::v1::Card> cards);

    /// Returns the cards of a text such as "3D 3C"; throws std::invalid_argument if it names no cards.
    static Cards parse(std::string_view text);
    /// Returns the cards of a field of a message.
    template <typename Field>
    static Cards of(const Field& field) {
        return Cards(std::vector<int>(field.begin(), field.end()));
    }

    std::size_t size() const { return numbers_.size(); }
    bool empty() const { return numbers_.empty(); }
    /// Returns how many copies of a card there are.
    int count(int card) const;
    /// Tells whether all of other, with all copies, is in this set.
    bool holds(const Cards& other) const;
    /// Returns this set with the cards of other.
    Cards plus(const Cards& other) const;
    /// Returns this set without the cards of other; those that it does not hold do not matter.
    Cards minus(const Cards& other) const;
    /// Returns the numbers of the cards, the lowest first.
    const std::vector<int>& numbers() const { return numbers_; }
    /// Returns the cards as text: "3D 3C".
    std::string text() const;

    /// Puts the cards into a field of a message.
    template <typename Field>
    void put_into(Field& field) const {
        field.Add(numbers_.begin(), numbers_.end());
    }

    friend bool operator==(const Cards&, const Cards&) = default;
    friend auto operator<=>(const Cards&, const Cards&) = default;

private:
    std::vector<int> numbers_;  // sorted
};

}  // namespace bigtwo
