package client

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

const (
	protocolVersion = 1
	sdk             = "bigtwo-arena go 0.1"

	// flushAfter is how long a bot that thinks keeps answers back.
	flushAfter = 5 * time.Millisecond
	// welcomeWithin is how long the referee is waited for.
	welcomeWithin = 20 * time.Second
	// farewellWithin is how long the end of the stream is waited for after a goodbye.
	farewellWithin = 3 * time.Second
	// smallestLimit holds any move, whatever the welcome says.
	smallestLimit = 4096
)

var errNoWelcome = errors.New("no welcome came")

// stream is one connection to one referee. One goroutine reads and answers pings, one folds events and asks
// the strategies, one writes.
type stream struct {
	options Options
	table   *table
	// welcomed is called once, with the referee's welcome.
	welcomed func(*pb.Welcome)
	// refusedBy is what the list of referees calls the one that ended the stream, where it says so.
	refusedBy string

	events   *queue[*pb.Event]
	requests *queue[*pb.PlayRequest]
	limit    atomic.Int64 // bytes of a message
}

// play plays until the stream ends; nil when the referee ended it with OK. When leaving is done it says
// goodbye.
func (s *stream) play(leaving context.Context, address string) error {
	s.events, s.requests = newQueue[*pb.Event](), newQueue[*pb.PlayRequest]()
	s.limit.Store(smallestLimit)
	ctx, end := context.WithCancelCause(context.WithoutCancel(leaving))
	defer end(nil)
	timer := time.AfterFunc(welcomeWithin, func() { end(errNoWelcome) })
	defer timer.Stop()
	// Until the welcome there is nobody to say goodbye to.
	leave := context.AfterFunc(leaving, func() { end(leaving.Err()) })
	defer func() { leave() }()

	connection, err := grpc.NewClient(address, s.dialOptions()...)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	call, err := pb.NewRefereeServiceClient(connection).Play(ctx)
	if err != nil {
		return cause(ctx, err)
	}
	if err := call.Send(&pb.PlayRequest{Hello: s.hello()}); err != nil && !errors.Is(err, io.EOF) {
		return cause(ctx, err)
	}
	go s.write(ctx, call)
	go s.think(ctx)
	for {
		response, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			s.refusedBy = strings.Join(call.Trailer().Get("referee"), "")
			return cause(ctx, err)
		}
		if ping := response.GetPing(); ping != nil {
			s.requests.push(&pb.PlayRequest{Pong: &pb.Pong{Id: ping.GetId()}})
		}
		if welcome := response.GetWelcome(); welcome != nil && timer.Stop() && leave() {
			s.limit.Store(max(smallestLimit, int64(welcome.GetMaxMessageBytes())))
			leave = context.AfterFunc(leaving, func() {
				s.requests.push(&pb.PlayRequest{Goodbye: &pb.Goodbye{}})
				time.AfterFunc(farewellWithin, func() { end(leaving.Err()) })
			})
			s.welcomed(welcome)
		}
		if events := response.GetEvents(); len(events) > 0 {
			s.events.push(events...)
		}
	}
}

// cause is why a call failed: the reason for which it was ended here, else what gRPC says.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}

func (s *stream) hello() *pb.Hello {
	return &pb.Hello{
		Token:           s.options.Token,
		ProtocolVersion: protocolVersion,
		Sdk:             sdk,
		MaxSessions:     s.options.MaxSessions,
		ListLegalPlays:  true,
	}
}

func (s *stream) dialOptions() []grpc.DialOption {
	security := insecure.NewCredentials()
	if s.options.TLS != nil {
		security = credentials.NewTLS(s.options.TLS)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
	}
}

// write sends what waits, as few messages as it can. What goes wrong here is told to the reader, too.
func (s *stream) write(ctx context.Context, call pb.RefereeService_PlayClient) {
	for parts := s.requests.pop(ctx); parts != nil; parts = s.requests.pop(ctx) {
		for _, request := range batch(parts, int(s.limit.Load())) {
			if call.Send(request) != nil {
				return
			}
			if request.Goodbye != nil {
				_ = call.CloseSend()
				return
			}
		}
	}
}

// think folds events and answers turns: a batch of turns with one of moves, or sooner when it takes long.
func (s *stream) think(ctx context.Context) {
	for events := s.events.pop(ctx); events != nil; events = s.events.pop(ctx) {
		var moves []*pb.Move
		flushAt := time.Now().Add(flushAfter)
		for _, event := range events {
			if move := s.table.take(event); move != nil {
				moves = append(moves, move)
			}
			if len(moves) > 0 && time.Now().After(flushAt) {
				s.requests.push(&pb.PlayRequest{Moves: moves})
				moves, flushAt = nil, time.Now().Add(flushAfter)
			}
		}
		if len(moves) > 0 {
			s.requests.push(&pb.PlayRequest{Moves: moves})
		}
	}
}
