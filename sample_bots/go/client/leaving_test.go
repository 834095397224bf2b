package client

import (
	"net"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

func sessionEnded(session uint32) *pb.Event {
	return &pb.Event{Event: &pb.Event_SessionEnded{SessionEnded: &pb.SessionEnded{Session: session}}}
}

// wantsNoMore fails unless the bot asks for no more sessions.
func (s *fakeStream) wantsNoMore() {
	s.t.Helper()
	if asked := s.request().GetCapacity(); asked == nil || asked.GetMaxSessions() != 0 {
		s.t.Errorf("asked for %v", asked)
	}
}

// saysGoodbye fails unless the bot says goodbye and ends its side of the stream.
func (s *fakeStream) saysGoodbye() {
	s.t.Helper()
	if request := s.request(); request.GetGoodbye() == nil {
		s.t.Errorf("%v, not a goodbye", request)
	}
	for request := range s.requests {
		s.t.Errorf("%v after the goodbye", request)
	}
	s.ended <- nil
}

func TestBotThatFinishesPlaysItsSessionsToTheirEnd(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	stream.plays()
	bot.finish()
	stream.wantsNoMore()
	stream.plays()
	stream.send(&pb.PlayResponse{Events: []*pb.Event{sessionEnded(7)}})
	stream.saysGoodbye()
	bot.end(t)
}

func TestBotThatFinishesComesBackToItsSessions(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	stream.plays()
	bot.finish()
	stream.wantsNoMore()
	stream.ended <- status.Error(codes.Unavailable, "connection reset")
	stream = referee.stream(t)
	stream.welcome("a")
	stream.wantsNoMore()
	stream.plays()
	stream.send(&pb.PlayResponse{Events: []*pb.Event{sessionEnded(7)}})
	stream.saysGoodbye()
	bot.end(t)
}

func TestBotThatFinishesWithoutASessionLeaves(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	stream.answersPing()
	bot.finish()
	stream.wantsNoMore()
	stream.saysGoodbye()
	bot.end(t)
}

func TestBotThatLeavesSaysGoodbyeAtOnce(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a")
	stream.plays()
	bot.finish()
	stream.wantsNoMore()
	bot.leave()
	stream.saysGoodbye()
	bot.end(t)
}

func TestBotThatFinishesWhileNoRefereeIsThereEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bot := runAt(t, listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	bot.finish()
	bot.end(t)
}
