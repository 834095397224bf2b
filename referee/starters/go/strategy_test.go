package main

import (
	"testing"

	"bigtwo-arena/sample-bot/client"
	pb "bigtwo-arena/sample-bot/referee/v1"
)

func TestChooseShedsAsManyCardsAsItCan(t *testing.T) {
	single := client.NewCards(pb.Card_CARD_3D)
	pair := client.NewCards(pb.Card_CARD_3D, pb.Card_CARD_3C)
	turn := client.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, Legal: []client.Cards{single, pair}}
	if got := NewPlanner(nil).Choose(turn); got != pair {
		t.Errorf("chose %v, not the pair", got)
	}
}

func TestChoosePassesWithoutALegalPlay(t *testing.T) {
	if got := NewPlanner(nil).Choose(client.Turn{CanPass: true}); !got.Empty() {
		t.Errorf("chose %v, not a pass", got)
	}
}
