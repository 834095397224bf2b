// Plays Big Two in an arena; see README.md.
#include <grpc/support/log.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "bot/planner.h"
#include "client/client.h"

namespace {

void log(const std::string& line) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    char now[sizeof("2000-01-01T00:00:00Z")];
    const std::time_t seconds = std::time(nullptr);
    std::tm utc;
    std::strftime(now, sizeof(now), "%FT%TZ", gmtime_r(&seconds, &utc));
    std::cerr << std::string(now) + " " + line + "\n" << std::flush;
}

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value ? value : "";
}

/// Finishes at the first signal, leaves at the second, and lets the third end the program.
void obey(bigtwo::Client& client, sigset_t signals) {
    int signal;
    sigwait(&signals, &signal);
    client.finish();
    sigwait(&signals, &signal);
    client.leave();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

int status() {
    gpr_set_log_function([](gpr_log_func_args*) {});  // the client tells what matters
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    try {
        static bigtwo::Client client(bigtwo::Options::of(variable), bigtwo::make<Planner>(), log);
        std::thread(obey, std::ref(client), signals).detach();
        client.run();
        return 0;
    } catch (const std::exception& failure) {
        std::cerr << std::string(failure.what()) + "\n" << std::flush;
        return 1;
    }
}

}  // namespace

/// Runs the bot that the environment describes, and ends with status 0, or 1 after an error.
int main() {
    std::_Exit(status());  // without waiting for strategies that still think
}
