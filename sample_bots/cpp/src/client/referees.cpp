#include "client/referees.h"

namespace bigtwo {

void Referees::welcomed(const std::string& address, const referee::v1::Welcome& welcome, Ask ask) {
    const std::string& id = welcome.referee_id();
    live_.insert_or_assign(id, Home{address, std::move(ask), welcome.max_sessions(), welcome.max_sessions()});
    leads_[address] = id;
    missed_.erase(id);
    listed_.assign(welcome.referees().begin(), welcome.referees().end());
    for (const auto& referee : listed_) {
        leads_.try_emplace(referee.address(), referee.id());
    }
}

std::optional<std::string> Referees::ended(const std::string& address, const Failure& failure) {
    if (!failure.referee_id.empty()) {
        leads_[address] = failure.referee_id;
    }
    std::erase_if(live_, [&](const auto& each) { return each.second.address == address; });
    const std::string id = id_at(address);
    if (auto home = live_.find(id); home != live_.end()) {
        dialled_.erase(address);
        return home->second.address;
    }
    missed_.insert(id);
    return std::nullopt;
}

std::vector<std::string> Referees::missing() const {
    std::set<std::string> tried;
    for (const std::string& address : dialled_) {
        tried.insert(id_at(address));
    }
    std::vector<std::string> addresses;
    for (const auto& referee : listed_) {
        if (!live_.contains(referee.id()) && !tried.contains(referee.id()) && !dialled_.contains(referee.address())) {
            addresses.push_back(referee.address());
        }
    }
    return addresses;
}

void Referees::share(unsigned max_sessions) {
    const Home* only = alone();
    for (auto& [id, home] : live_) {
        const unsigned wanted = &home == only && max_sessions > 0 ? max_sessions : home.share;
        if (wanted != home.asked) {
            home.asked = wanted;
            home.ask(wanted);
        }
    }
}

/// Returns the referee that an address leads to, as far as is known; else an empty text.
std::string Referees::id_at(const std::string& address) const {
    auto found = leads_.find(address);
    return found == leads_.end() ? "" : found->second;
}

/// Returns the only referee that the bot can reach of several, or null.
Referees::Home* Referees::alone() {
    Home* only = nullptr;
    for (const auto& referee : listed_) {
        auto home = live_.find(referee.id());
        if (home == live_.end() ? !missed_.contains(referee.id()) : only != nullptr) {
            return nullptr;
        }
        if (home != live_.end()) {
            only = &home->second;
        }
    }
    return listed_.size() < 2 ? nullptr : only;
}

}  // namespace bigtwo
