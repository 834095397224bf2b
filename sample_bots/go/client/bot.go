package client

import (
	"fmt"
	"log/slog"
	"strings"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// longestFailure is how many characters of a failure the referee keeps.
const longestFailure = 1000

// Turn is a decision that is asked of the bot.
type Turn struct {
	// Session is how the session stands; not to be changed.
	Session *Session
	Kind    pb.TurnKind
	// Legal is all legal plays: by number of cards and kind, weakest first.
	Legal []Cards
	// ToBeat is the play to beat; empty when leading.
	ToBeat  Cards
	CanPass bool
	// Message is the turn as it was sent: clocks, and all that is not needed often.
	Message *pb.Turn
}

// Strategy plays one session.
type Strategy interface {
	// Choose gives one of the turn's legal plays, or no cards for a pass. It is called for the kinds of turns
	// that are known here, for one turn at a time of a referee's sessions.
	Choose(turn Turn) Cards
}

// seat is the bot in one session.
type seat struct {
	session  *Session
	strategy Strategy
}

// table holds the open sessions of one stream. It is a pure fold: events in, moves out.
type table struct {
	newStrategy func(*Session) Strategy
	log         *slog.Logger
	story       *story
	strict      bool
	// seats has the open sessions; nil stands for one that cannot be read.
	seats map[uint32]*seat
}

func newTable(newStrategy func(*Session) Strategy, log *slog.Logger, story *story, strict bool) *table {
	return &table{newStrategy, log, story, strict, make(map[uint32]*seat)}
}

// busy tells whether any session is open.
func (t *table) busy() bool { return len(t.seats) > 0 }

// take takes in an event. It gives the move that answers a turn, and nil for every other event.
func (t *table) take(event *pb.Event) *pb.Move {
	switch {
	case event.GetTurn() != nil:
		return t.answer(event.GetTurn())
	case event.GetSessionStarted() != nil:
		t.open(event.GetSessionStarted())
	case event.GetDealStarted() != nil:
		if seat := t.seats[event.GetDealStarted().GetSession()]; seat != nil {
			seat.session.dealStarted(event.GetDealStarted())
		}
	case event.GetDealEnded() != nil:
		if seat := t.seats[event.GetDealEnded().GetSession()]; seat != nil {
			seat.session.dealEnded(event.GetDealEnded())
		}
	case event.GetSessionEnded() != nil:
		t.close(event.GetSessionEnded())
	case event.GetFault() != nil:
		t.fault(event.GetFault())
	case event.GetNotice() != nil:
		t.log.Info("notice", "text", event.GetNotice().GetText())
	}
	return nil
}

func (t *table) fault(fault *pb.Fault) {
	log := t.log
	if seat := t.seats[fault.GetSession()]; seat != nil {
		log = log.With("session", seat.session.Started.GetSessionId(), "deal", seat.session.Deal)
	}
	log.Warn("fault", "reason", fault.GetReason(), "faults", fault.GetFaults(), "limit", fault.GetFaultLimit(),
		"hand", NewCards(fault.GetHand()...), "answered", NewCards(fault.GetAnswered()...),
		"played_instead", NewCards(fault.GetDefaultCards()...))
}

func (t *table) open(started *pb.SessionStarted) {
	t.seats[started.GetSession()] = nil
	session, err := NewSession(started)
	if err != nil {
		t.log.Error("default actions are taken in a session that cannot be read", "error", err)
		return
	}
	t.story.began(session)
	t.seats[started.GetSession()] = &seat{session, t.made(session)}
}

// made gives the strategy for a session; of a bot that fails to make one, a strategy that fails at each turn, unless
// the bot is strict.
func (t *table) made(session *Session) (strategy Strategy) {
	if !t.strict {
		defer func() {
			if reason := recover(); reason != nil {
				strategy = unmade{reason}
			}
		}()
	}
	if strategy = t.newStrategy(session); strategy == nil {
		panic("no strategy was made for the session")
	}
	return strategy
}

// unmade stands for a strategy that could not be made.
type unmade struct{ reason any }

func (u unmade) Choose(Turn) Cards { panic(u.reason) }

func (t *table) close(ended *pb.SessionEnded) {
	if seat := t.seats[ended.GetSession()]; seat != nil {
		t.story.ended(seat.session, ended)
	}
	delete(t.seats, ended.GetSession())
}

func (t *table) answer(message *pb.Turn) *pb.Move {
	turn := Turn{
		Kind:    message.GetKind(),
		Legal:   make([]Cards, len(message.GetLegalPlays())),
		ToBeat:  NewCards(message.GetToBeat()...),
		CanPass: message.GetCanPass(),
		Message: message,
	}
	for i, play := range message.GetLegalPlays() {
		turn.Legal[i] = NewCards(play.GetCards()...)
	}
	cards, failure := defaultAction(turn), ""
	if seat := t.seats[message.GetSession()]; seat != nil {
		seat.session.happened(message.GetActions())
		turn.Session = seat.session
		if known(turn.Kind) {
			cards, failure = t.choose(seat.strategy, turn)
		}
	}
	if failure != "" {
		return &pb.Move{Session: message.GetSession(), Sequence: message.GetSequence(), Failure: failure}
	}
	return &pb.Move{
		Session:  message.GetSession(),
		Sequence: message.GetSequence(),
		Cards:    cards.List(),
		Passes:   cards.Empty(),
	}
}

// choose asks the strategy; unless the bot is strict, a strategy that panics does not end the session: the
// referee is told how it failed.
func (t *table) choose(strategy Strategy, turn Turn) (cards Cards, failure string) {
	if t.strict {
		return strategy.Choose(turn), ""
	}
	defer func() {
		if reason := recover(); reason != nil {
			t.log.Error("the strategy failed", "reason", reason,
				"session", turn.Session.Started.GetSessionId(), "deal", turn.Session.Deal,
				"hand", turn.Session.Hand, "to_beat", turn.ToBeat)
			failure = brief(fmt.Sprintf("panic: %v", reason))
		}
	}()
	return strategy.Choose(turn), ""
}

// brief is a text as a message can have it, and no more of it than the referee keeps.
func brief(text string) string {
	if letters := []rune(text); len(letters) > longestFailure {
		text = string(letters[:longestFailure])
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func known(kind pb.TurnKind) bool {
	_, named := pb.TurnKind_name[int32(kind)]
	return named && kind != pb.TurnKind_TURN_KIND_UNSPECIFIED
}

// defaultAction is a pass where it is legal, else the first legal play.
func defaultAction(turn Turn) Cards {
	if turn.CanPass || len(turn.Legal) == 0 {
		return Cards{}
	}
	return turn.Legal[0]
}
