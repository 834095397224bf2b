package main

import (
	"cmp"
	"math"
	"slices"

	"bigtwo-arena/sample-bot/client"
	pb "bigtwo-arena/sample-bot/referee/v1"
)

// What a planner weighs, in plays: getting rid of one play is worth 1.
const (
	winTrick    = 0.5  // winning a trick, and so the next lead
	perCardLed  = 0.08 // a card led: the others have fewer large plays than small ones
	perCardLate = 0.3  // a card got rid of before somebody goes out
	late        = 4    // cards that somebody holds then
	impatience  = 1.0  // every pass in a row with two seats, less with more: waiting costs
	perDraw     = 1.0  // a pass where who passes draws cards
	nearlyOut   = 2.0  // stopping a seat that could go out
	lastTopCard = 5.0  // being left with the highest card alone, where the ruleset minds
	goingOut    = 100.0
	sureToWin   = 50.0
	roughFrom   = 120 // more legal plays than this are looked at roughly first
	roughTo     = 40
	glances     = 3000 // and of more than this only some, so that very large hands take no longer
)

// Planner plans how its hand would be gone in the fewest plays. It chooses the play that brings the plan on
// most: weak plays while they can be had cheaply, twos and strong combinations when they win something. It
// knows no rules: it chooses from the plays that the referee lists.
type Planner struct {
	session *client.Session
	pack    *pack
}

// NewPlanner gives a planner for a session.
func NewPlanner(session *client.Session) client.Strategy {
	return &Planner{session, newPack(session.Ruleset)}
}

// Choose gives one of the legal plays, or no cards for a pass.
func (p *Planner) Choose(turn client.Turn) client.Cards {
	if len(turn.Legal) == 0 {
		return client.Cards{}
	}
	view := newView(p.pack, p.session)
	switch turn.Kind {
	case pb.TurnKind_TURN_KIND_EXCHANGE:
		return p.exchange(view, turn.Legal)
	case pb.TurnKind_TURN_KIND_BEAT_OWN:
		return client.Cards{} // the trick is won, and a lead is worth more than the play
	case pb.TurnKind_TURN_KIND_BOMB:
		return p.bomb(view, turn.Legal)
	}
	return p.play(view, turn)
}

// exchange returns the card without which the hand is best.
func (p *Planner) exchange(view *view, legal []client.Cards) client.Cards {
	return slices.MinFunc(legal, func(a, b client.Cards) int {
		return cmp.Compare(view.cost(p.session.Hand.Minus(a)), view.cost(p.session.Hand.Minus(b)))
	})
}

// bomb bombs when somebody is nearly out, or when it brings the bot to its last play.
func (p *Planner) bomb(view *view, legal []client.Cards) client.Cards {
	for _, play := range legal {
		if view.shortest <= 2 || view.plays(p.session.Hand.Minus(play)) <= 1 {
			return play
		}
	}
	return client.Cards{}
}

func (p *Planner) play(view *view, turn client.Turn) client.Cards {
	best, top := client.Cards{}, math.Inf(-1)
	if turn.CanPass {
		top = -impatience * float64(p.passes()) / float64(max(1, len(p.session.Counts)-1))
		if p.session.Ruleset.DrawOnPass != "none" {
			top -= perDraw
		}
	}
	now := view.cost(p.session.Hand)
	for _, play := range p.candidates(view, turn.Legal) {
		if score := p.score(view, turn, play, now); score > top {
			best, top = play, score
		}
	}
	return best
}

// passes is how often the bot has passed since its last play.
func (p *Planner) passes() int {
	count := 0
	for _, action := range slices.Backward(p.session.Actions) {
		if int(action.GetSeat()) == p.session.Seat {
			if action.GetKind() != pb.ActionKind_ACTION_KIND_PASS {
				break
			}
			count++
		}
	}
	return count
}

// candidates are all legal plays, or of very many those that look best at a glance.
func (p *Planner) candidates(view *view, legal []client.Cards) []client.Cards {
	if len(legal) <= roughFrom {
		return legal
	}
	step := (len(legal) + glances - 1) / glances
	costs := make(map[client.Cards]float64, glances)
	sorted := make([]client.Cards, 0, glances)
	for i := 0; i < len(legal); i += step {
		play := legal[i]
		costs[play] = view.rankCost(p.session.Hand.Minus(play)) + view.playCost(play)
		sorted = append(sorted, play)
	}
	slices.SortStableFunc(sorted, func(a, b client.Cards) int { return cmp.Compare(costs[a], costs[b]) })
	return sorted[:min(len(sorted), roughTo)]
}

// score is how much better the bot stands after a play than after a pass; now is the cost of its whole hand.
func (p *Planner) score(view *view, turn client.Turn, play client.Cards, now float64) float64 {
	left := p.session.Hand.Minus(play)
	if left.Empty() {
		return goingOut
	}
	control := view.control(play)
	score := now - view.cost(left) + winTrick*control
	switch cards := float64(play.Len()); {
	case view.shortest <= late:
		score += perCardLate * cards
	case turn.ToBeat.Empty():
		score += perCardLed * cards
	}
	if control == 1 && view.plays(left) == 1 {
		score += sureToWin
	}
	if view.shortest <= 2 && play.Len() <= view.shortest {
		// Whoever is nearly out must not get this trick.
		if turn.ToBeat.Empty() {
			score -= nearlyOut * (1 - control)
		} else {
			score += nearlyOut * control
		}
	}
	if p.session.Ruleset.LastTopCard != "allowed" && left == p.pack.top {
		score -= lastTopCard
	}
	return score
}
