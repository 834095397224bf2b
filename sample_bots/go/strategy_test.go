package main

import (
	"strings"
	"testing"

	"bigtwo-arena/sample-bot/client"
	pb "bigtwo-arena/sample-bot/referee/v1"
)

var ruleset = client.Ruleset{
	Decks:       1,
	Ranks:       strings.Fields("3 4 5 6 7 8 9 T J Q K A 2"),
	Suits:       strings.Fields("D C H S"),
	Plays:       strings.Fields("single pair triple straight flush full_house quads straight_flush"),
	LastTopCard: "allowed",
	DrawOnPass:  "none",
}

// read gives the cards of a text, "3D 3C".
func read(t *testing.T, text string) client.Cards {
	t.Helper()
	var cards []pb.Card
	for _, word := range strings.Fields(text) {
		card, ok := pb.Card_value["CARD_"+word]
		if !ok {
			t.Fatalf("no card %s", word)
		}
		cards = append(cards, pb.Card(card))
	}
	return client.NewCards(cards...)
}

func TestPlannerChooses(t *testing.T) {
	const (
		play     = pb.TurnKind_TURN_KIND_PLAY
		exchange = pb.TurnKind_TURN_KIND_EXCHANGE
		beatOwn  = pb.TurnKind_TURN_KIND_BEAT_OWN
		bomb     = pb.TurnKind_TURN_KIND_BOMB
	)
	quads := "7D 7C 7H 7S"
	for name, test := range map[string]struct {
		kind    pb.TurnKind
		hand    string
		counts  []int // the bot's seat is 0
		toBeat  string
		canPass bool
		legal   string // parted by commas
		want    string
	}{
		"the weakest single that breaks nothing": {
			play, "4D 4C 6S 9D TH 2S", []int{6, 9, 9, 9}, "3D", true, "4D,4C,6S,9D,TH,2S", "6S",
		},
		"a pass rather than a broken straight": {
			play, "4D 5C 6S 7D 8H TD TH TS KD KC", []int{10, 9, 9, 9}, "3D", true,
			"4D,5C,6S,7D,8H,TD,TH,TS,KD,KC", "",
		},
		"the whole hand": {
			play, "9D 9C", []int{2, 5, 5, 5}, "", false, "9D,9C,9D 9C", "9D 9C",
		},
		"the straight to lead": {
			play, "4D 5C 6S 7D 8H KD", []int{6, 9, 9, 9}, "", false, "4D,5C,6S,7D,8H,KD,4D 5C 6S 7D 8H",
			"4D 5C 6S 7D 8H",
		},
		"no single to lead when somebody holds one card": {
			play, "5D 8D 8C QS", []int{4, 1, 9, 9}, "", false, "5D,8D,8C,QS,8D 8C", "8D 8C",
		},
		"the highest single when somebody holds one card": {
			play, "5D 8D QS AS", []int{4, 1, 9, 9}, "4D", true, "5D,8D,QS,AS", "AS",
		},
		"the two, then the last card": {
			play, "5D 2S", []int{2, 4, 4, 4}, "4D", true, "5D,2S", "2S",
		},
		"to return the card that fits nothing": {
			exchange, "4D 6C 6H 8D 8C", []int{5, 5, 5, 5}, "", false, "4D,6C,6H,8D,8C", "4D",
		},
		"not to beat itself":          {beatOwn, "5D 6D", []int{2, 5, 5, 5}, "4D", true, "5D,6D", ""},
		"no bomb early":               {bomb, quads + " 3D 4D 9H", []int{7, 9, 9, 9}, "2S", true, quads, ""},
		"a bomb when somebody is out": {bomb, quads + " 3D 4D 9H", []int{7, 9, 9, 2}, "2S", true, quads, quads},
		"a bomb before the last play": {bomb, quads + " 9H", []int{5, 9, 9, 9}, "2S", true, quads, quads},
		"a pass without a legal play": {bomb, "3D 4D", []int{2, 9, 9, 2}, "2S", true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			session := &client.Session{Ruleset: ruleset, Hand: read(t, test.hand), Counts: test.counts}
			turn := client.Turn{
				Session: session, Kind: test.kind, ToBeat: read(t, test.toBeat), CanPass: test.canPass,
			}
			for _, play := range strings.FieldsFunc(test.legal, func(r rune) bool { return r == ',' }) {
				turn.Legal = append(turn.Legal, read(t, play))
			}
			if got, want := NewPlanner(session).Choose(turn), read(t, test.want); got != want {
				t.Errorf("chose %q, not %q", got, want)
			}
		})
	}
}

func TestPlannerDoesNotWaitForEver(t *testing.T) {
	session := &client.Session{
		Ruleset: ruleset, Hand: read(t, "4D 5C 6S 7D 8H TD TH TS KD KC"), Counts: []int{10, 9},
	}
	turn := client.Turn{
		Session: session, Kind: pb.TurnKind_TURN_KIND_PLAY, ToBeat: read(t, "3D"), CanPass: true,
		Legal: []client.Cards{read(t, "KC")},
	}
	planner := NewPlanner(session)
	for passes := range 10 {
		if !planner.Choose(turn).Empty() {
			if passes == 0 {
				t.Error("it does not wait at all")
			}
			return
		}
		session.Actions = append(session.Actions, &pb.Action{Kind: pb.ActionKind_ACTION_KIND_PASS})
	}
	t.Error("it passes for ever")
}

func TestPlannerOfTilesAndTwoPacksKnowsTheOrder(t *testing.T) {
	tiles := ruleset
	tiles.Ranks = strings.Fields("3 4 5 6 7 8 9 10 11 12 13 14 15 1 2")
	if top := newPack(tiles); top.top != read(t, "2S") || top.rank[pb.Card_CARD_15D] != 12 || top.ranks != 15 {
		t.Errorf("the highest tile is %v", top.top)
	}
	packs := ruleset
	packs.Decks = 2
	session := &client.Session{Ruleset: packs, Hand: read(t, "2S AS"), Counts: []int{2, 9}}
	view := newView(newPack(packs), session)
	if single := view.control(read(t, "2S")); single != 1 {
		t.Errorf("nobody beats the highest card, but its control is %v", single)
	}
	if lower := view.control(read(t, "AS")); lower >= 0.5 {
		t.Errorf("the other twos are out, but an ace's control is %v", lower)
	}
}
