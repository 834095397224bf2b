package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// probeWithin is how long somebody at an address may take to show who is there.
const probeWithin = time.Second

// whyUnreached says in plain words why nobody can be reached at an address; it is empty where that does not show.
// config is this side's TLS, nil without it. gRPC only repeats what the last layer said.
func whyUnreached(ctx context.Context, address string, config *tls.Config) string {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		var name *net.DNSError
		switch {
		case errors.As(err, &name) && name.IsNotFound:
			return "host name not found"
		case errors.Is(err, syscall.ECONNREFUSED):
			return "nothing listens there"
		case errors.Is(err, context.DeadlineExceeded):
			return "no answer; does a firewall let the bot out?"
		}
		return ""
	}
	defer func() { _ = connection.Close() }()
	if config == nil {
		// Nothing is sent on this connection, so it does not matter whose certificate is shown.
		if handshake(ctx, connection, address, &tls.Config{InsecureSkipVerify: true}) == nil {
			return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority"
		}
		if answersAsPages(ctx, address) {
			return "something other than a referee answers there (is that the port of the pages?)"
		}
		return ""
	}
	return whyNotTrusted(handshake(ctx, connection, address, config))
}

// greeting is how HTTP/2 begins, with empty settings; gRPC is spoken over that.
const greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// answersAsPages reports whether a server answers there that speaks HTTP/1 alone, as one of web pages may.
func answersAsPages(ctx context.Context, address string) bool {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = connection.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = connection.SetDeadline(deadline)
	}
	if _, err := io.WriteString(connection, greeting); err != nil {
		return false
	}
	first := make([]byte, len("HTTP/"))
	_, err = io.ReadFull(connection, first)
	return err == nil && string(first) == "HTTP/"
}

func handshake(ctx context.Context, connection net.Conn, address string, config *tls.Config) error {
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	config.ServerName, _, _ = net.SplitHostPort(address)
	return tls.Client(connection, config).HandshakeContext(ctx)
}

// whyNotTrusted says what is wrong where a handshake failed.
func whyNotTrusted(err error) string {
	var (
		plain   tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &plain):
		return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS"
	case errors.As(err, &unknown):
		return "its certificate comes from no authority that ARENA_TLS_CA names"
	case errors.As(err, &name):
		return "its certificate is not for this address: " + name.Error()
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + invalid.Error()
	}
	return ""
}
