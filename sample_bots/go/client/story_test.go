package client

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// told gives a story, what it wrote so far, and its clock.
func told() (*story, *strings.Builder, *time.Time) {
	text, now := new(strings.Builder), time.Unix(1_000_000, 0)
	one := newStory(slog.New(slog.NewTextHandler(text, nil)))
	one.now = func() time.Time { return now }
	return one, text, &now
}

func ratedSession(t *testing.T, value int32, matches uint32) *Session {
	t.Helper()
	session, err := NewSession(&pb.SessionStarted{
		SessionId: "cup/1/2/3", Tournament: "cup", Ruleset: `{"name": "house", "ranks": ["3"], "suits": ["D"]}`,
		Seats: []string{"ann/a@1", "me/b@1"}, Seat: new(uint32(1)),
		Ratings: &pb.Ratings{Pool: "house@1, tables of 2", Values: []int32{1490, value}, Matches: []uint32{7, matches}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func expect(t *testing.T, text *strings.Builder, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

func TestSessionsAndRatingsAreTold(t *testing.T) {
	one, text, _ := told()
	session := ratedSession(t, 1500, 3)
	one.began(session)
	expect(t, text, "msg=rated rating=1500 pool=\"house@1, tables of 2\"\n",
		"msg=\"session begins\" session=cup/1/2/3 tournament=cup seat=1 against=\"ann/a@1 (1490)\" ruleset=house\n")
	one.ended(session, &pb.SessionEnded{Scores: []int32{12, -12}})
	expect(t, text, "msg=\"session has ended\" session=cup/1/2/3 points=-12 place=2 of=2\n")
	one.ended(session, &pb.SessionEnded{})
	expect(t, text, "msg=\"session is void, it may be continued later\" session=cup/1/2/3\n")
}

func TestARatingIsToldWhenAMatchWasAdded(t *testing.T) {
	one, text, _ := told()
	for _, matches := range []uint32{3, 3, 4, 3} {
		one.began(ratedSession(t, 1500+int32(matches), matches))
	}
	if count := strings.Count(text.String(), "msg=rated"); count != 2 {
		t.Errorf("told %d times", count)
	}
	expect(t, text, "rating=1504 pool=\"house@1, tables of 2\" change=1\n")
}

func TestWhoHasPlayedNoMatchYetIsNotRated(t *testing.T) {
	one, text, _ := told()
	one.began(ratedSession(t, 1500, 0))
	expect(t, text, "msg=\"not rated yet\" begins_with=1500 pool=\"house@1, tables of 2\"\n")
}

func TestManySessionsAreCounted(t *testing.T) {
	one, text, now := told()
	session := ratedSession(t, 1500, 3)
	for range mostLines + 5 {
		one.ended(session, &pb.SessionEnded{Scores: []int32{-2, 2}})
	}
	if count := strings.Count(text.String(), "has ended"); count != mostLines {
		t.Errorf("%d lines", count)
	}
	*now = now.Add(period)
	one.began(session)
	expect(t, text, "msg=\"not shown one by one\" begun=0 ended=5 points=10\n")
	for range mostLines {
		one.began(session)
	}
	one.end()
	expect(t, text, "msg=\"not shown one by one\" begun=1 ended=0 points=0\n")
}
