package main

import (
	"cmp"
	"slices"

	"bigtwo-arena/sample-bot/client"
	pb "bigtwo-arena/sample-bot/referee/v1"
)

// keepControl is how much of a play's cost is saved when it surely wins its trick: the bot then leads again.
const keepControl = 0.7

// pack is what the planner has to know of a ruleset's cards.
type pack struct {
	cards            []pb.Card // the lowest first
	rank, suit       [64]int   // by card number
	ranks            int
	decks            int
	top              client.Cards // the highest card
	triples, flushes bool
}

func newPack(ruleset client.Ruleset) *pack {
	p := &pack{
		cards:   ruleset.Order(),
		ranks:   len(ruleset.Ranks),
		decks:   ruleset.Decks,
		triples: slices.Contains(ruleset.Plays, "triple"),
		flushes: slices.Contains(ruleset.Plays, "flush"),
	}
	for i, card := range p.cards {
		p.rank[card], p.suit[card] = i/len(ruleset.Suits), i%len(ruleset.Suits)
		p.top = client.NewCards(card)
	}
	return p
}

// byRank sorts cards by rank, and by suit within a rank.
func (p *pack) byRank(cards client.Cards) [][]pb.Card {
	ranks := make([][]pb.Card, p.ranks)
	for _, card := range p.cards {
		for range cards.Count(card) {
			ranks[p.rank[card]] = append(ranks[p.rank[card]], card)
		}
	}
	return ranks
}

// view is how things stand at a turn, with what was worked out for it.
type view struct {
	pack *pack
	// shortest and longest are how many cards another seat holds, of those that still hold any.
	shortest, longest int
	// unseen is how many copies of each card the others may hold, by place in the pack.
	unseen []int
	// higher[n][r] is in how many ranks above r the others may hold n cards.
	higher [4][]int
	costs  map[client.Cards]float64
}

func newView(pack *pack, session *client.Session) *view {
	v := &view{pack: pack, costs: make(map[client.Cards]float64)}
	for seat, count := range session.Counts {
		if seat != session.Seat && count > 0 {
			v.longest = max(v.longest, count)
			if v.shortest == 0 || count < v.shortest {
				v.shortest = count
			}
		}
	}
	held := make([]int, pack.ranks)
	v.unseen = make([]int, len(pack.cards))
	for i, card := range pack.cards {
		v.unseen[i] = max(0, pack.decks-session.Hand.Count(card)-session.Gone.Count(card))
		held[pack.rank[card]] += v.unseen[i]
	}
	for n := 1; n <= 3; n++ {
		v.higher[n] = make([]int, pack.ranks)
		for r := pack.ranks - 2; r >= 0; r-- {
			v.higher[n][r] = v.higher[n][r+1]
			if held[r+1] >= n {
				v.higher[n][r]++
			}
		}
	}
	return v
}

// control guesses how likely a play wins its trick, from 0 to 1; it is 1 when no other seat holds as many
// cards.
func (v *view) control(play client.Cards) float64 {
	size := play.Len()
	if size > v.longest {
		return 1
	}
	list := play.List()
	high := slices.MaxFunc(list, func(a, b pb.Card) int { return cmp.Compare(v.place(a), v.place(b)) })
	rank := v.pack.rank[high]
	switch size {
	case 1:
		above := 0
		for _, unseen := range v.unseen[v.place(high)+1:] {
			above += unseen
		}
		return 1 / (1 + float64(above))
	case 2:
		return 1 / (1 + 0.5*float64(v.higher[2][rank]))
	case 3:
		return 1 / (1 + 0.15*float64(v.higher[3][rank]))
	}
	return v.strength(play, list, float64(rank)/float64(v.pack.ranks))
}

// strength is the same for a large play, from its shape; height is its highest rank, from 0 to 1.
func (v *view) strength(play client.Cards, list []pb.Card, height float64) float64 {
	most, suited := 0, true
	for _, cards := range v.pack.byRank(play) {
		most = max(most, len(cards))
	}
	for _, card := range list {
		suited = suited && v.pack.suit[card] == v.pack.suit[list[0]]
	}
	switch {
	case most >= 4:
		return 0.95
	case most == 3:
		return 0.8
	case suited:
		return 0.65
	}
	return 0.4 + 0.2*height
}

func (v *view) place(card pb.Card) int {
	return v.pack.rank[card]*(len(v.pack.cards)/v.pack.ranks) + v.pack.suit[card]
}

// plays is in how many plays a hand could be gone, 2 standing for more.
func (v *view) plays(hand client.Cards) int {
	ranks := 0
	for _, cards := range v.pack.byRank(hand) {
		if len(cards) > 0 {
			ranks++
		}
	}
	if ranks == 1 && (hand.Len() <= 2 || hand.Len() == 3 && v.pack.triples) {
		return 1
	}
	if hand.Len() == 5 && slices.Contains(v.combinations(hand), hand) {
		return 1
	}
	return 2
}

// cost is what it takes to get rid of a hand, in plays that do not win their trick.
func (v *view) cost(hand client.Cards) float64 {
	if known, ok := v.costs[hand]; ok {
		return known
	}
	best := v.rankCost(hand)
	if hand.Len() >= 5 {
		combinations := v.combinations(hand)
		for _, play := range combinations[:min(len(combinations), breadth(hand.Len()))] {
			best = min(best, v.playCost(play)+v.cost(hand.Minus(play)))
		}
	}
	v.costs[hand] = best
	return best
}

// breadth is how many combinations of a hand are tried, so that large hands take no longer.
func breadth(size int) int {
	switch {
	case size <= 14:
		return 40
	case size <= 20:
		return 8
	case size <= 28:
		return 3
	}
	return 1
}

// rankCost is the cost of a hand that goes as singles, pairs and triples.
func (v *view) rankCost(hand client.Cards) float64 {
	cost := 0.0
	for _, cards := range v.pack.byRank(hand) {
		for len(cards) > 0 {
			size := min(2, len(cards))
			if v.pack.triples && len(cards)%2 == 1 && len(cards) >= 3 {
				size = 3
			}
			cost += v.playCost(client.NewCards(cards[:size]...))
			cards = cards[size:]
		}
	}
	return cost
}

func (v *view) playCost(play client.Cards) float64 {
	return 1 - keepControl*v.control(play)
}

// combinations are five-card combinations of a hand, not all there are: enough to plan with. The referee
// alone says which are legal.
func (v *view) combinations(hand client.Cards) []client.Cards {
	ranks := v.pack.byRank(hand)
	found := v.straights(ranks)
	if v.pack.flushes {
		found = append(found, v.flushes(hand)...)
	}
	return append(found, fullHouses(ranks)...)
}

// straights are five ranks in a row, the highest rank left out.
func (v *view) straights(ranks [][]pb.Card) []client.Cards {
	var found []client.Cards
	for low := 0; low+5 < v.pack.ranks; low++ {
		cards := make([]pb.Card, 0, 5)
		for _, rank := range ranks[low : low+5] {
			if len(rank) > 0 {
				cards = append(cards, rank[0])
			}
		}
		if len(cards) == 5 {
			found = append(found, client.NewCards(cards...))
		}
	}
	return found
}

// flushes are the runs of five among the cards of a suit.
func (v *view) flushes(hand client.Cards) []client.Cards {
	suits := make([][]pb.Card, len(v.pack.cards)/v.pack.ranks)
	for _, card := range v.pack.cards {
		for range hand.Count(card) {
			suits[v.pack.suit[card]] = append(suits[v.pack.suit[card]], card)
		}
	}
	var found []client.Cards
	for _, cards := range suits {
		for low := 0; low+5 <= len(cards); low++ {
			found = append(found, client.NewCards(cards[low:low+5]...))
		}
	}
	return found
}

// fullHouses are triples with pairs, and quads with a single card.
func fullHouses(ranks [][]pb.Card) []client.Cards {
	var found []client.Cards
	for i, many := range ranks {
		for j, few := range ranks {
			if i == j {
				continue
			}
			if len(many) >= 3 && len(few) >= 2 {
				found = append(found, client.NewCards(many[:3]...).Plus(client.NewCards(few[:2]...)))
			}
			if len(many) >= 4 && len(few) >= 1 {
				found = append(found, client.NewCards(many[:4]...).Plus(client.NewCards(few[0])))
			}
		}
	}
	return found
}
