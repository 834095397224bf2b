package client

import (
	pb "bigtwo-arena/sample-bot/referee/v1"
)

// referees is what the bot knows of the arena's referees. A referee has a stable id and perhaps several addresses;
// the bot has one stream to each referee that it can reach.
type referees struct {
	// dialled has the addresses that the bot is connected to, or tries to be.
	dialled map[string]bool
	// leads says to which referee an address led last, or is listed to lead.
	leads map[string]string
	// live has the streams on which the bot was welcomed, by the referee's id.
	live map[string]*home
	// missed has the referees that could not be reached.
	missed map[string]bool
	// listed is the list of the last welcome.
	listed []*pb.Referee
}

// home is a referee that the bot is connected to.
type home struct {
	address string
	stream  *stream
	// share is how many sessions the referee gave the bot, and asked is how many it was asked for last.
	share, asked uint32
}

func newReferees() *referees {
	return &referees{
		dialled: make(map[string]bool), leads: make(map[string]string),
		live: make(map[string]*home), missed: make(map[string]bool),
	}
}

// welcomed takes in a welcome.
func (r *referees) welcomed(address string, welcome *pb.Welcome, stream *stream) {
	id, share := welcome.GetRefereeId(), welcome.GetMaxSessions()
	r.live[id] = &home{address, stream, share, share}
	r.leads[address] = id
	delete(r.missed, id)
	r.listed = welcome.GetReferees()
	for _, listed := range r.listed {
		if _, known := r.leads[listed.GetAddress()]; !known {
			r.leads[listed.GetAddress()] = listed.GetId()
		}
	}
}

// ended takes in that a stream has ended. It gives another address at which the bot is connected to the same
// referee, or "": where there is one, this address is not needed.
func (r *referees) ended(address string, failure failure) (other string) {
	if failure.refereeID != "" {
		r.leads[address] = failure.refereeID
	}
	for id, home := range r.live {
		if home.address == address {
			delete(r.live, id)
		}
	}
	id := r.leads[address]
	if home := r.live[id]; home != nil {
		delete(r.dialled, address)
		return home.address
	}
	r.missed[id] = true
	return ""
}

// missing lists the addresses of referees to which the bot has no stream, and tries to open none.
func (r *referees) missing() []string {
	tried := make(map[string]bool)
	for address := range r.dialled {
		tried[r.leads[address]] = true
	}
	var addresses []string
	for _, listed := range r.listed {
		if r.live[listed.GetId()] == nil && !tried[listed.GetId()] && !r.dialled[listed.GetAddress()] {
			addresses = append(addresses, listed.GetAddress())
		}
	}
	return addresses
}

// alone is the only referee that the bot can reach of several, or nil.
func (r *referees) alone() *home {
	if len(r.listed) < 2 {
		return nil
	}
	var only *home
	for _, listed := range r.listed {
		home := r.live[listed.GetId()]
		if home == nil && !r.missed[listed.GetId()] || home != nil && only != nil {
			return nil
		}
		if home != nil {
			only = home
		}
	}
	return only
}
