package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

func TestBotConnectsWithTLS(t *testing.T) {
	authority := newAuthority(t)
	certificate, key := authority.issue(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority.certificate)
	referee := newReferee(t, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	})))
	config, err := tlsFromFiles(authority.file, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	run(t, first, Options{Referees: []string{referee.address}, TLS: config})
	referee.stream(t)
}

func TestBotNamesTLSOnOneSideOnly(t *testing.T) {
	authority := newAuthority(t)
	certificate, key := authority.issue(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := newReferee(t, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	runAt(t, encrypted.address).told.wait(t, encrypted.address, "it uses TLS, and this side does not: set ARENA_TLS_CA")

	config, err := tlsFromFiles(authority.file, "", "")
	if err != nil {
		t.Fatal(err)
	}
	plain := newReferee(t)
	bot := run(t, first, Options{Referees: []string{plain.address}, TLS: config})
	bot.told.wait(t, plain.address, "it does not use TLS, and this side does: leave ARENA_TLS_CA out")
}

func TestBotSaysWhyNobodyIsReached(t *testing.T) {
	authority := newAuthority(t)
	certificate, key := authority.issue(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := newReferee(t, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	_, port, err := net.SplitHostPort(encrypted.address)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	pages := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(pages.Close)
	site := pages.Listener.Addr().String()
	plain := newReferee(t)
	other, system := newAuthority(t), "system"
	for name, test := range map[string]struct{ address, ca, want string }{
		"nobody listens":          {nobody, "", "nothing listens there"},
		"there is no such host":   {"nowhere.invalid:8710", "", "host name not found"},
		"another authority":       {encrypted.address, other.file, "comes from no authority that ARENA_TLS_CA names"},
		"not one of the system":   {encrypted.address, system, "comes from no authority that ARENA_TLS_CA names"},
		"another name":            {"localhost:" + port, authority.file, "its certificate is not for this address"},
		"a server of pages":       {site, "", "something other than a referee answers there"},
		"nothing, without TLS":    {plain.address, "", ""},
		"nothing, if all is well": {encrypted.address, authority.file, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := tlsFromFiles(test.ca, "", "")
			if err != nil {
				t.Fatal(err)
			}
			why := whyUnreached(t.Context(), test.address, config)
			if !strings.Contains(why, test.want) || (test.want == "") != (why == "") {
				t.Errorf("%q, not %q", why, test.want)
			}
		})
	}
}

func TestBotThatReachesNobodySaysSoOnce(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	attempts := make(chan struct{}, 100)
	go func() {
		for {
			connection, err := mute.Accept()
			if err != nil {
				return
			}
			_ = connection.Close()
			attempts <- struct{}{}
		}
	}()
	bot := runAt(t, mute.Addr().String())
	bot.told.wait(t, "not connected, trying again")
	for range 6 {
		receive(t, attempts)
	}
	select {
	case line := <-bot.told:
		t.Errorf("also told %s", line)
	default:
	}
}

// authority issues certificates for 127.0.0.1.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, writePem(t, "CERTIFICATE", der)}
}

// issue gives the files of a certificate and of its key.
func (a *authority) issue(t *testing.T) (certificate, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}},
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePem(t, "CERTIFICATE", der), writePem(t, "PRIVATE KEY", secret)
}

func writePem(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
