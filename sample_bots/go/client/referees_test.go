package client

import (
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// local is another spelling of an address.
func local(address string) string {
	return strings.Replace(address, "127.0.0.1", "localhost", 1)
}

// nowhere is an address that nobody listens at.
func nowhere(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func TestBotPlaysAtEveryRefereeOfTheWelcome(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	bot := runAt(t, referee.address)
	stream := referee.stream(t)
	stream.welcome("a", at("a", referee.address), at("b", other.address))
	second := other.stream(t)
	second.welcome("b", at("a", referee.address), at("b", other.address))
	second.plays()
	stream.plays()
	bot.leaves(t, referee, stream, second)
}

func TestBotHasOneStreamToARefereeThatIsListedWithAnotherAddress(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	bot := runAt(t, local(referee.address))
	stream := referee.stream(t)
	stream.welcome("a", at("a", referee.address), at("b", other.address))
	second := other.stream(t)
	second.welcome("b", at("a", referee.address), at("b", other.address))
	second.plays()
	stream.plays()
	bot.leaves(t, referee, stream, second)
}

func TestBotGivesUpASecondAddressOfAReferee(t *testing.T) {
	referee := newReferee(t)
	bot := runAt(t, referee.address, local(referee.address))
	stream := referee.stream(t)
	stream.welcome("a", at("a", "arena.example.org:8710"))
	stream.plays() // now it has read the welcome
	referee.stream(t).ended <- connected(t, "a")
	bot.told.wait(t, "not needed")
	stream.plays()
	bot.leaves(t, referee, stream)
}

func TestBotGivesUpAListedAddressThatLeadsNowhereWhenAnotherOneLeadsThere(t *testing.T) {
	referee, nowhere := newReferee(t), nowhere(t)
	bot := runAt(t, nowhere, referee.address)
	stream := referee.stream(t)
	stream.welcome("a", at("a", nowhere))
	bot.told.wait(t, "not needed", nowhere, referee.address)
	stream.plays()
	bot.leaves(t, referee, stream)
}

func TestBotGoesToTheListedAddressWhenItsOwnLeadsToAnotherReferee(t *testing.T) {
	balancer, referee, other := newReferee(t), newReferee(t), newReferee(t)
	arena := []*pb.Referee{at("a", referee.address), at("b", other.address)}
	bot := runAt(t, balancer.address)
	stream := balancer.stream(t)
	stream.welcome("a", arena...)
	second := other.stream(t)
	second.welcome("b", arena...)
	second.plays()
	stream.ended <- status.Error(codes.Unavailable, "restarting")
	balancer.stream(t).ended <- connected(t, "b")
	bot.told.wait(t, "not needed", balancer.address, other.address)
	first := referee.stream(t)
	first.welcome("a", arena...)
	first.plays()
	bot.leaves(t, balancer, first, second)
}

func TestBotTriesAgainWhereAnotherProcessOfItIsConnected(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	arena := []*pb.Referee{at("a", referee.address), at("b", other.address)}
	bot := runAt(t, other.address, referee.address)
	second := other.stream(t)
	second.welcome("b", arena...)
	second.plays()
	referee.stream(t).ended <- connected(t, "a")
	stream := referee.stream(t)
	stream.welcome("a", arena...)
	stream.plays()
	bot.leaves(t, referee, stream, second)
}

func TestBotThatReachesOneOfTwoRefereesAsksItForAllItsSessions(t *testing.T) {
	balancer, unreachable := newReferee(t), nowhere(t)
	bot := run(t, first, Options{Referees: []string{balancer.address}, MaxSessions: 3})
	stream := balancer.stream(t)
	if stream.hello.GetMaxSessions() != 3 {
		t.Errorf("hello %v", stream.hello)
	}
	stream.hello.MaxSessions = nil // the referee gives it none of them
	stream.welcome("a", at("b", unreachable), at("a", balancer.address))
	stream.asks(3)
	bot.leaves(t, balancer, stream)
}

func TestBotGivesSessionsBackToARefereeThatComesBack(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	arena := []*pb.Referee{at("a", referee.address), at("b", other.address)}
	bot := run(t, first, Options{Referees: []string{referee.address}, MaxSessions: 3})
	stream := referee.stream(t)
	stream.hello.MaxSessions = &[]uint32{2}[0]
	stream.welcome("a", arena...)
	other.stream(t).ended <- status.Error(codes.Unavailable, "restarting")
	stream.asks(3)
	second := other.stream(t)
	second.welcome("b", arena...)
	stream.asks(2)
	bot.leaves(t, referee, stream, second)
}

// asks fails unless the bot asks for so many sessions.
func (s *fakeStream) asks(sessions uint32) {
	s.t.Helper()
	if request := s.request(); request.GetCapacity().GetMaxSessions() != sessions {
		s.t.Errorf("%v, not a capacity of %d", request, sessions)
	}
}
