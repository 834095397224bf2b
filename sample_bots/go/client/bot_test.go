package client

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// choosing is a strategy that is a function.
type choosing func(Turn) Cards

func (c choosing) Choose(turn Turn) Cards { return c(turn) }

func first(turn Turn) Cards { return turn.Legal[0] }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func tableOf(strategy choosing) *table {
	return newTable(func(*Session) Strategy { return strategy }, quiet, newStory(quiet), false)
}

func started() *pb.Event {
	return &pb.Event{Event: &pb.Event_SessionStarted{SessionStarted: &pb.SessionStarted{
		Session: 7, Seat: proto.Uint32(1), Seats: []string{"a", "b", "c"},
		Ruleset: `{"ranks": ["3", "4"], "suits": ["D", "C"], "new": 1}`,
	}}}
}

func dealt(hand ...pb.Card) *pb.Event {
	return &pb.Event{Event: &pb.Event_DealStarted{DealStarted: &pb.DealStarted{
		Session: 7, Deal: 3, Hand: hand, HandSizes: []uint32{3, uint32(len(hand)), 5},
		Direction: pb.Direction_DIRECTION_ANTICLOCKWISE,
	}}}
}

func asked(turn *pb.Turn) *pb.Event {
	turn.Session, turn.Sequence = 7, 4
	return &pb.Event{Event: &pb.Event_Turn{Turn: turn}}
}

func legal(plays ...[]pb.Card) []*pb.LegalPlay {
	var listed []*pb.LegalPlay
	for _, cards := range plays {
		listed = append(listed, &pb.LegalPlay{Cards: cards})
	}
	return listed
}

func TestSessionIsTheSumOfItsEvents(t *testing.T) {
	table := tableOf(first)
	table.take(started())
	table.take(dealt(c3D, c3C, c3H))
	table.take(asked(&pb.Turn{
		Kind:       pb.TurnKind_TURN_KIND_PLAY,
		LegalPlays: legal([]pb.Card{c3C}),
		Actions: []*pb.Action{
			{Seat: 2, Kind: pb.ActionKind_ACTION_KIND_EXCHANGE, Partner: proto.Uint32(1), Cards: []pb.Card{c2S}},
			{Seat: 1, Kind: pb.ActionKind_ACTION_KIND_EXCHANGE, Partner: proto.Uint32(2), Cards: []pb.Card{c3D}},
			{Seat: 0, Kind: pb.ActionKind_ACTION_KIND_EXCHANGE, Partner: proto.Uint32(2)},
			{Seat: 0, Kind: pb.ActionKind_ACTION_KIND_PLAY, Cards: []pb.Card{5}},
			{Seat: 1, Kind: pb.ActionKind_ACTION_KIND_PASS, Drawn: 1, DrawnCards: []pb.Card{6}},
			{Seat: 2, Kind: pb.ActionKind_ACTION_KIND_BOMB, Cards: []pb.Card{9, 10}},
			{Seat: 8, Kind: 99, Cards: []pb.Card{11}},
		},
	}))
	session := table.seats[7].session
	if want := NewCards(c3C, c3H, c2S, 6); session.Hand != want {
		t.Errorf("holding %v, not %v", session.Hand, want)
	}
	if want := []int{1, 4, 4}; !slices.Equal(session.Counts, want) {
		t.Errorf("counts %v, not %v", session.Counts, want)
	}
	if session.Gone != NewCards(5, 9, 10, 11) || session.Deal != 3 || session.Clockwise || session.Next(0) != 2 {
		t.Errorf("gone %v, deal %d, next %d", session.Gone, session.Deal, session.Next(0))
	}
	table.take(&pb.Event{Event: &pb.Event_DealEnded{DealEnded: &pb.DealEnded{
		Session: 7, Scores: []int32{0, -3, 2},
		Actions: []*pb.Action{{Seat: 0, Kind: pb.ActionKind_ACTION_KIND_PLAY, Cards: []pb.Card{12}}},
	}}})
	if session.Counts[0] != 0 || !slices.Equal(session.Scores, []int32{0, -3, 2}) {
		t.Errorf("counts %v, scores %v", session.Counts, session.Scores)
	}
	table.take(dealt(c3D))
	if session.Hand != NewCards(c3D) || !session.Gone.Empty() || len(session.Actions) != 0 {
		t.Error("a deal leaves something to the next")
	}
	table.take(&pb.Event{Event: &pb.Event_SessionEnded{SessionEnded: &pb.SessionEnded{Session: 7}}})
	if len(table.seats) != 0 {
		t.Error("the session is not forgotten")
	}
}

func TestTurnIsAnswered(t *testing.T) {
	weak, strong := []pb.Card{c3D}, []pb.Card{c3C, c3H}
	last := func(turn Turn) Cards { return turn.Legal[len(turn.Legal)-1] }
	fails := func(Turn) Cards { panic("no idea") }
	passes := func(Turn) Cards { return Cards{} }
	play, unknown := pb.TurnKind_TURN_KIND_PLAY, pb.TurnKind(77)
	for name, test := range map[string]struct {
		strategy choosing
		kind     pb.TurnKind
		canPass  bool
		want     *pb.Move
	}{
		"with the strategy's play":                           {last, play, true, &pb.Move{Cards: strong}},
		"with the strategy's pass":                           {passes, play, true, &pb.Move{Passes: true}},
		"with how the strategy failed":                       {fails, play, true, &pb.Move{Failure: "panic: no idea"}},
		"with a pass when the kind is unknown":               {last, unknown, true, &pb.Move{Passes: true}},
		"with the first play when an unknown kind needs one": {last, unknown, false, &pb.Move{Cards: weak}},
	} {
		t.Run(name, func(t *testing.T) {
			table := tableOf(test.strategy)
			table.take(started())
			table.take(dealt(c3D, c3C, c3H))
			move := table.take(asked(&pb.Turn{
				Kind: test.kind, CanPass: test.canPass, LegalPlays: legal(weak, strong),
			}))
			test.want.Session, test.want.Sequence = 7, 4
			if !proto.Equal(move, test.want) {
				t.Errorf("answered %v, not %v", move, test.want)
			}
		})
	}
}

// unspeakable is an error whose text cannot be had.
type unspeakable struct{}

func (unspeakable) Error() string { panic("no text") }

func TestMisusedTurnFailsAlone(t *testing.T) {
	var none map[string]int
	var nobody *Session
	for want, misuse := range map[string]choosing{
		"panic: no idea":  func(Turn) Cards { panic("no idea") },
		"panic: an error": func(Turn) Cards { panic(errors.New("an error")) },
		"panic: runtime error: index out of range [99] with": func(turn Turn) Cards { return turn.Legal[99] },
		"panic: assignment to entry in nil map":              func(Turn) Cards { none["x"] = 1; return Cards{} },
		"panic: runtime error: invalid memory address":       func(Turn) Cards { return nobody.Hand },
		"panic: panic called with nil argument":              func(Turn) Cards { panic(nil) },
		"panic: %!v(PANIC=Error method: no text)":            func(Turn) Cards { panic(unspeakable{}) },
		"panic: \uFFFDé": func(Turn) Cards { panic("\xff\xfeé") },
		"panic: " + strings.Repeat("é", longestFailure-len("panic: ")): func(Turn) Cards { panic(strings.Repeat("é", 5000)) },
	} {
		t.Run(want, func(t *testing.T) {
			var log strings.Builder
			failed := false
			table := tableOf(func(turn Turn) Cards {
				if failed {
					return first(turn)
				}
				failed = true
				return misuse(turn)
			})
			table.log = slog.New(slog.NewTextHandler(&log, nil))
			table.take(started())
			table.take(dealt(c3D))
			ask := func() *pb.Move {
				return table.take(asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, LegalPlays: legal([]pb.Card{c3D})}))
			}
			move := ask()
			if !strings.HasPrefix(move.GetFailure(), want) || move.GetPasses() || len(move.GetCards()) > 0 {
				t.Errorf("answered %v, not with %q", move, want)
			}
			if _, err := proto.Marshal(move); err != nil || len([]rune(move.GetFailure())) > longestFailure {
				t.Errorf("cannot be sent: %v", err)
			}
			if next := ask(); !slices.Equal(next.GetCards(), []pb.Card{c3D}) || next.GetFailure() != "" {
				t.Errorf("then answered %v", next)
			}
			if strings.Count(log.String(), "the strategy failed") != 1 {
				t.Errorf("logged %q", log.String())
			}
		})
	}
}

func TestMakerThatFailsIsToldOfEachTurn(t *testing.T) {
	for want, maker := range map[string]func(*Session) Strategy{
		"panic: not ready": func(*Session) Strategy { panic("not ready") },
		"panic: no strategy was made for the session": func(*Session) Strategy { return nil },
	} {
		table := newTable(maker, quiet, newStory(quiet), false)
		table.take(started())
		table.take(dealt(c3D))
		for range 2 {
			move := table.take(asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, CanPass: true}))
			if move.GetFailure() != want {
				t.Errorf("answered %v, not with %q", move, want)
			}
		}
	}
}

func TestStrategyOfAStrictBotMayPanic(t *testing.T) {
	table := tableOf(func(Turn) Cards { panic("no idea") })
	table.strict = true
	table.take(started())
	table.take(dealt(c3D))
	defer func() {
		if reason := recover(); reason != "no idea" {
			t.Errorf("panicked with %v", reason)
		}
	}()
	table.take(asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, CanPass: true}))
}

func TestTurnOfASessionThatCannotBeReadIsAnsweredByDefault(t *testing.T) {
	for _, ruleset := range []string{
		"{", `{"new": 1}`, `{"ranks": ["16"], "suits": ["D"]}`, `{"ranks": ["3"], "suits": ["X"]}`,
	} {
		t.Run(ruleset, func(t *testing.T) {
			table := tableOf(func(Turn) Cards { panic("asked") })
			table.strict = true
			event := started()
			event.GetSessionStarted().Ruleset = ruleset
			table.take(event)
			table.take(dealt(c3D))
			move := table.take(asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, LegalPlays: legal([]pb.Card{c3D})}))
			if !slices.Equal(move.GetCards(), []pb.Card{c3D}) {
				t.Errorf("answered %v", move)
			}
		})
	}
}

func TestUnknownEventIsIgnored(t *testing.T) {
	event := &pb.Event{}
	if err := proto.Unmarshal([]byte{0xa2, 0x06, 1, 0}, event); err != nil {
		t.Fatal(err)
	}
	if move := tableOf(first).take(event); move != nil {
		t.Errorf("answered %v", move)
	}
}
