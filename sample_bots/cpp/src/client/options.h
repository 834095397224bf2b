#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bigtwo {

/// Texts of PEM files.
struct Tls {
    /// Authorities to trust; empty for those that the system trusts.
    std::string authorities;
    /// The bot's own certificate and its key, or empty.
    std::string certificate;
    std::string key;

    friend bool operator==(const Tls&, const Tls&) = default;
};

/// Who the bot is, and where it plays.
struct Options {
    /// What `arena bot register` printed.
    std::string token;
    /// Addresses, "host:port"; those that a welcome names are added.
    std::vector<std::string> referees;
    /// None for connections without it.
    std::optional<Tls> tls;
    /// How many sessions the bot plays at once; 0 leaves it to the referees.
    unsigned max_sessions = 0;
    /// Whether a strategy that fails ends the program; else the referee is told, and the session goes on.
    bool strict = false;

    /// Returns the value of a variable; empty where it is not set.
    using Environment = std::function<std::string(const std::string&)>;

    /// Reads the variables ARENA_TOKEN, ARENA_REFEREE (addresses with commas between them), ARENA_STRICT, and the names
    /// of PEM files ARENA_TLS_CA (or "system", for the authorities that the system trusts), ARENA_TLS_CLIENT_CERTIFICATE
    /// and ARENA_TLS_CLIENT_KEY. Throws std::invalid_argument, whose message names the variable.
    static Options of(const Environment& environment);

    friend bool operator==(const Options&, const Options&) = default;
};

/// Returns the host of an address, without brackets.
std::string host(const std::string& address);
std::string port(const std::string& address);

}  // namespace bigtwo
