package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

const defaultReferee = "127.0.0.1:8710"

// Options say who the bot is, and where it plays.
type Options struct {
	// Token is what `arena bot register` printed.
	Token string
	// Referees are addresses, "host:port"; those that a welcome names are added.
	Referees []string
	// TLS is nil for connections without it.
	TLS *tls.Config
	// MaxSessions is how many sessions the bot plays at once; 0 leaves it to the referees.
	MaxSessions uint32
	// Strict makes a strategy's panic end the program; else the referee is told, and the session goes on.
	Strict bool
}

// maxSessions is MaxSessions as the hello has it.
func (o Options) maxSessions() *uint32 {
	if o.MaxSessions == 0 {
		return nil
	}
	return &o.MaxSessions
}

// OptionsFromEnvironment reads the variables ARENA_TOKEN, ARENA_REFEREE (addresses with commas between them),
// ARENA_STRICT, and the names of PEM files ARENA_TLS_CA (or "system", for the authorities that the system trusts),
// ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY. Its error names the variable.
func OptionsFromEnvironment() (Options, error) {
	options := Options{Token: strings.TrimSpace(os.Getenv("ARENA_TOKEN")), Strict: os.Getenv("ARENA_STRICT") != ""}
	if options.Token == "" {
		return options, errors.New("ARENA_TOKEN: not set; it is the token that `arena bot register` printed")
	}
	var err error
	if options.Referees, err = addresses(os.Getenv("ARENA_REFEREE")); err != nil {
		return options, fmt.Errorf("ARENA_REFEREE: %w", err)
	}
	options.TLS, err = tlsFromFiles(
		os.Getenv("ARENA_TLS_CA"), os.Getenv("ARENA_TLS_CLIENT_CERTIFICATE"), os.Getenv("ARENA_TLS_CLIENT_KEY"),
	)
	return options, err
}

func addresses(text string) ([]string, error) {
	if text == "" {
		return []string{defaultReferee}, nil
	}
	var found []string
	for _, address := range strings.Split(text, ",") {
		if address = strings.TrimSpace(address); address == "" {
			continue
		}
		host, port, err := net.SplitHostPort(address)
		if number, wrong := strconv.ParseUint(port, 10, 16); err != nil || host == "" || wrong != nil || number == 0 {
			return nil, fmt.Errorf("%q is not an address: it takes a host and a port, such as 127.0.0.1:8710", address)
		}
		found = append(found, address)
	}
	if len(found) == 0 {
		return nil, errors.New("names no address")
	}
	return found, nil
}

func tlsFromFiles(ca, certificate, key string) (*tls.Config, error) {
	if ca == "" {
		if certificate != "" || key != "" {
			return nil, errors.New("ARENA_TLS_CA: not set, though a certificate or a key is")
		}
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "system" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("ARENA_TLS_CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ARENA_TLS_CA: no certificate in %s", ca)
		}
	}
	if certificate == "" && key == "" {
		return config, nil
	}
	if certificate == "" || key == "" {
		return nil, errors.New("ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY: only one of them is set")
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("ARENA_TLS_CLIENT_CERTIFICATE, ARENA_TLS_CLIENT_KEY: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
