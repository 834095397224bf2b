#include "client/unreached.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace bigtwo {

namespace {

/// How long somebody at an address may take to show who is there, in milliseconds.
constexpr int PROBE_MS = 1000;
/// How HTTP/2 begins, with empty settings; gRPC is spoken over that.
constexpr std::string_view GREETING("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
constexpr std::string_view PAGES = "HTTP/";

template <typename Thing, void (*release)(Thing*)>
struct Releasing {
    void operator()(Thing* thing) const { release(thing); }
};
template <typename Thing, void (*release)(Thing*)>
using Owned = std::unique_ptr<Thing, Releasing<Thing, release>>;

/// A connection to an address, or why there is none.
class Probe {
public:
    explicit Probe(const std::string& address) {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        if (getaddrinfo(host(address).c_str(), port(address).c_str(), &hints, &found) != 0) {
            error_ = EADDRNOTAVAIL;
            return;
        }
        Owned<addrinfo, freeaddrinfo> owned(found);
        for (const addrinfo* each = found; each && error_ != 0; each = each->ai_next) {
            connect_to(*each);
        }
    }
    ~Probe() { close(); }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    /// Returns 0 where it is connected, and EADDRNOTAVAIL where the host is not known.
    int error() const { return error_; }
    int descriptor() const { return descriptor_; }

    /// Tells whether what is sent is answered by this.
    bool answers(std::string_view sent, std::string_view expected) {
        std::string answer(expected.size(), '\0');
        return send(descriptor_, sent.data(), sent.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(sent.size()) &&
               recv(descriptor_, answer.data(), answer.size(), MSG_WAITALL) == static_cast<ssize_t>(answer.size()) &&
               answer == expected;
    }

private:
    void connect_to(const addrinfo& where) {
        close();
        descriptor_ = socket(where.ai_family, where.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, where.ai_protocol);
        if (descriptor_ < 0) {
            error_ = errno;
            return;
        }
        if (connect(descriptor_, where.ai_addr, where.ai_addrlen) == 0) {
            error_ = 0;
        } else if (errno == EINPROGRESS) {
            pollfd waiting{descriptor_, POLLOUT, 0};
            socklen_t size = sizeof(error_);
            error_ = ETIMEDOUT;
            if (poll(&waiting, 1, PROBE_MS) == 1) {
                getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error_, &size);
            }
        } else {
            error_ = errno;
        }
        const timeval patience{PROBE_MS / 1000, 0};
        fcntl(descriptor_, F_SETFL, 0);
        setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    }

    void close() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        descriptor_ = -1;
    }

    int descriptor_ = -1;
    int error_ = EHOSTUNREACH;
};

/// What came of a TLS handshake.
struct Handshake {
    bool done = false;
    long verified = X509_V_OK;
    bool is_plain = false;  // the other side does not use TLS
};

void trust(SSL_CTX* context, const std::string& authorities) {
    if (authorities.empty()) {
        SSL_CTX_set_default_verify_paths(context);
        return;
    }
    Owned<BIO, BIO_free_all> text(BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size())));
    while (X509* authority = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
        X509_free(authority);
    }
}

/// Shakes hands; without tls whose certificate is shown does not matter, as nothing is sent.
Handshake shake_hands(const std::string& address, int descriptor, const std::optional<Tls>& tls) {
    Owned<SSL_CTX, SSL_CTX_free> context(SSL_CTX_new(TLS_client_method()));
    if (tls) {
        trust(context.get(), tls->authorities);
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    }
    Owned<SSL, SSL_free> secure(SSL_new(context.get()));
    const std::string name = host(address);
    static constexpr unsigned char H2[] = {2, 'h', '2'};
    SSL_set_alpn_protos(secure.get(), H2, sizeof(H2));
    if (tls && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(secure.get()), name.c_str()) != 1) {
        SSL_set1_host(secure.get(), name.c_str());
        SSL_set_tlsext_host_name(secure.get(), name.c_str());
    }
    SSL_set_fd(secure.get(), descriptor);
    ERR_clear_error();
    Handshake shaken;
    shaken.done = SSL_connect(secure.get()) == 1;
    shaken.verified = SSL_get_verify_result(secure.get());
    shaken.is_plain = ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER;
    ERR_clear_error();
    return shaken;
}

std::optional<std::string> why_not_trusted(const Handshake& shaken) {
    if (shaken.is_plain) {
        return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS";
    }
    const std::string text = X509_verify_cert_error_string(shaken.verified);
    switch (shaken.verified) {
        case X509_V_OK:
            return std::nullopt;
        case X509_V_ERR_CERT_HAS_EXPIRED:
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "its certificate is not valid: " + text;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "its certificate is not for this address: " + text;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return "its certificate comes from no authority that ARENA_TLS_CA names";
        default:
            return "its certificate is not trusted: " + text;
    }
}

}  // namespace

std::optional<std::string> why_unreached(const std::string& address, const std::optional<Tls>& tls) {
    Probe probe(address);
    switch (probe.error()) {
        case 0:
            break;
        case EADDRNOTAVAIL:
            return "host name not found";
        case ECONNREFUSED:
            return "nothing listens there";
        case ETIMEDOUT:
            return "no answer; does a firewall let the bot out?";
        default:
            return std::nullopt;
    }
    const Handshake shaken = shake_hands(address, probe.descriptor(), tls);
    if (tls) {
        return why_not_trusted(shaken);
    }
    if (shaken.done) {
        return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority";
    }
    Probe other(address);
    if (other.error() == 0 && other.answers(GREETING, PAGES)) {
        return "something other than a referee answers there (is that the port of the pages?)";
    }
    return std::nullopt;
}

}  // namespace bigtwo
