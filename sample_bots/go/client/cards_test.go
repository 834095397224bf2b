package client

import (
	"slices"
	"testing"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

const (
	c3D = pb.Card_CARD_3D
	c3C = pb.Card_CARD_3C
	c3H = pb.Card_CARD_3H
	c2S = pb.Card_CARD_2S
)

func TestCardsAddAndRemoveCopies(t *testing.T) {
	hand := NewCards(c2S, c3D, c3D, c3C)
	if hand.Len() != 4 || hand.Count(c3D) != 2 || hand.Count(c3C) != 1 || hand.Count(c3H) != 0 {
		t.Fatalf("holding %v", hand)
	}
	for _, play := range [][]pb.Card{{c3D}, {c3D, c3D}, {c3D, c3C}, {c2S}, {}} {
		cards := NewCards(play...)
		left := hand.Minus(cards)
		if left.Len() != hand.Len()-len(play) || left.Plus(cards) != hand {
			t.Errorf("%v without %v is %v", hand, cards, left)
		}
	}
	if !hand.Holds(NewCards(c3D, c3D)) || hand.Holds(NewCards(c3C, c3C)) || hand.Holds(NewCards(c3H)) {
		t.Error("holds what it does not hold, or the other way round")
	}
}

func TestCardsPrintAndList(t *testing.T) {
	cards := NewCards(c2S, c3D, c3D, 0, 99)
	if cards.String() != "3D 3D 2S" || !slices.Equal(cards.List(), []pb.Card{c3D, c3D, c2S}) {
		t.Errorf("%v, %v", cards, cards.List())
	}
	if !(Cards{}).Empty() || cards.Empty() {
		t.Error("empty")
	}
}
