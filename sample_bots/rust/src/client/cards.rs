//! Sets of cards.

use std::fmt;

use crate::pb::Card;

/// A set of cards that may hold a card several times, as with several packs; the default one is empty.
///
/// Bit n of the planes is how many copies of the card with number n there are, in binary, the lowest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Cards([u64; 3]);

impl Cards {
    /// The set of the cards with these numbers, as messages have them; numbers that no card can have are left out.
    #[must_use]
    pub fn from_numbers(numbers: &[i32]) -> Self {
        numbers.iter().fold(Self::default(), |cards, &number| match number {
            1..=63 => cards.plus(Self([1 << number, 0, 0])),
            _ => cards,
        })
    }

    /// The cards of a text, "3D 3C"; `None` if a word is no card.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<i32>> = text
            .split_whitespace()
            .map(|word| Card::from_str_name(&format!("CARD_{word}")).map(i32::from))
            .collect();
        numbers.map(|numbers| Self::from_numbers(&numbers))
    }

    /// The number of cards.
    #[must_use]
    pub fn len(self) -> usize {
        let [ones, twos, fours] = self.0.map(|plane| plane.count_ones() as usize);
        ones + 2 * twos + 4 * fours
    }

    /// Whether there is no card.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 3]
    }

    /// How many copies of the card with this number there are.
    #[must_use]
    pub fn count(self, number: i32) -> usize {
        let [ones, twos, fours] = self.0.map(|plane| (plane >> number & 1) as usize);
        ones + 2 * twos + 4 * fours
    }

    /// Whether all of `other` is in the set.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        other.numbers().iter().all(|&number| other.count(number) <= self.count(number))
    }

    /// The set with the cards of `other`, up to seven copies of a card.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let mut carry = 0;
        let mut sum = [0; 3];
        for (plane, (own, more)) in self.0.into_iter().zip(other.0).enumerate() {
            sum[plane] = own ^ more ^ carry;
            carry = own & more | carry & (own | more);
        }
        Self(sum)
    }

    /// The set without the cards of `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let mut borrow = 0;
        let mut left = [0; 3];
        for (plane, (own, fewer)) in self.0.into_iter().zip(other.0).enumerate() {
            left[plane] = own ^ fewer ^ borrow;
            borrow = !own & (fewer | borrow) | fewer & borrow;
        }
        Self(left.map(|plane| plane & !borrow)) // with none left where fewer copies were there than to be taken
    }

    /// The numbers of the cards, in order, as a message has them.
    #[must_use]
    pub fn numbers(self) -> Vec<i32> {
        let [ones, twos, fours] = self.0;
        let mut left = ones | twos | fours;
        let mut numbers = Vec::with_capacity(self.len());
        while left != 0 {
            let number = left.trailing_zeros().cast_signed();
            numbers.extend(std::iter::repeat_n(number, self.count(number)));
            left &= left - 1;
        }
        numbers
    }
}

impl fmt::Display for Cards {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |number| match Card::try_from(number) {
            Ok(card) => card.as_str_name().trim_start_matches("CARD_").to_owned(),
            Err(_) => format!("#{number}"),
        };
        let names: Vec<String> = self.numbers().into_iter().map(name).collect();
        text.write_str(&names.join(" "))
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::Cards;

    fn cards(text: &str) -> Cards {
        Cards::parse(text).expect(text)
    }

    #[test]
    fn cards_add_and_remove_copies() {
        let hand = cards("2S 3D 3D 3C RJ RJ RJ RJ");
        assert_eq!(hand.len(), 8);
        assert_eq!([1, 2, 3, 62].map(|number| hand.count(number)), [2, 1, 0, 4]);
        for play in ["3D", "3D 3D", "3D 3C", "2S", "", "RJ RJ RJ", "RJ RJ RJ RJ 3D"].map(cards) {
            let left = hand.minus(play);
            assert_eq!(left.len(), hand.len() - play.len());
            assert_eq!(left.plus(play), hand);
            assert!(hand.holds(play));
        }
        assert!(!hand.holds(cards("3C 3C")));
        assert!(!hand.holds(cards("3H")));
        assert_eq!(hand.minus(cards("3C 3C 3C 3H")), cards("2S 3D 3D RJ RJ RJ RJ"));
    }

    #[test]
    fn cards_print_and_list() {
        let set = Cards::from_numbers(&[52, 1, 1, 0, 99, -1]);
        assert_eq!(set.to_string(), "3D 3D 2S");
        assert_eq!(set.numbers(), [1, 1, 52]);
        assert!(Cards::default().is_empty() && !set.is_empty());
        assert_eq!(Cards::parse("3D 3X"), None);
    }
}
