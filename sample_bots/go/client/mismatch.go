package client

import (
	"context"
	"crypto/tls"
	"errors"
	"time"
)

// probeWithin is how long somebody at an address may take to show whether TLS is spoken there.
const probeWithin = time.Second

// tlsMismatch says why no connection is possible where exactly one of the two sides uses TLS; else it is empty.
// encrypted tells whether this side does.
func tlsMismatch(ctx context.Context, address string, encrypted bool) string {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	// Nothing is sent on this connection, so it does not matter whose certificate is shown.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = connection.Close()
	}
	var plain tls.RecordHeaderError
	switch {
	case err == nil && !encrypted:
		return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority"
	case errors.As(err, &plain) && encrypted:
		return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS"
	}
	return ""
}
