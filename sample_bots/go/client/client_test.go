package client

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

func TestBotAnswersABatchOfTurnsWithOneOfMoves(t *testing.T) {
	referee := newReferee(t)
	runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	stream.send(&pb.PlayResponse{Events: []*pb.Event{started(), dealt(c3D), turnOf(7), turnOf(8), turnOf(9)}})
	var sessions []uint32
	for len(sessions) < 3 {
		for _, move := range stream.request().GetMoves() {
			sessions = append(sessions, move.GetSession())
		}
	}
	if !slices.Equal(sessions, []uint32{7, 8, 9}) {
		t.Errorf("moves for the sessions %v", sessions)
	}
}

func TestBotAnswersPingsWhileItThinks(t *testing.T) {
	referee := newReferee(t)
	thinking, decided := make(chan bool), make(chan bool)
	run(t, func(turn Turn) Cards {
		thinking <- true
		<-decided
		return first(turn)
	}, Options{Referees: []string{referee.address}})
	stream := referee.stream(t)
	stream.welcome("a")
	stream.send(&pb.PlayResponse{Events: []*pb.Event{started(), dealt(c3D), turnOf(7)}})
	receive(t, thinking)
	for id := uint32(5); id < 8; id++ {
		stream.send(&pb.PlayResponse{Ping: &pb.Ping{Id: id}})
		if request := stream.request(); request.GetPong().GetId() != id || len(request.GetMoves()) != 0 {
			t.Fatalf("ping %d was answered by %v", id, request)
		}
	}
	close(decided)
	if moves := stream.request().GetMoves(); len(moves) != 1 {
		t.Errorf("moves %v", moves)
	}
}

func TestBotTellsWhereAFaultWas(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	fault := &pb.Fault{
		Session: 7, Reason: "too low", Faults: 1, FaultLimit: 3, Hand: []pb.Card{c3D}, DefaultCards: []pb.Card{c3D},
	}
	stream.send(&pb.PlayResponse{Events: []*pb.Event{
		started(), dealt(c3D), {Event: &pb.Event_Fault{Fault: fault}},
	}})
	bot.told.wait(t, "too low", "session=", "deal=3", "faults=1", "limit=3", "hand=3D", "played_instead=3D")
}

func TestBotConnectsAgain(t *testing.T) {
	for name, end := range map[string]error{
		"when the stream breaks":       status.Error(codes.Unavailable, "connection reset"),
		"when the referee ends it":     nil,
		"when a proxy refuses it":      status.Error(codes.PermissionDenied, "not here"),
		"when it is connected already": connected(t, "a"),
		"when it has flooded":          failing(t, codes.ResourceExhausted, "FLOOD", again(time.Millisecond)),
		"when the reason is unknown":   failing(t, codes.InvalidArgument, "NEW_REASON", again(time.Millisecond)),
	} {
		t.Run(name, func(t *testing.T) {
			referee := newReferee(t)
			runAt(t, referee.address)
			referee.stream(t).ended <- end
			stream := referee.stream(t)
			stream.welcome("a")
			resumed := started()
			resumed.GetSessionStarted().Resumed = true
			stream.send(&pb.PlayResponse{Events: []*pb.Event{resumed, dealt(c3D), turnOf(7)}})
			if moves := stream.request().GetMoves(); len(moves) != 1 {
				t.Errorf("moves %v", moves)
			}
		})
	}
}

func TestBotWaitsBeforeItConnectsAgain(t *testing.T) {
	const delay = 700 * time.Millisecond // more than the first wait of a bot that is told nothing
	closing := &pb.PlayResponse{Closing: &pb.Closing{Reason: "restart", RetryDelay: durationpb.New(delay)}}
	for name, end := range map[string]func(*fakeStream){
		"as the status says": func(stream *fakeStream) {
			stream.ended <- failing(t, codes.Unavailable, "CLOSING", again(delay))
		},
		"as was announced": func(stream *fakeStream) {
			stream.send(closing)
			stream.plays() // open sessions go on
			stream.ended <- status.Error(codes.Unavailable, "connection reset")
		},
	} {
		t.Run(name, func(t *testing.T) {
			referee := newReferee(t)
			runAt(t, referee.address)
			stream := referee.stream(t)
			stream.welcome("a")
			began := time.Now()
			end(stream)
			referee.stream(t)
			if waited := time.Since(began); waited < delay {
				t.Errorf("connected again after %v", waited)
			}
		})
	}
}

func TestBotEndsWhenItIsRefused(t *testing.T) {
	for reason, code := range map[string]codes.Code{
		"TOKEN_MISSING":      codes.Unauthenticated,
		"TOKEN_UNKNOWN":      codes.Unauthenticated,
		"TOKEN_SCOPE":        codes.PermissionDenied,
		"TOKEN_REVOKED":      codes.PermissionDenied,
		"PROTOCOL_VERSION":   codes.FailedPrecondition,
		"MESSAGE_UNREADABLE": codes.InvalidArgument,
		"NEW_REASON":         codes.ResourceExhausted,
	} {
		t.Run(reason, func(t *testing.T) {
			referee, other := newReferee(t), newReferee(t)
			bot := runAt(t, referee.address, other.address)
			stream := other.stream(t)
			stream.welcome("b")
			stream.answersPing()
			referee.stream(t).ended <- failing(t, code, reason)
			if stream.request().GetGoodbye() == nil {
				t.Error("no goodbye to the other referee")
			}
			stream.ended <- nil
			var refused *Refused
			want := Refused{referee.address, reason, "in words"}
			if err := receive(t, bot.ended); !errors.As(err, &refused) || *refused != want {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
