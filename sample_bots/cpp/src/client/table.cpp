#include "client/table.h"

#include <algorithm>
#include <stdexcept>

namespace bigtwo {

namespace v1 = referee::v1;

namespace {

/// So much before its time is up a turn is given up, so that the referee still hears of it.
constexpr Milliseconds MARGIN(20);
constexpr std::size_t MOST_CHARACTERS = 1000;
/// No hand has more; an answer with many more would not fit into a message.
constexpr std::size_t MOST_CARDS = 4 * v1::Card_MAX;

/// Returns how many bytes a character at this place has, or 0 where there is none in UTF-8.
std::size_t character(const std::string& text, std::size_t place) {
    auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned first = byte(place);
    std::size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    for (std::size_t more = 1; more < size; more++) {
        if ((byte(place + more) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const unsigned second = byte(place + 1);
    const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||  // surrogates
                          (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return is_wrong ? 0 : size;
}

std::string shown(const Cards& cards) {
    return cards.empty() ? "nothing" : cards.text();
}

std::string where(const Session& session) {
    return "session " + session.started().session_id() + ", deal " + std::to_string(session.deal());
}

v1::Move empty_move(const v1::Turn& turn) {
    v1::Move move;
    move.set_session(turn.session());
    move.set_sequence(turn.sequence());
    return move;
}

v1::Move move_of(const v1::Turn& turn, const Cards& cards) {
    v1::Move move = empty_move(turn);
    cards.put_into(*move.mutable_cards());
    move.set_passes(cards.empty());
    return move;
}

/// Returns a pass where it is legal, else the first legal play.
v1::Move default_move(const v1::Turn& turn) {
    const bool passes = turn.can_pass() || turn.legal_plays().empty();
    return move_of(turn, passes ? Cards() : Cards::of(turn.legal_plays(0).cards()));
}

/// Returns how long may be thought; none where the turn does not say.
std::optional<Milliseconds> limit(const v1::Turn& turn) {
    const Milliseconds allowed(turn.decision_ms());
    if (allowed == Milliseconds::zero()) {
        return std::nullopt;
    }
    return std::max(allowed / 2, allowed - MARGIN);
}

}  // namespace

std::string brief(const std::string& text) {
    std::string kept;
    std::size_t place = 0;
    for (std::size_t count = 0; place < text.size() && count < MOST_CHARACTERS; count++) {
        const std::size_t size = character(text, place);
        kept += size > 0 ? text.substr(place, size) : "?";
        place += std::max<std::size_t>(1, size);
    }
    return kept;
}

Turn::Turn(const Session& of, const v1::Turn& sent)
    : session(of), message(sent), to_beat(Cards::of(sent.to_beat())) {
    for (const v1::LegalPlay& play : sent.legal_plays()) {
        legal.push_back(Cards::of(play.cards()));
    }
}

Table::Table(Maker maker, Thinker& thinker, Story& story, Log log, std::function<void(const StrategyFailed&)> failed,
             std::function<void(v1::Move)> moves)
    : maker_(std::move(maker)),
      thinker_(thinker),
      story_(story),
      log_(std::move(log)),
      failed_(std::move(failed)),
      moves_(std::move(moves)) {}

void Table::take(const v1::Event& event) {
    switch (event.event_case()) {
        case v1::Event::kTurn:
            turn(event.turn());
            break;
        case v1::Event::kSessionStarted:
            open(event.session_started());
            break;
        case v1::Event::kDealStarted:
            if (Player* player = free(event.deal_started().session())) {
                player->session.deal_started(event.deal_started());
            }
            break;
        case v1::Event::kDealEnded:
            if (Player* player = free(event.deal_ended().session())) {
                player->session.deal_ended(event.deal_ended());
            }
            break;
        case v1::Event::kSessionEnded:
            close(event.session_ended());
            break;
        case v1::Event::kFault:
            fault(event.fault());
            break;
        case v1::Event::kNotice:
            log_("notice: " + event.notice().text());
            break;
        default:  // nothing that this bot needs, or of a later version
            break;
    }
}

void Table::close() {
    for (auto& [handle, seat] : seats_) {
        give_up(seat);
    }
}

/// Returns who plays a session, or null; whatever was thought about there is over.
Table::Player* Table::free(std::uint32_t handle) {
    auto found = seats_.find(handle);
    if (found == seats_.end()) {
        return nullptr;
    }
    give_up(found->second);
    return found->second.player.get();
}

void Table::give_up(Seat& seat) {
    if (seat.cancel) {
        seat.cancel();
        settled(seat);
        seat.player = std::make_shared<Player>(Player{seat.player->session, nullptr});
    }
}

void Table::settled(Seat& seat) {
    seat.cancel = nullptr;
    thinking_--;
}

void Table::open(const v1::SessionStarted& started) {
    free(started.session());
    Seat& seat = seats_[started.session()] = Seat();
    try {
        seat.player = std::make_shared<Player>(Player{Session(started), nullptr});
        story_.began(seat.player->session);
    } catch (const std::invalid_argument& unreadable) {
        log_("session " + started.session_id() + " cannot be read, and default actions are taken: " +
             unreadable.what());
    }
}

void Table::close(const v1::SessionEnded& ended) {
    if (Player* player = free(ended.session())) {
        story_.ended(player->session, ended);
    }
    seats_.erase(ended.session());
}

void Table::fault(const v1::Fault& fault) {
    std::string place;
    if (auto found = seats_.find(fault.session()); found != seats_.end() && found->second.player) {
        place = where(found->second.player->session) + ": ";
        if (found->second.sequence == fault.sequence()) {
            give_up(found->second);  // the referee acted instead
        }
    }
    log_(place + "fault " + std::to_string(fault.faults()) + " of " + std::to_string(fault.fault_limit()) + ": " +
         fault.reason() + "; hand " + shown(Cards::of(fault.hand())) + ", answered " +
         shown(Cards::of(fault.answered())) + ", played instead " + shown(Cards::of(fault.default_cards())));
}

void Table::turn(const v1::Turn& message) {
    Player* current = free(message.session());
    if (!current) {
        moves_(default_move(message));
        return;
    }
    current->session.happened(message.actions());
    if (message.kind() == v1::TURN_KIND_UNSPECIFIED || !v1::TurnKind_IsValid(message.kind())) {
        moves_(default_move(message));
        return;
    }
    Seat& seat = seats_[message.session()];
    seat.sequence = message.sequence();
    seat.cancel = [] {};
    thinking_++;
    auto sent = std::make_shared<v1::Turn>(message);
    Thought thought = [player = seat.player, sent, maker = maker_] {
        if (!player->strategy) {
            player->strategy = maker(player->session);
        }
        if (!player->strategy) {
            throw std::logic_error("no strategy was made for the session, but null");
        }
        Cards cards = player->strategy->choose(Turn(player->session, *sent));
        if (cards.size() > MOST_CARDS) {
            throw std::logic_error("choose returned " + std::to_string(cards.size()) + " cards");
        }
        return cards;
    };
    Work cancel = thinker_.think(std::move(thought), limit(message),
                                 [this, &seat, sent](const Outcome& outcome) { done(seat, *sent, outcome); });
    if (seat.cancel) {  // it may be over already
        seat.cancel = std::move(cancel);
    }
}

void Table::done(Seat& seat, const v1::Turn& message, const Outcome& outcome) {
    if (!outcome.too_late && outcome.failure.empty()) {
        settled(seat);
        moves_(move_of(message, outcome.cards));
        return;
    }
    std::string failure = outcome.failure;
    if (outcome.too_late) {
        failure = "no answer within " + std::to_string(message.decision_ms()) + " ms";
        give_up(seat);
    } else {
        settled(seat);
    }
    failure = brief(failure);
    const Session& session = seat.player->session;
    const std::string told = "the strategy failed in " + where(session) + ", with hand " + session.hand().text() +
                             ", to beat " + shown(Cards::of(message.to_beat())) + ": " + failure;
    log_(told);
    v1::Move move = empty_move(message);
    move.set_failure(failure);
    moves_(std::move(move));
    failed_(StrategyFailed(told));
}

}  // namespace bigtwo
