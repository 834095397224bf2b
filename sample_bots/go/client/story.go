package client

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// mostLines is how many lines about sessions are written in a period; more are only counted.
const mostLines = 20

const period = 10 * time.Second

// story tells of the bot's sessions on all streams: against whom they begin, how they end, what the bot is rated.
type story struct {
	log *slog.Logger
	now func() time.Time

	mutex  sync.Mutex // holds all below
	since  time.Time  // when the period began
	lines  int
	untold counts
	rated  map[string]rating // by pool, the latest
}

// counts is what happened in a period without a line of its own.
type counts struct{ begun, ended, points int }

type rating struct {
	value   int32
	matches uint32
}

func newStory(log *slog.Logger) *story {
	return &story{log: log, now: time.Now, rated: make(map[string]rating)}
}

// began tells that a session began, or that the bot came back to it; and first of a rating that is news.
func (s *story) began(session *Session) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.news(session)
	if !s.may() {
		s.untold.begun++
		return
	}
	message := "session begins"
	if session.Started.GetResumed() {
		message = "session goes on"
	}
	s.log.Info(message, "session", session.Started.GetSessionId(), "tournament", session.Started.GetTournament(),
		"seat", session.Seat, "against", strings.Join(others(session), ", "), "ruleset", session.Ruleset.Name)
}

// ended tells how a session ended.
func (s *story) ended(session *Session, ended *pb.SessionEnded) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	void := session.Seat >= len(ended.GetScores())
	points := 0
	if !void {
		points = int(ended.GetScores()[session.Seat])
	}
	if !s.may() {
		s.untold.ended++
		s.untold.points += points
		return
	}
	id := session.Started.GetSessionId()
	if void {
		s.log.Info("session is void, it may be continued later", "session", id)
		return
	}
	place := 1
	for _, score := range ended.GetScores() {
		if int(score) > points {
			place++
		}
	}
	s.log.Info("session has ended", "session", id, "points", points, "place", place, "of", len(ended.GetScores()))
}

// news tells of the bot's rating where there is one, the first time and whenever a match was added to it.
func (s *story) news(session *Session) {
	ratings, seat := session.Started.GetRatings(), session.Seat
	if seat >= len(ratings.GetValues()) || seat >= len(ratings.GetMatches()) {
		return
	}
	now := rating{ratings.GetValues()[seat], ratings.GetMatches()[seat]}
	before, known := s.rated[ratings.GetPool()]
	if known && now.matches <= before.matches { // also of a match that was handed out earlier
		return
	}
	s.rated[ratings.GetPool()] = now
	if now.matches == 0 {
		s.log.Info("not rated yet", "begins_with", now.value, "pool", ratings.GetPool())
		return
	}
	log := s.log.With("rating", now.value, "pool", ratings.GetPool())
	if known {
		log = log.With("change", now.value-before.value)
	}
	log.Info("rated")
}

// may tells whether a line may be written; at the end of a period it tells in one line what was only counted.
func (s *story) may() bool {
	if now := s.now(); now.Sub(s.since) >= period {
		s.since, s.lines = now, 0
		s.sumUp()
	}
	s.lines++
	return s.lines <= mostLines
}

func (s *story) sumUp() {
	if s.untold != (counts{}) {
		s.log.Info("not shown one by one",
			"begun", s.untold.begun, "ended", s.untold.ended, "points", s.untold.points)
	}
	s.untold = counts{}
}

// end tells what was only counted.
func (s *story) end() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sumUp()
}

// others names the other bots, with their ratings where there are any.
func others(session *Session) []string {
	var names []string
	for seat, name := range session.Started.GetSeats() {
		if seat == session.Seat {
			continue
		}
		ratings := session.Started.GetRatings()
		if values, matches := ratings.GetValues(), ratings.GetMatches(); seat < min(len(values), len(matches)) {
			rating := "not rated yet"
			if matches[seat] > 0 {
				rating = fmt.Sprint(values[seat])
			}
			name = fmt.Sprintf("%s (%s)", name, rating)
		}
		names = append(names, name)
	}
	return names
}
