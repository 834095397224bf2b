// Tests of connections with TLS, and of what is told where nobody is reached.
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "client/unreached.h"
#include "fake_referee.h"

using bigtwo::Tls;
using bigtwo::why_unreached;

namespace {

std::string text_of(BIO* bio) {
    char* data;
    const long size = BIO_get_mem_data(bio, &data);
    std::string text(data, size);
    BIO_free(bio);
    return text;
}

/// Returns a certificate for 127.0.0.1 that is its own authority, valid from and for so many seconds.
Tls make_certificate(long from = -60, long seconds = 3600) {
    EVP_PKEY* key = EVP_EC_gen("prime256v1");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), from + seconds);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    for (const auto& [extension, value] :
         {std::pair(NID_subject_alt_name, "IP:127.0.0.1"), std::pair(NID_basic_constraints, "CA:TRUE")}) {
        X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, nullptr, extension, value);
        X509_add_ext(certificate, made, -1);
        X509_EXTENSION_free(made);
    }
    X509_sign(certificate, key, EVP_sha256());
    BIO* shown = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(shown, certificate);
    BIO* secret = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr);
    X509_free(certificate);
    EVP_PKEY_free(key);
    const std::string text = text_of(shown);
    return {.authorities = text, .certificate = text, .key = text_of(secret)};
}

std::shared_ptr<grpc::ServerCredentials> server(const Tls& tls, bool asks) {
    grpc::SslServerCredentialsOptions options(asks ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    options.pem_root_certs = tls.authorities;
    options.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
    return grpc::SslServerCredentials(options);
}

Tls trusting(const Tls& tls) {
    return {.authorities = tls.authorities, .certificate = {}, .key = {}};
}

bigtwo::Options with(const Tls& tls, const std::string& address) {
    bigtwo::Options options = RunningBot::options({address});
    options.tls = tls;
    return options;
}

/// Somebody who answers every connection with a text, and closes it.
class Answering {
public:
    explicit Answering(std::string answer) : answer_(std::move(answer)) {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(name);
        bind(listening_, reinterpret_cast<sockaddr*>(&name), size);
        getsockname(listening_, reinterpret_cast<sockaddr*>(&name), &size);
        listen(listening_, 50);
        address = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
        thread_ = std::thread([this] { accept_all(); });
    }
    ~Answering() {
        shutdown(listening_, SHUT_RDWR);
        thread_.join();
        close(listening_);
    }

    std::string address;
    Queue<bool> accepted;

private:
    void accept_all() {
        for (int one; (one = accept(listening_, nullptr, nullptr)) >= 0;) {
            char heard[1024];
            if (!answer_.empty() && recv(one, heard, sizeof(heard), 0) > 0) {
                send(one, answer_.data(), answer_.size(), MSG_NOSIGNAL);
            }
            close(one);
            accepted.add(true);
        }
    }

    const std::string answer_;
    const int listening_ = socket(AF_INET, SOCK_STREAM, 0);
    std::thread thread_;
};

}  // namespace

TEST(Tls, ConnectsWithTheBotsOwnCertificate) {
    const Tls ours = make_certificate();
    FakeReferee referee(server(ours, true));
    RunningBot bot(with(ours, referee.address));
    referee.stream();
}

TEST(Tls, IsNamedWhereOneSideAloneUsesIt) {
    const Tls ours = make_certificate();
    FakeReferee encrypted(server(ours, false)), plain;
    RunningBot one(encrypted.address);
    RunningBot other(with(trusting(ours), plain.address));
    one.told({encrypted.address, "it uses TLS, and this side does not: set ARENA_TLS_CA"});
    other.told({plain.address, "it does not use TLS, and this side does: leave ARENA_TLS_CA out"});
}

TEST(Unreached, SaysWhy) {
    const Tls ours = make_certificate(), old = make_certificate(-7200);
    FakeReferee encrypted(server(ours, false)), expired(server(old, false)), plain;
    Answering pages("HTTP/1.1 400 Bad Request\r\n\r\n");
    EXPECT_EQ(why_unreached(nowhere(), {}), "nothing listens there");
    EXPECT_EQ(why_unreached("nowhere.invalid:8710", {}), "host name not found");
    const std::string unknown = "its certificate comes from no authority that ARENA_TLS_CA names";
    EXPECT_EQ(why_unreached(encrypted.address, trusting(make_certificate())), unknown);
    EXPECT_EQ(why_unreached(encrypted.address, Tls{}), unknown);
    EXPECT_EQ(why_unreached(encrypted.local(), trusting(ours)).value_or("").substr(0, 39),
              "its certificate is not for this address");
    EXPECT_EQ(why_unreached(expired.address, trusting(old)), "its certificate is not valid: certificate has expired");
    EXPECT_EQ(why_unreached(pages.address, {}),
              "something other than a referee answers there (is that the port of the pages?)");
    EXPECT_EQ(why_unreached(plain.address, {}), std::nullopt);
    EXPECT_EQ(why_unreached(encrypted.address, trusting(ours)), std::nullopt);
}

TEST(Unreached, IsToldOnce) {
    Answering mute("");
    RunningBot bot(mute.address);
    bot.told({"not connected, trying again"});
    for (int attempt = 0; attempt < 6; attempt++) {
        mute.accepted.take();
    }
    EXPECT_EQ(bot.untold(), 0u);
}
