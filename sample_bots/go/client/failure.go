package client

import (
	"cmp"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// domain is that of every reason which comes from a referee.
const domain = "bigtwo.referee"

// failure is why a stream ended.
type failure struct {
	code codes.Code
	text string
	// reason is the name of a pb.ErrorReason without its prefix; empty where gRPC itself or a proxy ended the
	// stream.
	reason string
	// refereeID is the referee that has a stream of the bot already; empty for other reasons.
	refereeID string
	// delay is the least wait before the next attempt, where the referee names one.
	delay    time.Duration
	hasDelay bool
}

// newFailure reads what an error says; without an error the referee ended the stream in good order.
func newFailure(err error) failure {
	if err == nil {
		return failure{text: "the referee ended the stream"}
	}
	f := failure{code: status.Code(err), text: status.Convert(err).Message()}
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == domain {
				f.reason, f.refereeID = detail.GetReason(), detail.GetMetadata()["referee_id"]
			}
		case *errdetails.RetryInfo:
			f.delay, f.hasDelay = detail.GetRetryDelay().AsDuration(), true
		}
	}
	return f
}

// final tells whether another attempt would fail in the same way: the referee gave a reason and no delay.
func (f failure) final() bool { return f.reason != "" && !f.hasDelay }

// kind is the reason that the referee gave, or gRPC's code.
func (f failure) kind() string { return cmp.Or(f.reason, f.code.String()) }

func (f failure) String() string { return f.kind() + ": " + f.text }
