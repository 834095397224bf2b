package client

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

const (
	protocolVersion = 1
	sdk             = "bigtwo-arena go 0.1"

	// flushAfter is how long a bot that thinks keeps answers back.
	flushAfter = 5 * time.Millisecond
	// welcomeWithin is how long the referee is waited for.
	welcomeWithin = 20 * time.Second
	// settleFor is how long a bot that finishes is without a session before it says goodbye.
	settleFor = 500 * time.Millisecond
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
	// owes tells whether sessions are open, here or, before the welcome, on the stream before this one.
	owes atomic.Bool

	events   *queue[*pb.Event]
	requests *queue[*pb.PlayRequest]
	limit    atomic.Int64 // bytes of a message
	closing  *pb.Closing  // the last one that came

	finishing  chan struct{} // closed by finish
	finishOnce sync.Once
}

func newStream(options Options, table *table, owes bool) *stream {
	s := &stream{
		options: options, table: table,
		events: newQueue[*pb.Event](), requests: newQueue[*pb.PlayRequest](),
		finishing: make(chan struct{}),
	}
	s.owes.Store(owes)
	s.limit.Store(smallestLimit)
	return s
}

// play plays until the stream ends; nil when the referee ended it with OK. When leave is done it says goodbye.
// The welcome is waited for only until until is done.
func (s *stream) play(leave, until context.Context, address string) error {
	ctx, end := context.WithCancelCause(context.WithoutCancel(leave))
	defer end(nil)
	timer := time.AfterFunc(welcomeWithin, func() { end(errNoWelcome) })
	defer timer.Stop()
	// Until the welcome there is nobody to say goodbye to.
	unwatch := context.AfterFunc(until, func() { end(until.Err()) })
	defer func() { unwatch() }()

	connection, err := grpc.NewClient(address, s.dialOptions()...)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	withToken := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.options.Token)
	call, err := pb.NewBotServiceClient(connection).Play(withToken)
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
			return cause(ctx, err)
		}
		if welcome := response.GetWelcome(); welcome != nil && timer.Stop() && unwatch() {
			s.limit.Store(max(smallestLimit, int64(welcome.GetMaxMessageBytes())))
			unwatch = context.AfterFunc(leave, func() {
				s.goodbye()
				time.AfterFunc(farewellWithin, func() { end(leave.Err()) })
			})
			s.welcomed(welcome)
		}
		s.receive(response)
	}
}

func (s *stream) receive(response *pb.PlayResponse) {
	if ping := response.GetPing(); ping != nil {
		s.requests.push(&pb.PlayRequest{Pong: &pb.Pong{Id: ping.GetId()}})
	}
	if closing := response.GetClosing(); closing != nil {
		s.closing = closing
		s.table.log.Info("the referee is closing", "reason", closing.GetReason(),
			"ends_within", closing.GetEndDelay().AsDuration())
	}
	if events := response.GetEvents(); len(events) > 0 {
		s.events.push(events...)
	}
}

// retryDelay is the least wait after the end of the stream, where the referee announced that it is closing.
func (s *stream) retryDelay() time.Duration { return s.closing.GetRetryDelay().AsDuration() }

// ask asks for another number of sessions at once.
func (s *stream) ask(sessions uint32) {
	s.requests.push(&pb.PlayRequest{Capacity: &pb.Capacity{MaxSessions: sessions}})
}

// finish makes the bot take no new session here, and leave when its last one has ended.
func (s *stream) finish() {
	s.finishOnce.Do(func() {
		s.ask(0)
		close(s.finishing)
	})
}

func (s *stream) goodbye() { s.requests.push(&pb.PlayRequest{Goodbye: &pb.Goodbye{}}) }

// cause is why a call failed: the reason for which it was ended here, else what gRPC says.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}

func (s *stream) hello() *pb.Hello {
	return &pb.Hello{
		ProtocolVersion: protocolVersion,
		Sdk:             sdk,
		MaxSessions:     s.options.maxSessions(),
		Capabilities:    &pb.Capabilities{MaxPacks: proto.Uint32(maxPacks), MaxCard: pb.Card_CARD_15S},
		Wants:           &pb.Wants{LegalPlays: true},
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
func (s *stream) write(ctx context.Context, call pb.BotService_PlayClient) {
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

// think folds events and answers turns. When the bot finishes, it says goodbye once no session has been open for a
// while: one may have been on its way.
func (s *stream) think(ctx context.Context) {
	finishing, finishes := s.finishing, false
	var idle <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.events.wake:
			s.answer(s.events.take())
			s.owes.Store(s.table.busy())
		case <-finishing:
			finishing, finishes = nil, true
		case <-idle:
			s.owes.Store(false)
			s.goodbye()
			return
		}
		if idle = nil; finishes && !s.table.busy() {
			idle = time.After(settleFor)
		}
	}
}

// answer answers a batch of turns with one of moves, or sooner when it takes long.
func (s *stream) answer(events []*pb.Event) {
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
