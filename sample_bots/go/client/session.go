package client

import (
	"encoding/json"
	"errors"
	"fmt"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// Ruleset is a part of the rules of a session; the whole is in SessionStarted.ruleset.
type Ruleset struct {
	Name string `json:"name"`
	// Decks is the number of packs.
	Decks int `json:"decks"`
	// Ranks and Suits are in order, the lowest first.
	Ranks []string `json:"ranks"`
	Suits []string `json:"suits"`
	// Plays is the kinds that may be played.
	Plays []string `json:"plays"`
	// LastTopCard is "allowed", or what the highest card may not do as the last one.
	LastTopCard string `json:"last_top_card"`
	// DrawOnPass is "none" unless who passes draws cards.
	DrawOnPass string `json:"draw_on_pass"`
}

// cardRanks names the ranks in the order of the card numbers; with 60 tiles some have other names.
var cardRanks = map[string]int{
	"3": 0, "4": 1, "5": 2, "6": 3, "7": 4, "8": 5, "9": 6, "T": 7, "J": 8, "Q": 9, "K": 10, "A": 11, "2": 12,
	"14": 13, "15": 14, "10": 7, "11": 8, "12": 9, "13": 10, "1": 11,
}

var cardSuits = map[string]int{"D": 0, "C": 1, "H": 2, "S": 3}

// check says what a ruleset lacks, or what of its pack is not known here.
func (r Ruleset) check() error {
	if len(r.Ranks) == 0 || len(r.Suits) == 0 {
		return errors.New("session_started.ruleset: no ranks or no suits")
	}
	for _, rank := range r.Ranks {
		if _, known := cardRanks[rank]; !known {
			return fmt.Errorf("session_started.ruleset: unknown rank %q", rank)
		}
	}
	for _, suit := range r.Suits {
		if _, known := cardSuits[suit]; !known {
			return fmt.Errorf("session_started.ruleset: unknown suit %q", suit)
		}
	}
	return nil
}

// Order lists the cards of a pack, the lowest first: by rank, and by suit within a rank.
func (r Ruleset) Order() []pb.Card {
	cards := make([]pb.Card, 0, len(r.Ranks)*len(r.Suits))
	for _, rank := range r.Ranks {
		for _, suit := range r.Suits {
			cards = append(cards, pb.Card(4*cardRanks[rank]+cardSuits[suit]+1))
		}
	}
	return cards
}

// Session is one session as the bot sees it: the sum of the events that it was sent.
type Session struct {
	// Started is the message that opened it: names, ruleset, seats, clocks.
	Started *pb.SessionStarted
	Ruleset Ruleset
	// Seat is the bot's own.
	Seat int
	// Scores is the running score by seat.
	Scores []int32
	// Deal counts from 1; 0 before the first.
	Deal int
	// Clockwise is true when seat s is followed by seat s + 1, false when by s - 1.
	Clockwise bool
	// Hand is the bot's own cards.
	Hand Cards
	// Counts is how many cards each seat holds.
	Counts []int
	// Gone is all cards that were played in this deal.
	Gone Cards
	// Actions is what happened in this deal.
	Actions []*pb.Action
}

// NewSession opens a session. It fails when the ruleset cannot be read or the seat is none of the seats.
func NewSession(started *pb.SessionStarted) (*Session, error) {
	session := &Session{Started: started, Seat: int(started.GetSeat()), Scores: started.GetScores()}
	if err := json.Unmarshal([]byte(started.GetRuleset()), &session.Ruleset); err != nil {
		return nil, fmt.Errorf("session_started.ruleset: %w", err)
	}
	if err := session.Ruleset.check(); err != nil {
		return nil, err
	}
	if started.Seat == nil || session.Seat >= len(started.GetSeats()) {
		return nil, fmt.Errorf("session_started.seat: %d of %d", session.Seat, len(started.GetSeats()))
	}
	session.Counts = make([]int, len(started.GetSeats()))
	return session, nil
}

// Next is the seat that plays after seat.
func (s *Session) Next(seat int) int {
	if s.Clockwise {
		return (seat + 1) % len(s.Counts)
	}
	return (seat + len(s.Counts) - 1) % len(s.Counts)
}

func (s *Session) dealStarted(started *pb.DealStarted) {
	s.Deal = int(started.GetDeal())
	s.Clockwise = started.GetDirection() == pb.Direction_DIRECTION_CLOCKWISE
	s.Hand = NewCards(started.GetHand()...)
	for seat := range s.Counts {
		s.Counts[seat] = 0
		if seat < len(started.GetHandSizes()) {
			s.Counts[seat] = int(started.GetHandSizes()[seat])
		}
	}
	s.Gone = Cards{}
	s.Actions = nil
}

func (s *Session) dealEnded(ended *pb.DealEnded) {
	s.happened(ended.GetActions())
	s.Scores = ended.GetScores()
}

func (s *Session) happened(actions []*pb.Action) {
	for _, action := range actions {
		s.Actions = append(s.Actions, action)
		if action.GetKind() == pb.ActionKind_ACTION_KIND_EXCHANGE {
			s.exchanged(action)
			continue
		}
		cards := NewCards(action.GetCards()...)
		s.Gone = s.Gone.Plus(cards)
		s.count(action.GetSeat(), int(action.GetDrawn())-cards.Len())
		if int(action.GetSeat()) == s.Seat {
			s.Hand = s.Hand.Minus(cards).Plus(NewCards(action.GetDrawnCards()...))
		}
	}
}

func (s *Session) exchanged(action *pb.Action) {
	s.count(action.GetSeat(), -1)
	s.count(action.GetPartner(), 1)
	card := NewCards(action.GetCards()...)
	switch s.Seat {
	case int(action.GetSeat()):
		s.Hand = s.Hand.Minus(card)
	case int(action.GetPartner()):
		s.Hand = s.Hand.Plus(card)
	}
}

func (s *Session) count(seat uint32, change int) {
	if int(seat) < len(s.Counts) {
		s.Counts[seat] += change
	}
}
