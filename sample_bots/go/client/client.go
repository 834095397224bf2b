// Package client is a bot's side of the Play stream: it connects to every referee of an arena, keeps the
// state of every session, answers pings, batches moves, reconnects and leaves politely. What to play is a
// Strategy's matter.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// Waits between attempts to connect: doubling, each drawn at random from half to the whole.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// Refused says that a referee will not have the bot, and another attempt cannot change that.
type Refused struct {
	Referee string
	Code    codes.Code
	Reason  string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("referee %s refuses the bot: %s: %s", r.Referee, r.Code, r.Reason)
}

// Run plays until ctx is done; then it says goodbye to all referees and returns nil. It returns a *Refused as
// soon as one of the referees will not have the bot. newStrategy is called for every session, also for one
// that is met again after a lost connection.
func Run(ctx context.Context, options Options, newStrategy func(*Session) Strategy, log *slog.Logger) error {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	c := &client{
		options: options, newStrategy: newStrategy, log: log, refuse: refuse,
		dialled: make(map[string]bool), live: make(map[string]bool), entries: make(map[string]string),
	}
	c.meet(ctx, options.Referees)
	c.streams.Wait()
	if refused := (*Refused)(nil); errors.As(context.Cause(ctx), &refused) {
		return refused
	}
	return nil
}

type client struct {
	options     Options
	newStrategy func(*Session) Strategy
	log         *slog.Logger
	refuse      context.CancelCauseFunc
	streams     sync.WaitGroup

	mutex sync.Mutex
	// dialled has the addresses that the bot is connected to, or tries to be.
	dialled map[string]bool
	// live has those of them where it was welcomed.
	live map[string]bool
	// entries says which entry of the list of referees an address led to last, where the referee said it.
	entries map[string]string
	// listed is the list of referees of the last welcome.
	listed []string
}

// meet opens a stream to each referee that has none.
func (c *client) meet(ctx context.Context, addresses []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, address := range addresses {
		if !c.dialled[address] && c.otherWay(address) == "" {
			c.dialled[address] = true
			c.streams.Go(func() { c.stay(ctx, address) })
		}
	}
}

// otherWay is another address at which the bot is connected to the same referee, or "".
func (c *client) otherWay(address string) string {
	for other := range c.live {
		if other != address && c.entry(other) == c.entry(address) {
			return other
		}
	}
	return ""
}

// entry is what the list of referees calls an address.
func (c *client) entry(address string) string {
	return cmp.Or(c.entries[address], address)
}

func (c *client) welcomed(ctx context.Context, address string, welcome *pb.Welcome) {
	c.mutex.Lock()
	c.live[address] = true
	c.entries[address] = welcome.GetReferee()
	if len(welcome.GetReferees()) > 1 {
		c.listed = welcome.GetReferees()
	}
	listed := c.listed
	c.mutex.Unlock()
	c.meet(ctx, listed)
}

// ended takes in that a stream has ended, and which referee refused it, if one said so. If the bot is connected to
// that referee at another address, it gives that address and the list of referees.
func (c *client) ended(address, entry string) (other string, listed []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.live, address)
	c.entries[address] = entry
	if other = c.otherWay(address); other != "" {
		delete(c.dialled, address)
	}
	return other, c.listed
}

// stay keeps a stream to a referee until ctx is done, the bot is refused, or it turns out that the bot is connected
// to that referee at another address.
func (c *client) stay(ctx context.Context, address string) {
	log := c.log.With("referee", address)
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, lastWait) {
		began := time.Now()
		entry, err := c.play(ctx, address, log)
		if final(err) {
			c.refuse(&Refused{address, status.Code(err), status.Convert(err).Message()})
			return
		}
		if ctx.Err() != nil {
			return
		}
		if other, listed := c.ended(address, entry); other != "" {
			log.Info("not needed, the bot is connected to it at another address", "other", other)
			c.meet(ctx, listed) // this address may have led to another referee before
			return
		}
		if time.Since(began) > lastWait {
			wait = firstWait
		}
		log.Info("not connected, trying again", "reason", reason(err))
		sleep(ctx, wait/2+rand.N(wait/2))
	}
}

// play plays until the stream ends; it says which referee refused the bot, if that says it.
func (c *client) play(ctx context.Context, address string, log *slog.Logger) (entry string, err error) {
	s := &stream{
		options: c.options,
		table:   newTable(c.newStrategy, log),
		welcomed: func(welcome *pb.Welcome) {
			log.Info("connected", "bot", welcome.GetBot())
			c.welcomed(ctx, address, welcome)
		},
	}
	err = s.play(ctx, address)
	return s.refusedBy, err
}

// final tells whether another attempt would fail in the same way.
func final(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.InvalidArgument:
		return true
	}
	return false
}

func reason(err error) string {
	if err == nil {
		return "the referee ended the stream"
	}
	return status.Convert(err).Message()
}

func sleep(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}
