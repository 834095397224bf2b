package client

import (
	"iter"
	"math/bits"
	"strings"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// maxPacks is how many packs shuffled together Cards can hold.
const maxPacks = 2

// Cards is a set of cards that may hold a card twice, as with two packs. The zero value is empty; equal sets
// are ==.
type Cards struct {
	once, twice uint64 // bit n: at least one, at least two of the card with number n
}

// NewCards gives the set of these cards. It leaves out numbers that no card can have, and a third copy.
func NewCards(cards ...pb.Card) Cards {
	var set Cards
	for _, card := range cards {
		if card < 1 || card > 63 {
			continue
		}
		bit := uint64(1) << card
		set.twice |= set.once & bit
		set.once |= bit
	}
	return set
}

// Len is the number of cards.
func (c Cards) Len() int { return bits.OnesCount64(c.once) + bits.OnesCount64(c.twice) }

// Empty tells whether there is no card.
func (c Cards) Empty() bool { return c.once == 0 }

// Count is how many copies of a card there are: 0, 1 or 2.
func (c Cards) Count(card pb.Card) int {
	return int(c.once>>card&1) + int(c.twice>>card&1)
}

// Holds tells whether all of other is in c.
func (c Cards) Holds(other Cards) bool {
	return other.once&^c.once == 0 && other.twice&^c.twice == 0
}

// Plus is c with the cards of other.
func (c Cards) Plus(other Cards) Cards {
	return Cards{c.once | other.once, c.twice | other.twice | c.once&other.once}
}

// Minus is c without the cards of other.
func (c Cards) Minus(other Cards) Cards {
	return Cards{c.once&^other.once | c.twice&^other.twice, c.twice &^ other.once}
}

// All gives the cards in the order of their numbers.
func (c Cards) All() iter.Seq[pb.Card] {
	return func(yield func(pb.Card) bool) {
		for left := c.once; left != 0; left &= left - 1 {
			card := pb.Card(bits.TrailingZeros64(left))
			for range c.Count(card) {
				if !yield(card) {
					return
				}
			}
		}
	}
}

// List is the cards as a message has them.
func (c Cards) List() []pb.Card {
	list := make([]pb.Card, 0, c.Len())
	for card := range c.All() {
		list = append(list, card)
	}
	return list
}

// String is the cards as text: "3D 3C".
func (c Cards) String() string {
	words := make([]string, 0, c.Len())
	for card := range c.All() {
		words = append(words, strings.TrimPrefix(card.String(), "CARD_"))
	}
	return strings.Join(words, " ")
}
