#include "client/options.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace bigtwo {

namespace {

constexpr const char* DEFAULT_REFEREE = "127.0.0.1:8710";
constexpr int LAST_PORT = 65'535;
constexpr const char* SPACES = " \t\r\n";

std::string stripped(const std::string& text) {
    std::size_t first = text.find_first_not_of(SPACES);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(SPACES) - first + 1);
}

bool is_address(const std::string& text) {
    static const std::regex SHAPE(R"((\[[0-9A-Fa-f:.]+\]|[^:\[\]\s/]+):[0-9]{1,5})");
    if (!std::regex_match(text, SHAPE)) {
        return false;
    }
    int number = std::stoi(port(text));
    return number > 0 && number <= LAST_PORT;
}

std::vector<std::string> addresses(const std::string& text) {
    if (text.empty()) {
        return {DEFAULT_REFEREE};
    }
    std::vector<std::string> found;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::string address = stripped(part);
        if (address.empty()) {
            continue;
        }
        if (!is_address(address)) {
            throw std::invalid_argument("ARENA_REFEREE: \"" + address +
                                        "\" is not an address: it takes a host and a port, such as " + DEFAULT_REFEREE);
        }
        found.push_back(address);
    }
    if (found.empty()) {
        throw std::invalid_argument("ARENA_REFEREE: names no address");
    }
    return found;
}

/// Returns the text of the file that a variable names, empty where it is not set.
std::string pem(const Options::Environment& environment, const std::string& variable, const std::string& kind) {
    std::string name = environment(variable);
    if (name.empty()) {
        return "";
    }
    std::ifstream file(name);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()) || text.str().find(kind + "-----") == std::string::npos) {
        throw std::invalid_argument(variable + ": cannot read a " + kind + " (PEM) in " + name);
    }
    return text.str();
}

std::optional<Tls> tls(const Options::Environment& environment) {
    const std::string authorities = environment("ARENA_TLS_CA");
    const bool has_certificate = !environment("ARENA_TLS_CLIENT_CERTIFICATE").empty();
    const bool has_key = !environment("ARENA_TLS_CLIENT_KEY").empty();
    if (authorities.empty()) {
        if (has_certificate || has_key) {
            throw std::invalid_argument("ARENA_TLS_CA: not set, though a certificate or a key is");
        }
        return std::nullopt;
    }
    if (has_certificate != has_key) {
        throw std::invalid_argument("ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY: only one of them is set");
    }
    return Tls{
        .authorities = authorities == "system" ? "" : pem(environment, "ARENA_TLS_CA", "CERTIFICATE"),
        .certificate = pem(environment, "ARENA_TLS_CLIENT_CERTIFICATE", "CERTIFICATE"),
        .key = pem(environment, "ARENA_TLS_CLIENT_KEY", "PRIVATE KEY"),
    };
}

}  // namespace

Options Options::of(const Environment& environment) {
    Options options;
    options.token = stripped(environment("ARENA_TOKEN"));
    if (options.token.empty()) {
        throw std::invalid_argument("ARENA_TOKEN: not set; it is the token that `arena bot register` printed");
    }
    options.referees = addresses(environment("ARENA_REFEREE"));
    options.tls = bigtwo::tls(environment);
    options.strict = !environment("ARENA_STRICT").empty();
    return options;
}

std::string host(const std::string& address) {
    std::string name = address.substr(0, address.rfind(':'));
    return name.starts_with('[') ? name.substr(1, name.size() - 2) : name;
}

std::string port(const std::string& address) {
    return address.substr(address.rfind(':') + 1);
}

}  // namespace bigtwo
