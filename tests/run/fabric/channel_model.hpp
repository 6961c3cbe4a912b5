// Processes with two-mode channels, the messages between them, and what their programs do: a model whose states can all
// be visited. The protocol is the code that ships.
#pragma once

#include "fabric/two_mode_channels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>

namespace kumihimo::fabric::testing {

struct ScriptedSend {
  std::int32_t to = 0;
  std::int64_t bytes = 0;
};
using Scripts = std::vector<std::vector<ScriptedSend>>; // by process

// A process for which a peer is lost, at any time. What is under way between them, and what they send later, still
// comes.
struct ScriptedLoss {
  std::int32_t process = 0, peer = 0;
  bool is_of(std::pair<std::int32_t, std::int32_t> ends) const {
    return ends == std::pair(process, peer) || ends == std::pair(peer, process);
  }
};

// What is under way between two processes: a message of the protocol, or one of the program, in a slot or announced.
struct OnTheWay {
  enum class Kind : std::uint8_t { protocol, eager, announced } kind = Kind::protocol;
  ChannelMessage message;
  ChannelEpoch epoch = 0;
  std::int64_t serial = 0;
  bool is_like(const OnTheWay& other) const {
    return kind == other.kind && message == other.message && epoch == other.epoch;
  }
  auto operator<=>(const OnTheWay&) const = default;
};
using Link = std::multiset<OnTheWay>; // any of them may come next

// What a broken network, or a broken process, does to a message on its way; true: it was put on the link already.
using Fault = std::function<bool(Link& link, const OnTheWay& message)>;

struct Taken { // by the program's turn
  bool in_slot = false;
  ChannelEpoch epoch = 0;
  std::int64_t serial = 0; // decides nothing: messages that differ in it alone are one to the exploration
  bool is_like(const Taken& other) const { return in_slot == other.in_slot && epoch == other.epoch; }
  auto operator<=>(const Taken&) const = default;
};

struct ChannelsInModel {
  std::vector<TwoModeChannels> processes;
  std::map<std::pair<std::int32_t, std::int32_t>, Link> links;
  std::map<std::pair<std::int32_t, std::int32_t>, std::set<Taken>> waiting; // arrived, and not taken by the program
  std::vector<std::size_t> started;                                         // sends of each script
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> sent, taken;
  bool has_lost = false; // the loss of the script

  std::string key() const {
    std::vector<std::int64_t> words;
    for (const TwoModeChannels& process : processes) process.append_state(words), words.push_back(-1);
    for (const auto& [ends, link] : links) {
      words.push_back(static_cast<std::int64_t>(link.size()));
      for (const OnTheWay& m : link)
        for (const std::int64_t word : {static_cast<std::int64_t>(m.kind), static_cast<std::int64_t>(m.message.kind),
                                        static_cast<std::int64_t>(m.message.mode), std::int64_t{m.message.epoch},
                                        std::int64_t{m.message.count}, std::int64_t{m.epoch}})
          words.push_back(word);
    }
    for (const auto& [ends, all] : waiting) {
      words.push_back(static_cast<std::int64_t>(all.size()));
      for (const Taken& each : all) words.push_back(each.in_slot), words.push_back(each.epoch);
    }
    for (const std::size_t s : started) words.push_back(static_cast<std::int64_t>(s));
    words.push_back(has_lost);
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
};

class Explorer {
 public:
  Explorer(const ChannelSizes& sizes, Scripts scripts, Fault fault = nullptr)
      : sizes_(sizes), scripts_(std::move(scripts)), fault_(std::move(fault)) {}
  Explorer(const ChannelSizes& sizes, Scripts scripts, ScriptedLoss loss)
      : sizes_(sizes), scripts_(std::move(scripts)), loss_(loss) {}

  // What is wrong in some interleaving; empty: nothing in any.
  std::string explore() {
    ChannelsInModel first = beginning();
    visit(first);
    return wrong_;
  }
  // In one random interleaving.
  std::string walk(unsigned seed) {
    std::mt19937 random(seed);
    ChannelsInModel state = beginning();
    for (;;) {
      std::vector<Move> moves = moves_of(state);
      if (moves.empty()) return check_end(state), wrong_;
      make(state, moves[random() % moves.size()]);
      if (!check(state)) return wrong_;
    }
  }
  std::size_t states() const { return colours_.size(); }
  std::int64_t most_large() const { return most_large_; }
  bool has_demoted() const { return has_demoted_; }
  std::int64_t eager() const { return eager_; } // messages that went at once, in all interleavings
  // Interleavings in which the lost process has learnt of the loss from the other.
  std::int64_t heard_losses() const { return heard_losses_; }

 private:
  struct Move {
    enum class Kind { deliver, start, receive, lose } kind;
    std::int32_t from, to;
    std::size_t which = 0;
  };
  enum class Colour { open, closed };

  ChannelsInModel beginning() const {
    ChannelsInModel state;
    state.processes.assign(scripts_.size(), TwoModeChannels(sizes_));
    state.started.assign(scripts_.size(), 0);
    return state;
  }
  // The program takes what has arrived in any order, as messages of schedules are told apart by their keys.
  std::vector<Move> moves_of(const ChannelsInModel& state) const {
    std::vector<Move> moves;
    const auto add_different = [&](Move::Kind kind, const auto& ends, const auto& all) {
      std::size_t which = 0;
      for (auto at = all.begin(); at != all.end(); ++at, ++which)
        if (at == all.begin() || !at->is_like(*std::prev(at))) moves.push_back({kind, ends.first, ends.second, which});
    };
    for (const auto& [ends, link] : state.links) add_different(Move::Kind::deliver, ends, link);
    for (const auto& [ends, all] : state.waiting) add_different(Move::Kind::receive, ends, all);
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(scripts_.size()); ++p)
      if (state.started[static_cast<std::size_t>(p)] < scripts_[static_cast<std::size_t>(p)].size())
        moves.push_back({Move::Kind::start, p, 0});
    if (loss_ && !state.has_lost) moves.push_back({Move::Kind::lose, loss_->peer, loss_->process});
    return moves;
  }
  void make(ChannelsInModel& state, const Move& move) {
    std::int32_t acting = move.to;
    const std::pair ends{move.from, move.to};
    switch (move.kind) {
    case Move::Kind::deliver: {
      Link& link = state.links[ends];
      const auto at = std::next(link.begin(), static_cast<std::ptrdiff_t>(move.which));
      const OnTheWay next = *at;
      link.erase(at);
      deliver(state, ends, next);
      break;
    }
    case Move::Kind::start: {
      acting = move.from;
      const auto at = static_cast<std::size_t>(move.from);
      const ScriptedSend& next = scripts_[at][state.started[at]++];
      if (state.processes[at].is_lost(next.to)) break; // the program is told so
      OnTheWay message;
      message.serial = state.sent[{move.from, next.to}]++;
      const std::optional<ChannelEpoch> slot = state.processes[at].take_slot(next.to, next.bytes);
      message.kind = slot ? OnTheWay::Kind::eager : OnTheWay::Kind::announced;
      message.epoch = slot.value_or(0);
      eager_ += slot.has_value();
      put(state, {move.from, next.to}, message);
      break;
    }
    case Move::Kind::receive: {
      auto& all = state.waiting[ends];
      const auto at = std::next(all.begin(), static_cast<std::ptrdiff_t>(move.which));
      const Taken message = *at;
      all.erase(at);
      ++state.taken[ends];
      if (message.in_slot) state.processes[static_cast<std::size_t>(move.to)].empty(move.from, message.epoch);
      break;
    }
    case Move::Kind::lose:
      state.has_lost = true;
      state.processes[static_cast<std::size_t>(move.to)].lose(move.from);
      break;
    }
    for (const AddressedMessage& each : state.processes[static_cast<std::size_t>(acting)].take_outgoing()) {
      has_demoted_ |= each.message.kind == ChannelMessage::Kind::offer && each.message.mode != ChannelMode::large &&
                      each.message.epoch > 1;
      put(state, {acting, each.peer}, {OnTheWay::Kind::protocol, each.message, 0, 0});
    }
  }
  void put(ChannelsInModel& state, std::pair<std::int32_t, std::int32_t> ends, const OnTheWay& message) {
    Link& link = state.links[ends];
    if (!fault_ || !fault_(link, message)) link.insert(message);
  }
  void deliver(ChannelsInModel& state, std::pair<std::int32_t, std::int32_t> ends, const OnTheWay& next) {
    TwoModeChannels& process = state.processes[static_cast<std::size_t>(ends.second)];
    if (next.kind == OnTheWay::Kind::protocol) return process.take(ends.first, next.message);
    const bool in_slot = next.kind == OnTheWay::Kind::eager, is_lost = process.is_lost(ends.first);
    if (in_slot)
      process.arrive(ends.first, next.epoch);
    else
      process.hear(ends.first);
    if (is_lost) return; // it is left out
    if (!state.waiting[ends].insert({in_slot, next.epoch, next.serial}).second) wrong_ = "a message came twice";
  }
  bool check(const ChannelsInModel& state) {
    for (const TwoModeChannels& process : state.processes) {
      if (!process.violation().empty()) wrong_ = process.violation();
      if (process.channels(ChannelMode::large) > sizes_.most_large) wrong_ = "more large channels than the limit";
      if (sizes_.is_pooled() && process.channels(ChannelMode::small) > sizes_.most(ChannelMode::small))
        wrong_ = "more of the pool than there is";
      most_large_ = std::max(most_large_, process.channels(ChannelMode::large));
    }
    for (std::size_t p = 0; p < state.processes.size(); ++p) {
      const bool is_fresh = std::none_of(state.waiting.begin(), state.waiting.end(),
                                         [&](const auto& each) { return each.first.second == std::int32_t(p); });
      if (is_fresh && state.processes[p].receive_bytes() > 0) wrong_ = "memory before the first contact";
    }
    return wrong_.empty();
  }
  void check_end(const ChannelsInModel& state) {
    for (std::size_t p = 0; p < scripts_.size(); ++p)
      if (!state.processes[p].is_at_rest()) wrong_ = "a channel changes for ever";
    // What a sender has not, its receiver owes: no slot is lost.
    for (const auto& [ends, count] : state.sent) {
      if (loss_ && loss_->is_of(ends)) continue;
      const auto taken = state.taken.find(ends);
      if (taken == state.taken.end() || taken->second != count) wrong_ = "a message never arrived";
      if (state.processes[std::size_t(ends.first)].slots_to(ends.second) +
              state.processes[std::size_t(ends.second)].slots_owed_to(ends.first) !=
          sizes_.slots(state.processes[std::size_t(ends.second)].mode_of(ends.first)))
        wrong_ = "a slot was lost";
    }
    if (loss_) check_loss(state);
  }
  void check_loss(const ChannelsInModel& state) {
    for (const auto& [process, peer] : {std::pair(loss_->process, loss_->peer), {loss_->peer, loss_->process}}) {
      const TwoModeChannels& channels = state.processes[static_cast<std::size_t>(process)];
      if (channels.is_lost(peer) && channels.mode_of(peer) != ChannelMode::none) wrong_ = "a lost peer has a channel";
      heard_losses_ += process == loss_->peer && channels.is_lost(peer);
    }
  }
  // Depth first. A state that is met again while it is open is a cycle: messages without an end.
  void visit(const ChannelsInModel& state) {
    const std::string key = state.key();
    const auto [at, is_new] = colours_.emplace(key, Colour::open);
    if (!is_new) {
      if (at->second == Colour::open) wrong_ = "the protocol goes round in a circle";
      return;
    }
    const std::vector<Move> moves = moves_of(state);
    if (moves.empty()) check_end(state);
    for (const Move& move : moves) {
      if (!wrong_.empty()) return;
      ChannelsInModel next = state;
      make(next, move);
      if (!check(next)) return;
      visit(next);
    }
    colours_[key] = Colour::closed;
  }

  ChannelSizes sizes_;
  Scripts scripts_;
  Fault fault_;
  std::optional<ScriptedLoss> loss_;
  std::string wrong_;
  std::unordered_map<std::string, Colour> colours_;
  std::int64_t most_large_ = 0, eager_ = 0, heard_losses_ = 0;
  bool has_demoted_ = false;
};

inline ChannelSizes tiny(std::int64_t small, std::int64_t large, std::int64_t after, std::int64_t most_large) {
  ChannelSizes sizes;
  sizes.small_slots = small;
  sizes.small_slot_bytes = sizes.small_eager_bytes = 1;
  sizes.large_slots = large;
  sizes.large_slot_bytes = sizes.large_eager_bytes = 2;
  sizes.promoted_after = after;
  sizes.most_large = most_large;
  return sizes;
}

// Bytes of 1 are eager everywhere, of 2 in large channels alone, of 3 never.
inline const Scripts both_ways = {{{1, 1}, {1, 1}, {1, 2}}, {{0, 1}, {0, 2}}};
inline const Scripts one_way = {{{1, 1}, {1, 3}, {1, 1}, {1, 2}, {1, 1}}, {}};
inline const Scripts two_to_one = {{{2, 1}, {2, 2}}, {{2, 1}, {2, 1}}, {}};
inline const Scripts in_turns = {{{2, 1}, {2, 1}, {2, 1}}, {{2, 1}, {2, 1}}, {}};

} // namespace kumihimo::fabric::testing
