package client

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// deadline is when a test gives up on an event.
const deadline = 20 * time.Second

// fakeReferee hands every stream to the test.
type fakeReferee struct {
	pb.UnimplementedBotServiceServer
	address string
	streams chan *fakeStream
}

// fakeStream is the referee's side of a stream; the call ends with what is sent to ended.
type fakeStream struct {
	pb.BotService_PlayServer
	t        *testing.T
	hello    *pb.Hello
	requests chan *pb.PlayRequest // closed when the bot's side ends
	ended    chan error
}

func (r *fakeReferee) Play(call pb.BotService_PlayServer) error {
	stream := &fakeStream{call, nil, nil, make(chan *pb.PlayRequest, 100), make(chan error, 1)}
	go func() {
		defer close(stream.requests)
		for {
			request, err := call.Recv()
			if err != nil {
				return
			}
			stream.requests <- request
		}
	}()
	r.streams <- stream
	select {
	case err := <-stream.ended:
		return err
	case <-call.Context().Done():
		return nil
	}
}

func newReferee(t *testing.T, options ...grpc.ServerOption) *fakeReferee {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	referee := &fakeReferee{address: listener.Addr().String(), streams: make(chan *fakeStream, 10)}
	server := grpc.NewServer(options...)
	pb.RegisterBotServiceServer(server, referee)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return referee
}

// receive waits for what must come.
func receive[T any](t *testing.T, channel <-chan T) T {
	t.Helper()
	select {
	case value, ok := <-channel:
		if !ok {
			t.Fatal("the stream ended")
		}
		return value
	case <-time.After(deadline):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// stream takes the bot's next stream and its hello.
func (r *fakeReferee) stream(t *testing.T) *fakeStream {
	t.Helper()
	stream := receive(t, r.streams)
	stream.t = t
	if told, _ := metadata.FromIncomingContext(stream.Context()); told.Get("authorization")[0] != "Bearer secret" {
		t.Fatalf("metadata %v", told)
	}
	stream.hello = stream.request().GetHello()
	if stream.hello.GetProtocolVersion() != 1 || !stream.hello.GetWants().GetLegalPlays() {
		t.Fatalf("hello %v", stream.hello)
	}
	return stream
}

func (s *fakeStream) request() *pb.PlayRequest {
	s.t.Helper()
	return receive(s.t, s.requests)
}

func (s *fakeStream) send(response *pb.PlayResponse) {
	s.t.Helper()
	if err := s.Send(response); err != nil {
		s.t.Fatal(err)
	}
}

// welcome welcomes the bot as the referee with this id, in an arena of these referees.
func (s *fakeStream) welcome(id string, referees ...*pb.Referee) {
	s.t.Helper()
	s.send(&pb.PlayResponse{Welcome: &pb.Welcome{
		Bot: "owner/bot@1", RefereeId: id, Referees: referees, MaxSessions: s.hello.GetMaxSessions(),
	}})
}

// plays fails unless the bot answers a turn on the stream.
func (s *fakeStream) plays() {
	s.t.Helper()
	s.send(&pb.PlayResponse{Events: []*pb.Event{started(), dealt(c3D), turnOf(7)}})
	if moves := s.request().GetMoves(); len(moves) != 1 {
		s.t.Errorf("moves %v", moves)
	}
}

// answersPing makes sure that the bot has read what was sent before.
func (s *fakeStream) answersPing() {
	s.t.Helper()
	s.send(&pb.PlayResponse{Ping: &pb.Ping{Id: 1}})
	if request := s.request(); request.GetPong().GetId() != 1 {
		s.t.Fatalf("a ping was answered by %v", request)
	}
}

// at is a referee of the arena.
func at(id, address string) *pb.Referee { return &pb.Referee{Id: id, Address: address} }

// failing is a status as a referee ends a call with it.
func failing(t *testing.T, code codes.Code, reason string, details ...protoadapt.MessageV1) error {
	t.Helper()
	info := &errdetails.ErrorInfo{Reason: reason, Domain: domain}
	made, err := status.New(code, "in words").WithDetails(append([]protoadapt.MessageV1{info}, details...)...)
	if err != nil {
		t.Fatal(err)
	}
	return made.Err()
}

// again is what a status says where trying again can help.
func again(delay time.Duration) protoadapt.MessageV1 {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}
}

// connected is why a referee refuses a bot that is connected to it already.
func connected(t *testing.T, id string) error {
	t.Helper()
	info := &errdetails.ErrorInfo{
		Reason: "ALREADY_CONNECTED", Domain: domain, Metadata: map[string]string{"referee_id": id},
	}
	made, err := status.New(codes.Aborted, "connected already").WithDetails(info, again(0))
	if err != nil {
		t.Fatal(err)
	}
	return made.Err()
}

// running is a bot that runs until the test's end, or is told to finish or to leave.
type running struct {
	finish, leave context.CancelFunc
	ended         chan error
	told          news
}

func run(t *testing.T, strategy choosing, options Options) *running {
	t.Helper()
	leaving, leave := context.WithCancel(t.Context())
	finishing, finish := context.WithCancel(leaving)
	bot := &running{finish, leave, make(chan error, 1), make(news, 1000)}
	options.Token = "secret"
	log := slog.New(slog.NewTextHandler(bot.told, nil))
	go func() {
		bot.ended <- Run(leaving, finishing, options, func(*Session) Strategy { return strategy }, log)
	}()
	return bot
}

// runAt runs a bot that plays the first legal play at these addresses.
func runAt(t *testing.T, addresses ...string) *running {
	t.Helper()
	return run(t, first, Options{Referees: addresses})
}

// leaves tells the bot to leave at once, and fails unless the bot says goodbye on these streams and ends, and had no other ones to a referee.
func (r *running) leaves(t *testing.T, referee *fakeReferee, streams ...*fakeStream) {
	t.Helper()
	r.leave()
	for _, stream := range streams {
		if stream.request().GetGoodbye() == nil {
			t.Error("no goodbye")
		}
		stream.ended <- nil
	}
	r.end(t)
	if more := len(referee.streams); more > 0 {
		t.Errorf("%d streams too many", more)
	}
}

// end waits for the bot's end, which must be a good one.
func (r *running) end(t *testing.T) {
	t.Helper()
	if err := receive(t, r.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// news has the messages of a log.
type news chan string

func (n news) Write(line []byte) (int, error) {
	n <- string(line)
	return len(line), nil
}

// wait waits for a message that has these parts.
func (n news) wait(t *testing.T, parts ...string) {
	t.Helper()
	for {
		line := receive(t, n)
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return
		}
	}
}

func turnOf(session uint32) *pb.Event {
	event := asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, LegalPlays: legal([]pb.Card{c3D})})
	event.GetTurn().Session = session
	return event
}
