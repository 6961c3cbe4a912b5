#include "remote_memory_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>

namespace kumihimo::transport::testing {
namespace {

constexpr std::int32_t data_channel = 0, control_channel = 7;
constexpr int many_turns = 200; // in which a put that must wait could have been done

// One rank's part of a check.
struct Part {
  Part(Rank self, Transport& driven) : rank(self), transport(driven), memory(*driven.remote_memory()) {}
  Rank rank;
  Transport& transport;
  RemoteMemory& memory;

  Status turn() {
    switch (transport.progress()) {
    case Transport::Progress::failed: return transport.error();
    case Transport::Progress::nothing: transport.idle(); break;
    case Transport::Progress::moved: break;
    }
    return Nothing{};
  }
  template <class Predicate>
  Status wait(Predicate&& done) {
    while (!done())
      if (Status s = turn(); !s) return s;
    return Nothing{};
  }
  // Without idle(), which may find that nothing will ever move.
  Status turns(int count) {
    for (int i = 0; i < count; ++i)
      if (transport.progress() == Transport::Progress::failed) return transport.error();
    return Nothing{};
  }
  Status wait_for_flags(Rank sender, std::int64_t count, std::int32_t channel = data_channel) {
    return wait([&] { return memory.flags(sender, channel) >= count; });
  }
  Result<MemoryKey> key_from(Rank receiver, std::int32_t channel = data_channel) {
    if (Status s = wait([&] { return memory.credits(receiver, channel).key.exists(); }); !s) return s.error();
    return memory.credits(receiver, channel).key;
  }
  // A put of no bytes with a flag.
  Status signal(Rank target, std::int32_t channel = control_channel) {
    std::int32_t open = 1;
    PutRequest put{.target = target, .channel = channel, .flag = true, .open = &open};
    memory.put(put);
    return wait([&] { return open == 0; });
  }
};

std::byte byte_at(std::int64_t i, std::int64_t seed) { return static_cast<std::byte>(i * 7 + i / 251 + seed * 31); }

std::vector<std::byte> pattern(std::int64_t bytes, std::int64_t seed) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  for (std::int64_t i = 0; i < bytes; ++i) data[static_cast<std::size_t>(i)] = byte_at(i, seed);
  return data;
}

Status expect_pattern(const std::byte* data, std::int64_t bytes, std::int64_t seed, const std::string& where) {
  for (std::int64_t i = 0; i < bytes; ++i)
    if (data[i] != byte_at(i, seed)) return failed("wrong data of " + where, fmt::format("byte {}", i));
  return Nothing{};
}

Status expect(bool holds, const std::string& what, const std::string& found = "not so") {
  if (holds) return Nothing{};
  return failed(what, found);
}

// --- data and flags

// Rank 0 writes pieces of rank 1's memory; all other bytes stay as they were.
Status writes_the_bytes_and_no_others(World& world) {
  constexpr std::int64_t bytes = 10'000;
  struct Range {
    std::int64_t first, count;
  };
  const std::vector<Range> ranges = {{0, 1}, {17, 0}, {64, 4096}, {5000, 333}, {bytes - 1, 1}};
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{0}) {
      const Result<MemoryKey> key = me.key_from(Rank{1});
      if (!key) return key.error();
      std::int32_t open = 0;
      std::deque<PutRequest> puts;
      std::vector<std::vector<std::byte>> sources;
      for (const Range& range : ranges) sources.push_back(pattern(range.count, range.first));
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        puts.push_back({.target = Rank{1},
                        .key = *key,
                        .offset = ranges[i].first,
                        .data = sources[i].data(),
                        .bytes = ranges[i].count,
                        .flag = i + 1 == ranges.size(),
                        .open = &open});
        ++open;
        me.memory.put(puts.back());
      }
      return me.wait([&] { return open == 0; });
    }
    std::vector<std::byte> memory(bytes, std::byte{0xee});
    const Result<MemoryKey> key = me.memory.register_memory(memory.data(), bytes);
    if (!key) return key.error();
    me.memory.grant(Rank{0}, data_channel, *key, 0);
    if (Status s = me.wait_for_flags(Rank{0}, 1); !s) return s;
    std::int64_t at = 0;
    for (const Range& range : ranges) {
      if (range.count == 0) continue;
      for (; at < range.first; ++at)
        if (memory[static_cast<std::size_t>(at)] != std::byte{0xee})
          return failed("a put wrote between the ranges", fmt::format("byte {}", at));
      const std::byte* data = memory.data() + range.first;
      if (Status s = expect_pattern(data, range.count, range.first, fmt::format("a put to byte {}", range.first)); !s)
        return s;
      at = range.first + range.count;
    }
    return Nothing{};
  });
}

// A long put, again and again: with its flag all of it is there. Two unflagged puts go before each.
Status shows_the_data_before_the_flag(World& world) {
  constexpr std::int64_t bytes = 20'000, rounds = 40;
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{0}) {
      const Result<MemoryKey> key = me.key_from(Rank{1});
      if (!key) return key.error();
      for (std::int64_t round = 0; round < rounds; ++round) {
        const std::vector<std::byte> source = pattern(bytes, round);
        std::int32_t open = 3;
        std::array<PutRequest, 3> puts;
        const std::array<std::int64_t, 4> cuts = {0, bytes / 3, bytes / 2, bytes};
        for (std::size_t i = 0; i < 3; ++i) {
          puts[i] = {.target = Rank{1},
                     .key = *key,
                     .offset = cuts[i],
                     .data = source.data() + cuts[i],
                     .bytes = cuts[i + 1] - cuts[i],
                     .slot = round,
                     .flag = i == 2,
                     .open = &open};
          me.memory.put(puts[i]);
        }
        if (Status s = me.wait([&] { return open == 0; }); !s) return s;
      }
      return Nothing{};
    }
    std::vector<std::byte> memory(bytes);
    const Result<MemoryKey> key = me.memory.register_memory(memory.data(), bytes);
    if (!key) return key.error();
    for (std::int64_t round = 0; round < rounds; ++round) {
      me.memory.grant(Rank{0}, data_channel, *key, 1);
      if (Status s = me.wait_for_flags(Rank{0}, round + 1); !s) return s;
      if (Status s = expect_pattern(memory.data(), bytes, round, fmt::format("round {}", round)); !s) return s;
    }
    return Nothing{};
  });
}

Status counts_each_flag_once(World& world) {
  constexpr std::int64_t count = 100;
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{0}) {
      for (std::int64_t i = 0; i < count; ++i)
        if (Status s = me.signal(Rank{1}); !s) return s;
      return me.wait_for_flags(Rank{1}, 1, control_channel);
    }
    std::int64_t before = 0;
    while (before < count) {
      if (Status s = me.turn(); !s) return s;
      const std::int64_t now = me.memory.flags(Rank{0}, control_channel);
      if (now < before) return failed("the count of flags fell", fmt::format("{} after {}", now, before));
      before = now;
    }
    if (Status s = me.turns(many_turns); !s) return s;
    const std::int64_t flags = me.memory.flags(Rank{0}, control_channel);
    if (Status s = expect(flags == count, fmt::format("{} flags", count), std::to_string(flags)); !s) return s;
    if (Status s = expect(me.memory.flags(Rank{0}, data_channel) == 0, "no flag on another channel"); !s) return s;
    return me.signal(Rank{0});
  });
}

Status lets_the_source_change_after_completion(World& world) {
  constexpr std::int64_t bytes = 5000, rounds = 30;
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{0}) {
      const Result<MemoryKey> key = me.key_from(Rank{1});
      if (!key) return key.error();
      std::vector<std::byte> source(bytes);
      for (std::int64_t round = 0; round < rounds; ++round) {
        source = pattern(bytes, round);
        std::int32_t open = 1;
        PutRequest put{.target = Rank{1},
                       .key = *key,
                       .offset = round * bytes,
                       .data = source.data(),
                       .bytes = bytes,
                       .flag = true,
                       .open = &open};
        me.memory.put(put);
        if (Status s = me.wait([&] { return open == 0; }); !s) return s;
        std::fill(source.begin(), source.end(), std::byte{0xaa});
      }
      return Nothing{};
    }
    std::vector<std::byte> memory(static_cast<std::size_t>(bytes * rounds));
    const Result<MemoryKey> key = me.memory.register_memory(memory.data(), bytes * rounds);
    if (!key) return key.error();
    me.memory.grant(Rank{0}, data_channel, *key, 0);
    if (Status s = me.wait_for_flags(Rank{0}, rounds); !s) return s;
    for (std::int64_t round = 0; round < rounds; ++round)
      if (Status s = expect_pattern(memory.data() + round * bytes, bytes, round, fmt::format("put {}", round)); !s)
        return s;
    return Nothing{};
  });
}

// --- credits

// Two slots are granted and three puts started: the third comes only after another grant.
Status holds_a_put_until_its_slot_is_granted(World& world) {
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{0}) {
      const Result<MemoryKey> key = me.key_from(Rank{1});
      if (!key) return key.error();
      const std::vector<std::byte> source = pattern(3, 5);
      std::array<std::int32_t, 3> open = {1, 1, 1};
      std::array<PutRequest, 3> puts;
      for (std::size_t i = 0; i < 3; ++i) {
        puts[i] = {.target = Rank{1},
                   .key = *key,
                   .offset = static_cast<std::int64_t>(i % 2),
                   .data = &source[i],
                   .bytes = 1,
                   .slot = static_cast<std::int64_t>(i),
                   .flag = true,
                   .open = &open[i]};
        me.memory.put(puts[i]);
      }
      if (Status s = me.wait([&] { return open[0] + open[1] == 0; }); !s) return s;
      if (Status s = me.turns(many_turns); !s) return s;
      const bool held = open[2] == 1;
      if (Status s = me.signal(Rank{1}); !s) return s; // on another channel, which is not held up
      if (Status s = expect(held, "a put that waits for its credit", "complete without one"); !s) return s;
      return me.wait([&] { return open[2] == 0; });
    }
    std::array<std::byte, 2> memory{};
    const Result<MemoryKey> key = me.memory.register_memory(memory.data(), 2);
    if (!key) return key.error();
    me.memory.grant(Rank{0}, data_channel, *key, 2);
    if (Status s = me.wait_for_flags(Rank{0}, 2); !s) return s;
    if (Status s = me.wait_for_flags(Rank{0}, 1, control_channel); !s) return s;
    if (Status s = me.turns(many_turns); !s) return s;
    const std::int64_t flags = me.memory.flags(Rank{0}, data_channel);
    if (Status s = expect(flags == 2, "2 flags for 2 granted slots", std::to_string(flags)); !s) return s;
    if (Status s = expect(memory[0] == byte_at(0, 5), "slot 0 before it is granted again", "overwritten"); !s) return s;
    me.memory.grant(Rank{0}, data_channel, *key, 1);
    if (Status s = me.wait_for_flags(Rank{0}, 3); !s) return s;
    return expect(memory[0] == byte_at(2, 5), "slot 0 written by the third put");
  });
}

// Every rank streams to every other through few slots; each slot is emptied at a random time.
Status moves_many_slots_through_few(World& world) {
  constexpr std::int64_t slots = 4, slot_bytes = 96, total = 300;
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    struct Peer {
      Rank rank;
      std::vector<std::byte> ring = std::vector<std::byte>(slots * slot_bytes);
      MemoryKey own;
      std::int64_t emptied = 0, started = 0;
      std::array<std::vector<std::byte>, slots> sources;
      std::array<PutRequest, slots> puts;
      std::array<std::int32_t, slots> open{};
    };
    std::deque<Peer> peers;
    for (std::int32_t r = 0; r < world.ranks(); ++r) {
      if (Rank{r} == rank) continue;
      Peer& peer = peers.emplace_back();
      peer.rank = Rank{r};
      const Result<MemoryKey> key = me.memory.register_memory(peer.ring.data(), slots * slot_bytes);
      if (!key) return key.error();
      peer.own = *key;
      me.memory.grant(peer.rank, data_channel, *key, slots);
    }
    std::mt19937 random(static_cast<unsigned>(rank.value) + 1);
    const auto seed = [](Rank from, Rank to, std::int64_t slot) { return from.value * 1000 + to.value * 100 + slot; };
    for (bool all = false; !all;) {
      all = true;
      bool moved = false;
      for (Peer& peer : peers) {
        const Credits credits = me.memory.credits(peer.rank, data_channel);
        const auto place = static_cast<std::size_t>(peer.started % slots);
        if (credits.key.exists() && peer.started < total && peer.open[place] == 0) {
          peer.sources[place] = pattern(peer.started % slot_bytes, seed(rank, peer.rank, peer.started));
          peer.open[place] = 1;
          peer.puts[place] = {.target = peer.rank,
                              .key = credits.key,
                              .offset = static_cast<std::int64_t>(place) * slot_bytes,
                              .data = peer.sources[place].data(),
                              .bytes = peer.started % slot_bytes,
                              .slot = peer.started,
                              .flag = true,
                              .open = &peer.open[place]};
          me.memory.put(peer.puts[place]);
          ++peer.started;
          moved = true;
        }
        const std::int64_t filled = me.memory.flags(peer.rank, data_channel);
        if (filled > peer.emptied + slots)
          return failed("more than 4 slots are filled", std::to_string(filled - peer.emptied));
        while (peer.emptied < filled && random() % 4 != 0) {
          const std::byte* data = peer.ring.data() + peer.emptied % slots * slot_bytes;
          const std::string where = fmt::format("slot {} from rank {}", peer.emptied, peer.rank.value);
          if (Status s = expect_pattern(data, peer.emptied % slot_bytes, seed(peer.rank, rank, peer.emptied), where);
              !s)
            return s;
          ++peer.emptied;
          me.memory.grant(peer.rank, data_channel, peer.own, 1);
          moved = true;
        }
        moved |= peer.emptied < filled;
        all &= peer.emptied == total && peer.started == total &&
               std::all_of(peer.open.begin(), peer.open.end(), [](std::int32_t open) { return open == 0; });
      }
      if (!moved && !all) {
        if (Status s = me.turn(); !s) return s;
      } else if (Status s = me.turns(1); !s) {
        return s;
      }
    }
    return Nothing{};
  });
}

Status puts_into_its_own_memory(World& world) {
  return world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    std::vector<std::byte> memory(100);
    const Result<MemoryKey> key = me.memory.register_memory(memory.data(), 100);
    if (!key) return key.error();
    me.memory.grant(rank, data_channel, *key, 1);
    const std::vector<std::byte> source = pattern(50, 3);
    std::int32_t open = 1;
    PutRequest put{.target = rank,
                   .key = *key,
                   .offset = 25,
                   .data = source.data(),
                   .bytes = 50,
                   .slot = 0,
                   .flag = true,
                   .open = &open};
    me.memory.put(put);
    if (Status s = me.wait_for_flags(rank, 1); !s) return s;
    if (Status s = me.wait([&] { return open == 0; }); !s) return s;
    return expect_pattern(memory.data() + 25, 50, 3, "a put to itself");
  });
}

// --- refusals

enum class Wrong { unknown_key, key_of_another_rank, beyond_the_end, before_the_start, deregistered };

// Rank 0 puts 16 bytes where it may not: the transport fails on both ranks, and nothing is written.
Status refuses(World& world, Wrong wrong) {
  std::array<std::byte, 64> memory{}; // of rank 1
  const Status outcome = world.run([&](Rank rank, Transport& transport) -> Status {
    Part me(rank, transport);
    if (rank == Rank{1}) {
      const Result<MemoryKey> key = me.memory.register_memory(memory.data() + 16, 32);
      if (!key) return key.error();
      if (wrong == Wrong::deregistered) me.memory.deregister_memory(*key);
      me.memory.grant(Rank{0}, data_channel, *key, 1);
      return me.wait_for_flags(Rank{0}, 1);
    }
    Result<MemoryKey> key = me.key_from(Rank{1});
    if (!key) return key.error();
    const std::vector<std::byte> source = pattern(16, 1);
    std::vector<std::byte> own(64);
    if (wrong == Wrong::unknown_key) key->value += 1'000'000;
    if (wrong == Wrong::key_of_another_rank) key = me.memory.register_memory(own.data(), 64);
    std::int32_t open = 1;
    PutRequest put{.target = Rank{1}, .key = *key, .data = source.data(), .bytes = 16, .flag = true, .open = &open};
    if (wrong == Wrong::beyond_the_end) put.offset = 17;
    if (wrong == Wrong::before_the_start) put.offset = -1;
    me.memory.put(put);
    return me.wait_for_flags(Rank{1}, 1, control_channel); // that never comes
  });
  if (outcome) return failed("a put outside registered memory succeeded");
  if (outcome.error().sentence().find("memory of rank 1") == std::string::npos)
    return failed("the error must name the memory of rank 1", outcome.error().sentence());
  return expect(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0}; }),
                "nothing written by a refused put");
}

} // namespace

std::vector<RemoteMemoryCheck> remote_memory_checks() {
  const auto refusal = [](Wrong wrong) { return [wrong](World& world) { return refuses(world, wrong); }; };
  return {
      {"writes_the_bytes_and_no_others", 2, writes_the_bytes_and_no_others},
      {"shows_the_data_before_the_flag", 2, shows_the_data_before_the_flag},
      {"counts_each_flag_once", 2, counts_each_flag_once},
      {"lets_the_source_change_after_completion", 2, lets_the_source_change_after_completion},
      {"holds_a_put_until_its_slot_is_granted", 2, holds_a_put_until_its_slot_is_granted},
      {"moves_many_slots_through_few", 4, moves_many_slots_through_few},
      {"puts_into_its_own_memory", 1, puts_into_its_own_memory},
      {"refuses_an_unknown_key", 2, refusal(Wrong::unknown_key)},
      {"refuses_the_key_of_another_rank", 2, refusal(Wrong::key_of_another_rank)},
      {"refuses_bytes_beyond_the_end", 2, refusal(Wrong::beyond_the_end)},
      {"refuses_bytes_before_the_start", 2, refusal(Wrong::before_the_start)},
      {"refuses_deregistered_memory", 2, refusal(Wrong::deregistered)},
  };
}

} // namespace kumihimo::transport::testing
