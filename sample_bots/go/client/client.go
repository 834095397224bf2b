// Package client is a bot's side of the Play stream: it connects to every referee of an arena, keeps the
// state of every session, answers pings, batches moves, reconnects and leaves politely. What to play is a
// Strategy's matter.
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// Waits between attempts to connect: doubling, each drawn at random from half to the whole. They come on top of
// the delay that a referee asks for.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// Refused says that a referee will not have the bot, and another attempt cannot change that.
type Refused struct {
	Referee string
	// Reason is the name of a pb.ErrorReason without its prefix.
	Reason string
	Text   string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("referee %s refuses the bot: %s: %s", r.Referee, r.Reason, r.Text)
}

// Run plays until finish is done: then it takes no new session, and returns when its last one has ended. When
// leave is done, it says goodbye at once and returns. It returns a *Refused as soon as one of the referees will
// not have the bot. newStrategy is called for every session, also for one that is met again after a lost
// connection.
func Run(
	leave, finish context.Context, options Options, newStrategy func(*Session) Strategy, log *slog.Logger,
) error {
	leave, refuse := context.WithCancelCause(leave)
	defer refuse(nil)
	finish, stop := context.WithCancel(finish)
	defer stop()
	context.AfterFunc(leave, stop)
	c := &client{
		leave: leave, finish: finish, refuse: refuse,
		options: options, newStrategy: newStrategy, log: log, story: newStory(log), referees: newReferees(),
	}
	context.AfterFunc(finish, c.finishAll)
	c.mutex.Lock()
	c.dial(options.Referees)
	c.mutex.Unlock()
	c.streams.Wait()
	c.story.end()
	if refused := (*Refused)(nil); errors.As(context.Cause(leave), &refused) {
		return refused
	}
	return nil
}

type client struct {
	leave, finish context.Context // of one call of Run
	refuse        context.CancelCauseFunc
	options       Options
	newStrategy   func(*Session) Strategy
	log           *slog.Logger
	story         *story
	streams       sync.WaitGroup

	mutex    sync.Mutex // holds referees
	referees *referees
}

// dial opens a stream to each address that has none.
func (c *client) dial(addresses []string) {
	for _, address := range addresses {
		if !c.referees.dialled[address] {
			c.referees.dialled[address] = true
			c.streams.Go(func() { c.stay(address) })
		}
	}
}

// stay keeps a stream to a referee until the bot leaves, is refused, or turns out to be connected to that referee
// at another address. A bot that finishes comes back only to sessions that are open.
func (c *client) stay(address string) {
	log := c.log.With("referee", address)
	until, owes, told := c.finish, false, ""
	for wait := firstWait; until.Err() == nil; wait = min(2*wait, lastWait) {
		s := newStream(c.options, newTable(c.newStrategy, log, c.story, c.options.Strict), owes)
		s.welcomed = func(welcome *pb.Welcome) {
			log.Info("connected", "bot", welcome.GetBot(), "id", welcome.GetRefereeId())
			wait, told = firstWait, ""
			c.welcomed(address, welcome, s)
		}
		failure := newFailure(s.play(c.leave, until, address))
		if failure.final() {
			c.refuse(&Refused{address, failure.reason, failure.text})
			return
		}
		if until, owes = c.finish, s.owes.Load(); owes {
			until = c.leave
		}
		if until.Err() != nil {
			return
		}
		if other := c.ended(address, failure); other != "" {
			log.Info("not needed, the bot is connected to it at another address", "other", other)
			return
		}
		if kind := failure.kind(); kind != told { // what stays the same is told once
			told = kind
			reason := failure.String()
			if why := c.whyUnreached(until, address, failure); why != "" {
				reason = why
			}
			log.Warn("not connected, trying again", "reason", reason)
		}
		sleep(until, max(failure.delay, s.retryDelay())+wait/2+rand.N(wait/2))
	}
}

// whyUnreached says why a stream did not come about, where gRPC does not know.
func (c *client) whyUnreached(ctx context.Context, address string, failure failure) string {
	if failure.code != codes.Unavailable || failure.reason != "" {
		return ""
	}
	return whyUnreached(ctx, address, c.options.TLS)
}

func (c *client) welcomed(address string, welcome *pb.Welcome, stream *stream) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.referees.welcomed(address, welcome, stream)
	if c.finish.Err() != nil {
		stream.finish()
		return
	}
	c.dial(c.referees.missing())
	c.share()
}

func (c *client) ended(address string, failure failure) (other string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	other = c.referees.ended(address, failure)
	if c.finish.Err() == nil {
		c.dial(c.referees.missing()) // this address may have led to another referee before
		c.share()
	}
	return other
}

// share asks the only referee that can be reached for all sessions of the bot, and gives back what is too many
// when another one can be reached again.
func (c *client) share() {
	alone := c.referees.alone()
	for _, home := range c.referees.live {
		wanted := home.share
		if home == alone && c.options.MaxSessions > 0 {
			wanted = c.options.MaxSessions
		}
		if wanted != home.asked {
			home.asked = wanted
			home.stream.ask(wanted)
		}
	}
}

func (c *client) finishAll() {
	if c.leave.Err() != nil {
		return // goodbyes are said
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, home := range c.referees.live {
		home.stream.finish()
	}
}

func sleep(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}
