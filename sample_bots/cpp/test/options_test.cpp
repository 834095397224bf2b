// Tests of the environment.
#include "client/options.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

using bigtwo::Options;

namespace {

Options options_of(std::map<std::string, std::string> environment) {
    return Options::of([&](const std::string& name) { return environment[name]; });
}

std::string told_of(std::map<std::string, std::string> environment) {
    try {
        options_of(std::move(environment));
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return "nothing";
}

}  // namespace

TEST(Options, AreReadFromTheEnvironment) {
    EXPECT_EQ(options_of({{"ARENA_TOKEN", " t\n"}}), (Options{.token = "t", .referees = {"127.0.0.1:8710"}, .tls = {}}));
    EXPECT_EQ(options_of({{"ARENA_TOKEN", "t"},
                          {"ARENA_REFEREE", "a.example:1, [::1]:2,"},
                          {"ARENA_STRICT", "1"},
                          {"ARENA_TLS_CA", "system"}}),
              (Options{.token = "t", .referees = {"a.example:1", "[::1]:2"}, .tls = bigtwo::Tls{}, .strict = true}));
    EXPECT_EQ(bigtwo::host("[::1]:2"), "::1");
    EXPECT_EQ(bigtwo::port("[::1]:2"), "2");
}

TEST(Options, NameTheVariableThatIsWrong) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"ARENA_TOKEN", " "},           {"ARENA_REFEREE", "here"},     {"ARENA_REFEREE", ":1"},
        {"ARENA_REFEREE", "here:0"},    {"ARENA_REFEREE", "here:65536"}, {"ARENA_REFEREE", "::1:8710"},
        {"ARENA_REFEREE", ","},         {"ARENA_TLS_CA", "/nowhere"},  {"ARENA_TLS_CA", "/dev/null"},
    };
    for (const auto& [variable, value] : wrong) {
        std::map<std::string, std::string> environment = {{"ARENA_TOKEN", "t"}};
        environment[variable] = value;
        const std::string told = told_of(environment);
        EXPECT_TRUE(told.starts_with(variable + ": ")) << told;
        EXPECT_EQ(told.find('\n'), std::string::npos) << told;
    }
}

TEST(Options, NeedACertificateAndAnAuthorityWithAKey) {
    EXPECT_TRUE(told_of({{"ARENA_TOKEN", "t"}, {"ARENA_TLS_CLIENT_KEY", "k"}}).starts_with("ARENA_TLS_CA: "));
    EXPECT_TRUE(told_of({{"ARENA_TOKEN", "t"}, {"ARENA_TLS_CA", "system"}, {"ARENA_TLS_CLIENT_KEY", "k"}})
                    .ends_with("only one of them is set"));
}
