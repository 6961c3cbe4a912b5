// The protocol of two-mode channels in every interleaving: of deliveries in any order, starts of sends, and receives by
// the programs of two and three processes, with all sizes of queues up to 3. The model is the code that ships.
#include "fabric/channel_memory.hpp"
#include "fabric/two_mode_channels.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace kumihimo::fabric {
namespace {

struct ScriptedSend {
  std::int32_t to = 0;
  std::int64_t bytes = 0;
};
using Scripts = std::vector<std::vector<ScriptedSend>>; // by process

// Something under way between two processes: a message of the protocol, or one of the program, in a slot or announced.
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

// Damage of a broken network, or a broken process, to a message on its way; true: it was put on the link already.
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
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
};

class Explorer {
 public:
  Explorer(const ChannelSizes& sizes, Scripts scripts, Fault fault = nullptr)
      : sizes_(sizes), scripts_(std::move(scripts)), fault_(std::move(fault)) {}

  // A fault in some interleaving; empty: none in any.
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

 private:
  struct Move {
    enum class Kind { deliver, start, receive } kind;
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
    const bool in_slot = next.kind == OnTheWay::Kind::eager;
    if (in_slot)
      process.arrive(ends.first, next.epoch);
    else
      process.hear(ends.first);
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
    if (state.sent != state.taken) wrong_ = "a message never arrived";
    // The receiver owes each slot that its sender does not have: no slot is lost.
    for (const auto& [ends, count] : state.sent)
      if (state.processes[std::size_t(ends.first)].slots_to(ends.second) +
              state.processes[std::size_t(ends.second)].slots_owed_to(ends.first) !=
          sizes_.slots(state.processes[std::size_t(ends.second)].mode_of(ends.first)))
        wrong_ = "a slot was lost";
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
  std::string wrong_;
  std::unordered_map<std::string, Colour> colours_;
  std::int64_t most_large_ = 0, eager_ = 0;
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
const Scripts both_ways = {{{1, 1}, {1, 1}, {1, 2}}, {{0, 1}, {0, 2}}};
const Scripts one_way = {{{1, 1}, {1, 3}, {1, 1}, {1, 2}, {1, 1}}, {}};
const Scripts two_to_one = {{{2, 1}, {2, 2}}, {{2, 1}, {2, 1}}, {}};
const Scripts in_turns = {{{2, 1}, {2, 1}, {2, 1}}, {{2, 1}, {2, 1}}, {}};

TEST(TwoModeChannels, Two_processes_in_every_interleaving_with_queues_up_to_three) {
  std::size_t states = 0;
  std::int64_t eager = 0;
  for (const Scripts& scripts : {both_ways, one_way})
    for (std::int64_t small = 1; small <= 3; ++small)
      for (std::int64_t large = 1; large <= 3; ++large)
        for (const std::int64_t after : {1, 2, 3})
          for (const std::int64_t most : {0, 1}) {
            Explorer explorer(tiny(small, large, after, most), scripts);
            ASSERT_EQ(explorer.explore(), "") << small << " " << large << " " << after << " " << most;
            states += explorer.states();
            eager += explorer.eager();
          }
  EXPECT_GT(states, 100'000u);
  EXPECT_GT(eager, 10'000);
  RecordProperty("states", static_cast<int>(states));
}

TEST(TwoModeChannels, Three_processes_in_every_interleaving_with_one_large_channel) {
  bool was_large = false, has_demoted = false;
  for (const Scripts& scripts : {two_to_one, in_turns})
    for (std::int64_t small = 1; small <= 3; ++small)
      for (const bool demotes : {false, true}) {
        ChannelSizes sizes = tiny(small, 4 - small, 1, 1);
        sizes.demotes = demotes;
        Explorer explorer(sizes, scripts);
        ASSERT_EQ(explorer.explore(), "") << small << " " << demotes;
        was_large = was_large || explorer.most_large() == 1;
        has_demoted = has_demoted || explorer.has_demoted();
        EXPECT_TRUE(demotes || !explorer.has_demoted());
      }
  EXPECT_TRUE(was_large && has_demoted);
}

TEST(TwoModeChannels, A_pool_of_slots_serves_all_peers_in_every_interleaving) {
  bool has_demoted = false;
  for (const Scripts& scripts : {both_ways, two_to_one, in_turns})
    for (std::int64_t pool = 1; pool <= 3; ++pool)
      for (const std::int64_t after : {1, 100}) {
        ChannelSizes sizes = tiny(1, 1, after, 1);
        sizes.pool_slots = pool;
        sizes.slots_of_pool = 1;
        Explorer explorer(sizes, scripts);
        ASSERT_EQ(explorer.explore(), "") << pool << " " << after;
        has_demoted = has_demoted || explorer.has_demoted();
      }
  EXPECT_TRUE(has_demoted);
}

// Longer runs of more processes, by chance.
TEST(TwoModeChannels, Random_interleavings_of_five_processes) {
  std::mt19937 random(7);
  std::int64_t eager = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Scripts scripts(5);
    for (std::int32_t p = 0; p < 5; ++p)
      for (int i = 0; i < 25; ++i) {
        const auto to = static_cast<std::int32_t>(random() % 5);
        if (to != p) scripts[static_cast<std::size_t>(p)].push_back({to, 1 + static_cast<std::int64_t>(random() % 3)});
      }
    ChannelSizes sizes = tiny(1 + random() % 3, 1 + random() % 3, 1 + random() % 4, random() % 3);
    sizes.demotes = random() % 2 == 0;
    if (random() % 2 == 0) sizes.pool_slots = 1 + static_cast<std::int64_t>(random() % 5);
    Explorer explorer(sizes, scripts);
    ASSERT_EQ(explorer.walk(seed), "") << seed;
    eager += explorer.eager();
  }
  EXPECT_GT(eager, 2000);
}

// --- K's sizes

// A receiver and its senders over a network that delivers at once, with the receiver's memory.
struct ReceiverWithSenders {
  TwoModeChannels receiver;
  ChannelSlots memory;
  std::vector<TwoModeChannels> senders;
  std::vector<AddressedMessage> held; // offers, while they are held up
  bool holds_offers = false;
  std::int32_t dead = -1; // it hears and says nothing

  ReceiverWithSenders(const ChannelSizes& sizes, std::size_t count)
      : receiver(sizes), memory(sizes), senders(count, TwoModeChannels(sizes)) {}
  void settle(std::int32_t peer) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const ChannelChange& change : receiver.take_changes()) memory.apply(change);
      for (const AddressedMessage& m : senders[static_cast<std::size_t>(peer)].take_outgoing())
        receiver.take(peer, m.message), moved = true;
      for (const AddressedMessage& m : receiver.take_outgoing()) {
        moved = true;
        if (m.peer == dead) continue;
        if (holds_offers && m.message.kind == ChannelMessage::Kind::offer)
          held.push_back(m);
        else
          senders[static_cast<std::size_t>(m.peer)].take(0, m.message), settle(m.peer);
      }
    }
  }
  // True: it went at once, through a slot in which it was kept.
  bool send(std::int32_t peer, std::int64_t bytes) {
    const std::optional<ChannelEpoch> slot = senders[static_cast<std::size_t>(peer)].take_slot(0, bytes);
    if (!slot) {
      receiver.hear(peer);
    } else {
      receiver.arrive(peer, *slot);
      settle(peer);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), std::byte{7});
      const std::byte* const kept = memory.keep(peer, *slot, data);
      EXPECT_TRUE(kept && std::equal(data.begin(), data.end(), kept));
      memory.give(peer, *slot, kept);
      receiver.empty(peer, *slot);
    }
    settle(peer);
    EXPECT_EQ(receiver.violation(), "");
    EXPECT_EQ(memory.bytes(), receiver.receive_bytes());
    return slot.has_value();
  }
};

TEST(TwoModeChannels, A_peer_is_promoted_after_15_messages_and_no_more_than_the_limit_are_large) {
  ChannelSizes sizes;
  sizes.most_large = 2;
  sizes.demotes = false; // as on K
  ReceiverWithSenders all(sizes, 4);
  EXPECT_EQ(all.receiver.receive_bytes(), 0);
  for (int message = 1; message <= 16; ++message)
    for (std::int32_t peer = 1; peer <= 3; ++peer) {
      EXPECT_NE(all.receiver.mode_of(peer), ChannelMode::large) << message;
      EXPECT_EQ(all.send(peer, 100), message > 1) << message;
      if (message == 16 && peer < 3) {
        EXPECT_EQ(all.receiver.mode_of(peer), ChannelMode::large);
      }
    }
  EXPECT_EQ(all.receiver.mode_of(3), ChannelMode::small) << "two are large already";
  EXPECT_EQ(all.receiver.receive_bytes(), 2 * (1 << 20) + 2048);
}

TEST(TwoModeChannels, Each_mode_has_its_longest_eager_message) {
  ReceiverWithSenders all(ChannelSizes{}, 2);
  EXPECT_FALSE(all.send(1, 1)) << "the first contact";
  EXPECT_TRUE(all.send(1, 128));
  EXPECT_FALSE(all.send(1, 129));
  for (int message = 0; message < 15; ++message) all.send(1, 13'700);
  EXPECT_TRUE(all.send(1, 13'700));
  EXPECT_FALSE(all.send(1, 13'701));
}

// Messages that come between the offer of a small channel and its confirmation are of the large one.
TEST(TwoModeChannels, A_peer_that_was_demoted_while_it_sent_much_is_promoted_again) {
  ChannelSizes sizes;
  sizes.most_large = 1;
  ReceiverWithSenders all(sizes, 3);
  for (int message = 0; message < 16; ++message) all.send(1, 100);
  ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::large);
  for (int message = 0; message < 15; ++message) all.send(2, 100);
  all.holds_offers = true;
  all.send(2, 100); // the first one is to be small again
  ASSERT_EQ(all.held.size(), 1u);
  for (int message = 0; message < 20; ++message) EXPECT_TRUE(all.send(1, 100));
  all.holds_offers = false;
  all.senders[1].take(0, all.held[0].message);
  all.settle(1);
  ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::small);
  EXPECT_EQ(all.receiver.mode_of(2), ChannelMode::large);
  for (int message = 0; message < 40 && all.receiver.mode_of(1) != ChannelMode::large; ++message) all.send(1, 100);
  EXPECT_EQ(all.receiver.mode_of(1), ChannelMode::large);
}

// --- lost peers

// A dead peer confirms no offer, so its large channel would never make room for another's.
TEST(TwoModeChannels, The_large_channel_of_a_lost_peer_goes_to_another) {
  for (const bool is_lost : {false, true}) {
    ChannelSizes sizes;
    sizes.most_large = 1;
    ReceiverWithSenders all(sizes, 4);
    for (int message = 0; message < 16; ++message) all.send(1, 100);
    ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::large);
    all.dead = 1;
    if (is_lost) all.receiver.lose(1), all.settle(0);
    EXPECT_EQ(all.memory.bytes(), is_lost ? 0 : 1 << 20);
    for (int message = 0; message < 40; ++message) all.send(2, 100);
    EXPECT_EQ(all.receiver.mode_of(2), is_lost ? ChannelMode::large : ChannelMode::small);
  }
}

TEST(TwoModeChannels, A_slot_of_a_lost_peer_stays_until_its_message_was_taken) {
  ReceiverWithSenders all(ChannelSizes{}, 3);
  for (int message = 0; message < 2; ++message) all.send(1, 100);
  const std::optional<ChannelEpoch> slot = all.senders[1].take_slot(0, 3);
  ASSERT_TRUE(slot);
  all.receiver.arrive(1, *slot);
  const std::vector<std::byte> data(3, std::byte{9});
  const std::byte* const kept = all.memory.keep(1, *slot, data);
  all.receiver.lose(1);
  all.settle(0);
  EXPECT_EQ(all.memory.bytes(), 2048);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), kept));
  all.memory.give(1, *slot, kept);
  all.receiver.empty(1, *slot);
  all.settle(0);
  EXPECT_EQ(all.memory.bytes(), 0);
  EXPECT_EQ(all.receiver.violation(), "");
  EXPECT_FALSE(all.receiver.take_slot(1, 1)) << "nothing goes to it";
}

// At any time, also while a channel changes and while others wait for its room.
TEST(TwoModeChannels, Peers_lost_at_random_leave_no_memory_and_block_nobody) {
  std::mt19937 random(5);
  std::int64_t large = 0;
  for (int run = 0; run < 500; ++run) {
    ChannelSizes sizes = tiny(1 + random() % 3, 1 + random() % 3, 1 + random() % 4, 1);
    if (random() % 2 == 0) sizes.pool_slots = 1 + static_cast<std::int64_t>(random() % 5);
    ReceiverWithSenders all(sizes, 6);
    const auto send_some = [&](std::int32_t last, int count) {
      for (int i = 0; i < count; ++i)
        all.send(1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(last)), 1);
    };
    send_some(5, 30);
    all.holds_offers = true;
    send_some(5, static_cast<int>(random() % 20));
    for (const std::int32_t peer : {3, 4, 5}) all.receiver.lose(peer), all.settle(0);
    all.holds_offers = false;
    for (const AddressedMessage& m : std::exchange(all.held, {})) {
      all.senders[static_cast<std::size_t>(m.peer)].take(0, m.message); // a lost one may still hear and answer
      all.settle(m.peer);
    }
    for (const std::int32_t peer : {3, 4, 5}) EXPECT_EQ(all.receiver.mode_of(peer), ChannelMode::none);
    send_some(2, 30);
    EXPECT_TRUE(all.receiver.is_at_rest());
    EXPECT_EQ(all.receiver.violation(), "");
    large += all.receiver.channels(ChannelMode::large);
    for (const std::int32_t peer : {1, 2}) all.receiver.lose(peer), all.settle(0);
    for (const ChannelMode mode : {ChannelMode::small, ChannelMode::large}) EXPECT_EQ(all.receiver.channels(mode), 0);
  }
  EXPECT_GT(large, 400) << "the one large channel is used";
}

// --- memory

// Memory that the process has allocated, in bytes.
std::int64_t allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

struct GoalOfMemory {
  std::int64_t large, pool, most_bytes;
};

// All peers of the whole K computer, each contacted once, 1,024 of them promoted where the limit allows it.
TEST(TwoModeChannels, The_memory_of_82944_peers_stays_below_the_goals) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's memory would be counted";
#endif
  for (const GoalOfMemory& goal : {GoalOfMemory{1024, 0, 1'300'000'000}, {32, 0, 200 << 20}, {32, 4096, 64 << 20}}) {
    ChannelSizes sizes;
    sizes.most_large = goal.large;
    sizes.pool_slots = goal.pool;
    const std::int64_t before = allocated_bytes();
    TwoModeChannels receiver(sizes);
    ChannelSlots memory(sizes);
    const auto hear = [&](std::int32_t peer) {
      receiver.hear(peer);
      for (bool moved = true; moved;) {
        for (const ChannelChange& change : receiver.take_changes()) memory.apply(change);
        const std::vector<AddressedMessage> said = receiver.take_outgoing();
        for (const AddressedMessage& m : said)
          receiver.take(m.peer, {ChannelMessage::Kind::confirm, m.message.mode, m.message.epoch, 0});
        moved = !said.empty();
      }
    };
    EXPECT_LE(allocated_bytes() - before, 2048); // of empty tables
    for (std::int32_t peer = 0; peer < 82'944; ++peer) hear(peer);
    for (int message = 0; message < 15; ++message)
      for (std::int32_t peer = 0; peer < 1024; ++peer) hear(peer);
    EXPECT_EQ(receiver.violation(), "");
    EXPECT_EQ(receiver.channels(ChannelMode::large), goal.large);
    EXPECT_EQ(memory.bytes(), receiver.receive_bytes());
    const std::int64_t bytes = allocated_bytes() - before;
    RecordProperty("bytes_of_a_peer", static_cast<int>((bytes - memory.bytes()) / 82'944));
    EXPECT_LT(bytes, goal.most_bytes) << goal.large << " " << goal.pool;
  }
}

TEST(ChannelSizes, Are_read_from_words_or_refused_with_the_value) {
  const auto read = channel_sizes_in("SIZES", "large=32,pool=4096,after=3");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->most_large, 32);
  EXPECT_EQ(read->pool_slots, 4096);
  EXPECT_EQ(read->promoted_after, 3);
  EXPECT_EQ(read->large_eager_bytes, 13'700);
  for (const std::string words : {"", "large", "large=", "large=x", "large=-1", "big=3", "small_slots=65", "large=1,",
                                  "large_bytes=4096", "small_bytes=20000"}) {
    const auto wrong = channel_sizes_in("SIZES", words);
    ASSERT_FALSE(wrong.ok()) << words;
    EXPECT_NE(wrong.error().sentence().find("SIZES"), std::string::npos);
  }
}

// --- sabotage: the exploration finds what is broken

TEST(TwoModeChannelsSabotage, Is_found) {
  using Kind = ChannelMessage::Kind;
  const auto is = [](const OnTheWay& m, Kind kind) {
    return m.kind == OnTheWay::Kind::protocol && m.message.kind == kind;
  };
  const auto changed = [](Link& link, OnTheWay message, auto change) {
    change(message.message);
    link.insert(message);
    return true;
  };
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"lost offers", [&](Link&, const OnTheWay& m) { return is(m, Kind::offer); }},
      {"lost confirmations", [&](Link&, const OnTheWay& m) { return is(m, Kind::confirm); }},
      {"lost credits", [&](Link&, const OnTheWay& m) { return is(m, Kind::credits); }},
      {"lost messages", [&](Link&, const OnTheWay& m) { return m.kind == OnTheWay::Kind::eager; }},
      {"doubled messages",
       [&](Link& link, const OnTheWay& m) {
         if (m.kind == OnTheWay::Kind::eager) link.insert(m);
         return false;
       }},
      {"a slot too many",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::offer) && changed(link, m, [](ChannelMessage& c) { ++c.count; });
       }},
      {"a credit too many",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::credits) && changed(link, m, [](ChannelMessage& c) { ++c.count; });
       }},
      {"a confirmation that does not count the messages before",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::confirm) && m.message.count > 0 && changed(link, m, [](ChannelMessage& c) { c.count = 0; });
       }},
      {"credits of another channel",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::credits) && changed(link, m, [](ChannelMessage& c) { ++c.epoch; });
       }},
  };
  const Scripts script = {{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, {}};
  for (const auto& [name, fault] : faults) {
    Explorer explorer(tiny(2, 2, 3, 1), script, fault);
    EXPECT_NE(explorer.explore(), "") << name;
  }
  Explorer whole(tiny(2, 2, 3, 1), script);
  EXPECT_EQ(whole.explore(), "");
}

} // namespace
} // namespace kumihimo::fabric
