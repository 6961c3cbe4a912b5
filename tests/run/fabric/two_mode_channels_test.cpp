// The protocol of two-mode channels in every interleaving: of deliveries, starts of sends, and receives by the programs
// of two and three processes, with all sizes of queues up to 3. The model is the code that ships.
#include "fabric/two_mode_channels.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <unordered_map>

namespace kumihimo::fabric {
namespace {

struct ScriptedSend {
  std::int32_t to = 0;
  std::int64_t bytes = 0;
};
using Scripts = std::vector<std::vector<ScriptedSend>>; // by process

// What a broken network, or a broken process, does to a message on its way; true: it was put on the link already.
using Fault = std::function<bool(std::deque<ChannelMessage>& link, const ChannelMessage& message)>;

struct ChannelsInModel {
  std::vector<TwoModeChannels> processes;
  std::map<std::pair<std::int32_t, std::int32_t>, std::deque<ChannelMessage>> links;
  std::vector<std::size_t> started;                                          // sends of each script
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> sent, taken; // messages of the program

  std::string key() const {
    std::vector<std::int64_t> words;
    for (const TwoModeChannels& process : processes) process.append_state(words), words.push_back(-1);
    for (const auto& [ends, queue] : links) {
      words.push_back(static_cast<std::int64_t>(queue.size()));
      for (const ChannelMessage& m : queue)
        for (const std::int64_t word :
             {static_cast<std::int64_t>(m.kind), static_cast<std::int64_t>(m.mode), m.count, m.bytes, m.serial})
          words.push_back(word);
    }
    for (const std::size_t s : started) words.push_back(static_cast<std::int64_t>(s));
    for (const auto& [ends, count] : taken) words.push_back(count);
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
};

class Explorer {
 public:
  Explorer(const ChannelSizes& sizes, Scripts scripts, Fault fault = nullptr)
      : sizes_(sizes), scripts_(std::move(scripts)), fault_(std::move(fault)) {}

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
  std::int64_t most_bytes() const { return most_bytes_; }
  std::int64_t most_large() const { return most_large_; }
  bool has_demoted() const { return has_demoted_; }

 private:
  struct Move {
    enum class Kind { deliver, start, receive } kind;
    std::int32_t from, to;
  };
  enum class Colour { open, closed };

  ChannelsInModel beginning() const {
    ChannelsInModel state;
    state.processes.assign(scripts_.size(), TwoModeChannels(sizes_));
    state.started.assign(scripts_.size(), 0);
    return state;
  }
  std::vector<Move> moves_of(const ChannelsInModel& state) const {
    std::vector<Move> moves;
    for (const auto& [ends, queue] : state.links)
      if (!queue.empty()) moves.push_back({Move::Kind::deliver, ends.first, ends.second});
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(scripts_.size()); ++p) {
      const auto at = static_cast<std::size_t>(p);
      if (state.started[at] < scripts_[at].size()) moves.push_back({Move::Kind::start, p, 0});
      for (std::int32_t peer = 0; peer < static_cast<std::int32_t>(scripts_.size()); ++peer)
        if (state.processes[at].has_arrived(peer)) moves.push_back({Move::Kind::receive, peer, p});
    }
    return moves;
  }
  void make(ChannelsInModel& state, const Move& move) {
    std::int32_t acting = move.to;
    switch (move.kind) {
    case Move::Kind::deliver: {
      auto& queue = state.links[{move.from, move.to}];
      const ChannelMessage message = queue.front();
      queue.pop_front();
      state.processes[static_cast<std::size_t>(move.to)].take(move.from, message);
      break;
    }
    case Move::Kind::start: {
      acting = move.from;
      const auto at = static_cast<std::size_t>(move.from);
      const ScriptedSend& next = scripts_[at][state.started[at]++];
      state.processes[at].send(next.to, next.bytes, state.sent[{move.from, next.to}]++);
      break;
    }
    case Move::Kind::receive: {
      const std::int64_t serial = state.processes[static_cast<std::size_t>(move.to)].receive(move.from);
      if (serial != state.taken[{move.from, move.to}]++) wrong_ = "a message was lost, doubled or overtaken";
      break;
    }
    }
    for (const AddressedMessage& each : state.processes[static_cast<std::size_t>(acting)].take_outgoing()) {
      auto& link = state.links[{acting, each.peer}];
      has_demoted_ |= each.message.kind == ChannelMessage::Kind::offer && each.message.mode == ChannelMode::small;
      if (!fault_ || !fault_(link, each.message)) link.push_back(each.message);
    }
  }
  bool check(const ChannelsInModel& state) {
    for (const TwoModeChannels& process : state.processes) {
      if (!process.violation().empty()) wrong_ = process.violation();
      if (process.large_channels() > sizes_.most_large) wrong_ = "more large channels than the limit";
      if (process.met() == 0 && process.receive_bytes() > 0) wrong_ = "memory before the first contact";
      most_bytes_ = std::max(most_bytes_, process.receive_bytes());
      most_large_ = std::max(most_large_, process.large_channels());
    }
    return wrong_.empty();
  }
  void check_end(const ChannelsInModel& state) {
    for (std::size_t p = 0; p < scripts_.size(); ++p)
      if (!state.processes[p].is_at_rest()) wrong_ = "a process waits for ever";
    if (state.sent != state.taken) wrong_ = "a message never arrived";
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
      ChannelsInModel next = state;
      make(next, move);
      if (!check(next)) return;
      visit(next);
      if (!wrong_.empty()) return;
    }
    colours_[key] = Colour::closed;
  }

  ChannelSizes sizes_;
  Scripts scripts_;
  Fault fault_;
  std::string wrong_;
  std::unordered_map<std::string, Colour> colours_;
  std::int64_t most_bytes_ = 0, most_large_ = 0;
  bool has_demoted_ = false;
};

ChannelSizes tiny(std::int64_t small, std::int64_t large, std::int64_t after, std::int64_t most_large) {
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
const Scripts both_ways = {{{1, 1}, {1, 3}, {1, 2}}, {{0, 1}, {0, 2}}};
const Scripts two_to_one = {{{2, 1}, {2, 2}}, {{2, 1}, {2, 3}}, {}};
const Scripts in_turns = {{{2, 1}, {2, 1}}, {{2, 1}, {2, 1}}, {{0, 1}}};

TEST(TwoModeChannels, Two_processes_in_every_interleaving_with_queues_up_to_three) {
  std::size_t states = 0;
  for (std::int64_t small = 1; small <= 3; ++small)
    for (std::int64_t large = 1; large <= 3; ++large)
      for (const std::int64_t after : {1, 2, 3})
        for (const std::int64_t most : {0, 1}) {
          Explorer explorer(tiny(small, large, after, most), both_ways);
          ASSERT_EQ(explorer.explore(), "") << small << " " << large << " " << after << " " << most;
          states += explorer.states();
        }
  EXPECT_GT(states, 10'000u);
  RecordProperty("states", static_cast<int>(states));
}

TEST(TwoModeChannels, Three_processes_in_every_interleaving_with_one_large_channel) {
  bool was_large = false, has_demoted = false;
  for (const Scripts& scripts : {two_to_one, in_turns})
    for (std::int64_t small = 1; small <= 3; ++small)
      for (std::int64_t large = 1; large <= 3; ++large)
        for (const bool demotes : {false, true}) {
          ChannelSizes sizes = tiny(small, large, 1, 1);
          sizes.demotes = demotes;
          Explorer explorer(sizes, scripts);
          ASSERT_EQ(explorer.explore(), "") << small << " " << large << " " << demotes;
          was_large = was_large || explorer.most_large() == 1;
          has_demoted = has_demoted || explorer.has_demoted();
          EXPECT_TRUE(demotes || !explorer.has_demoted());
        }
  EXPECT_TRUE(was_large && has_demoted);
}

TEST(TwoModeChannels, A_pool_of_slots_serves_all_peers_in_every_interleaving) {
  for (const Scripts& scripts : {both_ways, two_to_one, in_turns})
    for (std::int64_t pool = 1; pool <= 3; ++pool)
      for (const std::int64_t after : {1, 100}) {
        ChannelSizes sizes = tiny(1, 1, after, 1);
        sizes.pool_slots = pool;
        Explorer explorer(sizes, scripts);
        ASSERT_EQ(explorer.explore(), "") << pool << " " << after;
      }
}

// Longer runs of more processes, by chance.
TEST(TwoModeChannels, Random_interleavings_of_five_processes) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Scripts scripts(5);
    for (std::int32_t p = 0; p < 5; ++p)
      for (int i = 0; i < 12; ++i) {
        const auto to = static_cast<std::int32_t>(random() % 5);
        if (to != p) scripts[static_cast<std::size_t>(p)].push_back({to, 1 + static_cast<std::int64_t>(random() % 3)});
      }
    ChannelSizes sizes = tiny(1 + random() % 3, 1 + random() % 3, 1 + random() % 4, random() % 3);
    sizes.demotes = random() % 2 == 0;
    if (random() % 2 == 0) sizes.pool_slots = 1 + static_cast<std::int64_t>(random() % 3);
    Explorer explorer(sizes, scripts);
    ASSERT_EQ(explorer.walk(seed), "") << seed;
  }
}

// --- K's sizes

TEST(TwoModeChannels, A_peer_is_promoted_after_15_messages_and_no_more_than_the_limit_are_large) {
  ChannelSizes sizes;
  sizes.most_large = 2;
  sizes.demotes = false; // as on K
  TwoModeChannels receiver(sizes);
  EXPECT_EQ(receiver.receive_bytes(), 0);
  const auto message_of = [&](std::int32_t peer, TwoModeChannels& sender, std::int64_t serial) {
    sender.send(0, 100, serial);
    for (bool moved = true; moved;) {
      moved = false;
      for (const AddressedMessage& m : sender.take_outgoing()) receiver.take(peer, m.message), moved = true;
      for (const AddressedMessage& m : receiver.take_outgoing()) sender.take(0, m.message), moved = true;
      if (receiver.has_arrived(peer)) {
        EXPECT_EQ(receiver.receive(peer), serial);
        moved = true;
      }
    }
  };
  std::vector<TwoModeChannels> senders(4, TwoModeChannels(sizes));
  for (std::int64_t serial = 0; serial < 15; ++serial)
    for (std::int32_t peer = 1; peer <= 3; ++peer) {
      const bool is_last = serial == 14;
      EXPECT_NE(receiver.mode_of(peer), ChannelMode::large) << serial;
      message_of(peer, senders[static_cast<std::size_t>(peer)], serial);
      if (is_last && peer < 3) {
        EXPECT_EQ(receiver.mode_of(peer), ChannelMode::large);
      }
    }
  EXPECT_EQ(receiver.mode_of(3), ChannelMode::small) << "two are large already";
  EXPECT_EQ(receiver.receive_bytes(), 2 * (1 << 20) + 2048);
}

// Messages that come between the offer of a small channel and its confirmation are of the large one.
TEST(TwoModeChannels, A_peer_that_was_demoted_while_it_sent_much_is_promoted_again) {
  ChannelSizes sizes;
  sizes.most_large = 1;
  TwoModeChannels receiver(sizes), first(sizes), second(sizes);
  std::int64_t serial = 0;
  const auto deliver = [&](std::int32_t peer, TwoModeChannels& sender, bool offers_too) {
    std::vector<ChannelMessage> held;
    for (bool moved = true; moved;) {
      moved = false;
      for (const AddressedMessage& m : sender.take_outgoing()) receiver.take(peer, m.message), moved = true;
      for (const AddressedMessage& m : receiver.take_outgoing()) {
        TwoModeChannels& to = m.peer == 1 ? first : second;
        if (m.message.kind == ChannelMessage::Kind::offer && !offers_too)
          held.push_back(m.message);
        else
          to.take(0, m.message);
        moved = true;
      }
      while (receiver.has_arrived(peer)) receiver.receive(peer), moved = true;
    }
    return held;
  };
  const auto send = [&](std::int32_t peer, TwoModeChannels& sender, int messages) {
    std::vector<ChannelMessage> held;
    for (int i = 0; i < messages; ++i) {
      sender.send(0, 100, ++serial);
      for (const ChannelMessage& offer : deliver(peer, sender, false)) held.push_back(offer);
    }
    return held;
  };
  for (const ChannelMessage& offer : send(1, first, 15)) first.take(0, offer);
  deliver(1, first, true);
  ASSERT_EQ(receiver.mode_of(1), ChannelMode::large);
  const std::vector<ChannelMessage> offers = send(2, second, 15); // the first one is to be small again
  ASSERT_EQ(offers.size(), 1u);
  send(1, first, 20);
  first.take(0, offers[0]);
  deliver(1, first, true), deliver(2, second, true);
  ASSERT_EQ(receiver.mode_of(1), ChannelMode::small);
  for (int i = 0; i < 40 && receiver.mode_of(1) != ChannelMode::large; ++i) {
    first.send(0, 100, ++serial);
    deliver(1, first, true), deliver(2, second, true);
  }
  EXPECT_EQ(receiver.mode_of(1), ChannelMode::large);
}

// What the process has allocated, in bytes.
std::int64_t allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

// All peers of the whole K computer, each contacted once, 1,024 of them promoted: the states of peers beside the slots.
TEST(TwoModeChannels, The_state_of_82944_peers_takes_less_than_24_MiB) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's memory would be counted";
#endif
  ChannelSizes sizes;
  sizes.pool_slots = 4096;
  sizes.most_large = 32;
  sizes.promoted_after = 1 << 30;
  const std::int64_t before = allocated_bytes();
  TwoModeChannels receiver(sizes);
  for (std::int32_t peer = 0; peer < 82'944; ++peer) {
    receiver.take(peer, {ChannelMessage::Kind::request, ChannelMode::none, 1});
    const std::vector<AddressedMessage> granted = receiver.take_outgoing();
    ASSERT_EQ(granted.size(), 1u);
    for (std::int64_t i = 0; i < granted[0].message.count; ++i) {
      receiver.take(peer, {ChannelMessage::Kind::eager, ChannelMode::small, 0, 100, i});
      EXPECT_EQ(receiver.receive(peer), i);
      receiver.take_outgoing();
    }
  }
  EXPECT_EQ(receiver.met(), 82'944);
  EXPECT_EQ(receiver.receive_bytes(), 4096 * 128);
  const std::int64_t bytes = allocated_bytes() - before;
  RecordProperty("bytes_of_a_peer", static_cast<int>(bytes / 82'944));
  EXPECT_LT(bytes, 24 << 20);
  std::printf("%lld bytes of a peer\n", static_cast<long long>(bytes / 82'944));
}

// --- sabotage: the exploration finds what is broken

TEST(TwoModeChannelsSabotage, Is_found) {
  using Kind = ChannelMessage::Kind;
  const auto first_of = [](Kind kind) { return [kind](const ChannelMessage& m) { return m.kind == kind; }; };
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"lost grants", [&](auto&, const ChannelMessage& m) { return first_of(Kind::grant)(m); }},
      {"lost offers", [&](auto&, const ChannelMessage& m) { return first_of(Kind::offer)(m); }},
      {"doubled messages",
       [&](auto& link, const ChannelMessage& m) {
         if (m.kind == Kind::eager) link.push_back(m);
         return false;
       }},
      {"a slot too many",
       [&](auto& link, const ChannelMessage& m) {
         if (m.kind != Kind::grant) return false;
         ChannelMessage more = m;
         ++more.count;
         return link.push_back(more), true;
       }},
      {"a confirmation before the last message",
       [&](auto& link, const ChannelMessage& m) {
         if (m.kind != Kind::confirm || link.empty()) return false;
         return link.push_front(m), true;
       }},
      {"an order turned round", [&](auto& link, const ChannelMessage& m) { return link.push_front(m), true; }},
      {"data before the answer is one", [&](auto&, const ChannelMessage& m) { return m.kind == Kind::answer; }},
  };
  for (const auto& [name, fault] : faults) {
    Explorer explorer(tiny(2, 2, 1, 1), {{{1, 1}, {1, 1}, {1, 3}, {1, 1}, {1, 1}}, {}}, fault);
    EXPECT_NE(explorer.explore(), "") << name;
  }
  Explorer whole(tiny(2, 2, 1, 1), {{{1, 1}, {1, 1}, {1, 3}, {1, 1}, {1, 1}}, {}});
  EXPECT_EQ(whole.explore(), "");
}

} // namespace
} // namespace kumihimo::fabric
