package main

import "bigtwo-arena/sample-bot/client"

// Strategy is your bot in one session. It knows no rules: it chooses from the plays that the referee lists.
type Strategy struct {
	session *client.Session
}

// NewPlanner gives your bot for a session: its ruleset, its seats, and what has happened so far.
func NewPlanner(session *client.Session) client.Strategy {
	return &Strategy{session}
}

// Choose gives one of turn.Legal, or no cards for a pass. This one sheds as many cards as it can.
func (s *Strategy) Choose(turn client.Turn) client.Cards {
	best := client.Cards{}
	for _, play := range turn.Legal {
		if play.Len() > best.Len() {
			best = play
		}
	}
	return best
}
