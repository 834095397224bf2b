package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// deadline is when a test gives up on an event.
const deadline = 20 * time.Second

// fakeReferee hands every stream to the test.
type fakeReferee struct {
	pb.UnimplementedRefereeServiceServer
	address string
	streams chan *fakeStream
}

// fakeStream is the referee's side of a stream; the call ends with what is sent to ended.
type fakeStream struct {
	pb.RefereeService_PlayServer
	t        *testing.T
	requests chan *pb.PlayRequest // closed when the bot's side ends
	ended    chan error
}

func (r *fakeReferee) Play(call pb.RefereeService_PlayServer) error {
	stream := &fakeStream{call, nil, make(chan *pb.PlayRequest, 100), make(chan error, 1)}
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
	pb.RegisterRefereeServiceServer(server, referee)
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
	hello := stream.request().GetHello()
	if hello.GetToken() != "secret" || hello.GetProtocolVersion() != 1 || !hello.GetListLegalPlays() {
		t.Fatalf("hello %v", hello)
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

func (s *fakeStream) welcome(referees ...string) {
	s.t.Helper()
	s.send(&pb.PlayResponse{Welcome: &pb.Welcome{Bot: "owner/bot@1", Referees: referees}})
}

// running is a bot that runs until the test's end or leave.
type running struct {
	leave context.CancelFunc
	ended chan error
}

func run(t *testing.T, strategy choosing, options Options) *running {
	t.Helper()
	return runLogging(t, strategy, options, quiet)
}

func runLogging(t *testing.T, strategy choosing, options Options, log *slog.Logger) *running {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	bot := &running{leave, make(chan error, 1)}
	options.Token = "secret"
	go func() {
		bot.ended <- Run(ctx, options, func(*Session) Strategy { return strategy }, log)
	}()
	return bot
}

func turnOf(session uint32) *pb.Event {
	event := asked(&pb.Turn{Kind: pb.TurnKind_TURN_KIND_PLAY, LegalPlays: legal([]pb.Card{c3D})})
	event.GetTurn().Session = session
	return event
}

func TestBotAnswersABatchOfTurnsWithOneOfMoves(t *testing.T) {
	referee := newReferee(t)
	run(t, first, Options{Referees: []string{referee.address}})
	stream := referee.stream(t)
	stream.welcome()
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
	stream.welcome()
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

func TestBotConnectsAgain(t *testing.T) {
	for name, end := range map[string]error{
		"when the stream breaks":       status.Error(codes.Unavailable, "restarting"),
		"when the referee ends it":     nil,
		"when it is connected already": status.Error(codes.AlreadyExists, "connected already"),
		"when it has flooded":          status.Error(codes.ResourceExhausted, "too many messages"),
	} {
		t.Run(name, func(t *testing.T) {
			referee := newReferee(t)
			run(t, first, Options{Referees: []string{referee.address}})
			referee.stream(t).ended <- end
			stream := referee.stream(t)
			stream.welcome()
			resumed := started()
			resumed.GetSessionStarted().Resumed = true
			stream.send(&pb.PlayResponse{Events: []*pb.Event{resumed, dealt(c3D), turnOf(7)}})
			if moves := stream.request().GetMoves(); len(moves) != 1 {
				t.Errorf("moves %v", moves)
			}
		})
	}
}

func TestBotLeavesWhileNoRefereeIsThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bot := run(t, first, Options{Referees: []string{listener.Addr().String()}})
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	bot.leave()
	if err := receive(t, bot.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestBotEndsWhenItIsRefused(t *testing.T) {
	for _, code := range []codes.Code{
		codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.InvalidArgument,
	} {
		t.Run(code.String(), func(t *testing.T) {
			referee, other := newReferee(t), newReferee(t)
			bot := run(t, first, Options{Referees: []string{referee.address, other.address}})
			stream := other.stream(t)
			stream.welcome()
			stream.send(&pb.PlayResponse{Ping: &pb.Ping{Id: 1}})
			stream.request()
			referee.stream(t).ended <- status.Error(code, "the reason")
			if stream.request().GetGoodbye() == nil {
				t.Error("no goodbye to the other referee")
			}
			stream.ended <- nil
			var refused *Refused
			if err := receive(t, bot.ended); !errors.As(err, &refused) || refused.Code != code ||
				refused.Referee != referee.address || refused.Reason != "the reason" {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestBotSaysGoodbye(t *testing.T) {
	referee := newReferee(t)
	bot := run(t, first, Options{Referees: []string{referee.address}})
	stream := referee.stream(t)
	stream.welcome()
	stream.send(&pb.PlayResponse{Ping: &pb.Ping{Id: 1}})
	stream.request()
	bot.leave()
	if stream.request().GetGoodbye() == nil {
		t.Error("no goodbye")
	}
	for request := range stream.requests {
		t.Errorf("%v after the goodbye", request)
	}
	stream.ended <- nil
	if err := receive(t, bot.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestBotPlaysAtEveryRefereeOfTheWelcome(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	run(t, first, Options{Referees: []string{referee.address}})
	stream := referee.stream(t)
	stream.welcome(referee.address, other.address)
	for _, stream := range []*fakeStream{stream, other.stream(t)} {
		stream.send(&pb.PlayResponse{Events: []*pb.Event{started(), dealt(c3D), turnOf(7)}})
		if moves := stream.request().GetMoves(); len(moves) != 1 {
			t.Errorf("moves %v", moves)
		}
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
	for until := time.Now().Add(deadline); time.Now().Before(until); {
		line := receive(t, n)
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return
		}
	}
	t.Fatalf("the log does not tell of %q", parts)
}

// runTelling is run; it tells the news too.
func runTelling(t *testing.T, addresses ...string) (*running, news) {
	t.Helper()
	told := make(news, 1000)
	return runLogging(t, first, Options{Referees: addresses}, slog.New(slog.NewTextHandler(told, nil))), told
}

// welcomeAt welcomes the bot as the referee whose entry in the list is this one.
func (s *fakeStream) welcomeAt(entry string, referees ...string) {
	s.t.Helper()
	s.send(&pb.PlayResponse{Welcome: &pb.Welcome{Bot: "owner/bot@1", Referees: referees, Referee: entry}})
}

// refuseAt refuses the bot as the referee with this entry, where it is connected already.
func (s *fakeStream) refuseAt(entry string) {
	s.SetTrailer(metadata.Pairs("referee", entry))
	s.ended <- status.Error(codes.AlreadyExists, "connected already")
}

// plays fails unless the bot answers a turn on the stream.
func (s *fakeStream) plays() {
	s.t.Helper()
	s.send(&pb.PlayResponse{Events: []*pb.Event{started(), dealt(c3D), turnOf(7)}})
	if moves := s.request().GetMoves(); len(moves) != 1 {
		s.t.Errorf("moves %v", moves)
	}
}

// local is another spelling of an address.
func local(address string) string {
	return strings.Replace(address, "127.0.0.1", "localhost", 1)
}

// leaves fails unless the bot says goodbye on these streams and ends, and had no other ones to a referee.
func (r *running) leaves(t *testing.T, referee *fakeReferee, streams ...*fakeStream) {
	t.Helper()
	r.leave()
	for _, stream := range streams {
		if stream.request().GetGoodbye() == nil {
			t.Error("no goodbye")
		}
		stream.ended <- nil
	}
	if err := receive(t, r.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
	if more := len(referee.streams); more > 0 {
		t.Errorf("%d streams too many", more)
	}
}

func TestBotHasOneStreamToARefereeThatIsListedWithAnotherAddress(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	bot := run(t, first, Options{Referees: []string{local(referee.address)}})
	stream := referee.stream(t)
	stream.welcomeAt(referee.address, referee.address, other.address)
	second := other.stream(t)
	second.welcomeAt(other.address, referee.address, other.address)
	second.plays()
	stream.plays()
	bot.leaves(t, referee, stream, second)
}

func TestBotGivesUpASecondAddressOfAReferee(t *testing.T) {
	for name, entry := range map[string]func(string) string{
		"when the first one is listed":  func(address string) string { return address },
		"when the second one is listed": local,
		"when none of them is listed":   func(string) string { return "arena.example.org:8710" },
	} {
		t.Run(name, func(t *testing.T) {
			referee := newReferee(t)
			entry := entry(referee.address)
			bot, told := runTelling(t, referee.address, local(referee.address))
			stream := referee.stream(t)
			stream.welcomeAt(entry, entry)
			stream.plays() // now it has read the welcome
			referee.stream(t).refuseAt(entry)
			told.wait(t, "not needed")
			stream.plays()
			bot.leaves(t, referee, stream)
		})
	}
}

func TestBotGivesUpAListedAddressThatLeadsNowhereWhenAnotherOneLeadsThere(t *testing.T) {
	referee := newReferee(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	bot, told := runTelling(t, nowhere, referee.address)
	stream := referee.stream(t)
	stream.welcomeAt(nowhere, nowhere)
	told.wait(t, "not needed", nowhere, referee.address)
	stream.plays()
	bot.leaves(t, referee, stream)
}

func TestBotGoesToTheListedAddressWhenItsOwnLeadsToAnotherReferee(t *testing.T) {
	gateway, referee, other := newReferee(t), newReferee(t), newReferee(t)
	bot, told := runTelling(t, gateway.address)
	stream := gateway.stream(t)
	stream.welcomeAt(referee.address, referee.address, other.address)
	second := other.stream(t)
	second.welcomeAt(other.address, referee.address, other.address)
	second.plays()
	stream.ended <- status.Error(codes.Unavailable, "restarting")
	gateway.stream(t).refuseAt(other.address)
	told.wait(t, "not needed", gateway.address, other.address)
	first := referee.stream(t)
	first.welcomeAt(referee.address, referee.address, other.address)
	first.plays()
	bot.leaves(t, gateway, first, second)
}

func TestBotTriesAgainWhereAnotherProcessOfItIsConnected(t *testing.T) {
	referee, other := newReferee(t), newReferee(t)
	bot := run(t, first, Options{Referees: []string{other.address, referee.address}})
	second := other.stream(t)
	second.welcomeAt(other.address, referee.address, other.address)
	second.plays()
	referee.stream(t).refuseAt(referee.address)
	stream := referee.stream(t)
	stream.welcomeAt(referee.address, referee.address, other.address)
	stream.plays()
	bot.leaves(t, referee, stream, second)
}

func TestBotConnectsWithTLS(t *testing.T) {
	authority := newAuthority(t)
	certificate, key := authority.issue(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority.certificate)
	referee := newReferee(t, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	})))
	config, err := tlsFromFiles(authority.file, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	run(t, first, Options{Referees: []string{referee.address}, TLS: config})
	referee.stream(t)
}

// authority issues certificates for 127.0.0.1.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, writePem(t, "CERTIFICATE", der)}
}

// issue gives the files of a certificate and of its key.
func (a *authority) issue(t *testing.T) (certificate, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}},
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePem(t, "CERTIFICATE", der), writePem(t, "PRIVATE KEY", secret)
}

func writePem(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
