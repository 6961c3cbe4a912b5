// The golden copy of faults: which operations end, by the graphs alone. What ranks that die have done before is taken
// from a run without faults, which is the same until the first death; the rest follows from who waits for whom.
#pragma once

#include "goal/deaths.hpp"
#include "goal/graph.hpp"

#include <fmt/format.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::goal {

using Done = std::vector<std::vector<bool>>; // by rank and operation

// Of graphs without receives from any rank, where each message has a tag of its own; all deaths are at one time.
struct FixedPoint {
  const Graphs& graphs;
  std::vector<bool> dies;                                        // by rank
  std::function<bool(std::int32_t, std::uint32_t)> ended_before; // the death, without faults
  std::function<bool(std::int32_t, std::uint32_t)> left_before;  // of a send: its last byte
  std::uint64_t eager = most_message_bytes;                      // longer messages wait for their receive
  // Of a receive: posted before the death. Given: all sends start once their receive is posted.
  std::function<bool(std::int32_t, std::uint32_t)> posted_before = {};

  Done solve() const {
    Done ended, started;
    for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
      ended.emplace_back(graphs.of(rank).operations.size());
      started.emplace_back(graphs.of(rank).operations.size());
      for (std::uint32_t i = 0; i < ended.back().size(); ++i)
        if (dead(rank)) ended[at(rank)][i] = ended_before(rank, i);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
        if (dead(rank)) continue;
        for (std::uint32_t i = 0; i < ended[at(rank)].size(); ++i) {
          const bool starts = may_start(rank, i, ended, started);
          const bool ends = starts && may_end(rank, i, started);
          changed |= starts != started[at(rank)][i] || ends != ended[at(rank)][i];
          started[at(rank)][i] = starts, ended[at(rank)][i] = ends;
        }
      }
    }
    return ended;
  }

 private:
  static std::size_t at(std::int32_t rank) { return static_cast<std::size_t>(rank); }
  bool dead(std::int32_t rank) const { return dies[at(rank)]; }

  bool may_start(std::int32_t rank, std::uint32_t i, const Done& ended, const Done& started) const {
    const Graph& graph = graphs.of(rank);
    for (std::uint32_t before = 0; before < graph.operations.size(); ++before) {
      const GraphOperation& of = graph.operations[before];
      for (std::uint32_t d = 0; d < of.after_end + of.after_start; ++d) {
        const bool for_end = d < of.after_end;
        if (graph.dependents[of.first + d] == i && !(for_end ? ended : started)[at(rank)][before]) return false;
      }
    }
    return true;
  }
  bool may_end(std::int32_t rank, std::uint32_t i, const Done& started) const {
    const GraphOperation& of = graphs.of(rank).operations[i];
    const bool waits = of.kind == Kind::receive || (of.kind == Kind::send && (of.size > eager || posted_before));
    if (!waits) return true;
    const std::int32_t peer = graphs.peer(rank, of.peer);
    const std::uint32_t other = partner(rank, i);
    if (!dead(peer)) return started[at(peer)][other];
    if (ended_before(rank, i)) return true;
    if (of.kind == Kind::send) return posted_before && posted_before(peer, other); // else no receive took it before
    return left_before(peer, other) && (of.size <= eager || ended_before(peer, other));
  }
  std::uint32_t partner(std::int32_t rank, std::uint32_t i) const {
    const GraphOperation& of = graphs.of(rank).operations[i];
    const std::int32_t peer = graphs.peer(rank, of.peer);
    const auto& others = graphs.of(peer).operations;
    std::uint32_t other = 0;
    while (!(others[other].kind != of.kind && others[other].kind != Kind::calc && others[other].kind != Kind::join &&
             others[other].tag == of.tag && graphs.peer(peer, others[other].peer) == rank))
      ++other;
    return other;
  }
};

inline Done done(const Graphs& graphs, const Ends& ends) {
  Done made;
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    made.emplace_back(graphs.of(rank).operations.size());
    for (std::uint32_t i = 0; i < made.back().size(); ++i) made.back()[i] = ends.of(rank, i) != never;
  }
  return made;
}

// Random messages in an order that no rank's dependencies contradict, each with a tag of its own.
// `irequires`: operations that wait for the start of others.
inline std::string random_program(std::uint64_t seed, bool irequires = true) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::uint64_t ranks = 2 + below(7), messages = 1 + below(60);
  std::vector<std::string> text(ranks);
  std::vector<std::uint64_t> operations(ranks);
  for (std::uint64_t message = 0; message < messages; ++message) {
    const std::uint64_t from = below(ranks), to = below(ranks), bytes = below(4) == 0 ? 50000 : below(3000);
    const auto add = [&](std::uint64_t rank, const std::string& operation) {
      const std::uint64_t number = operations[rank]++;
      text[rank] += fmt::format("l{}: {} cpu {} nic {}\n", number, operation, below(2), below(2));
      for (std::uint64_t edge = 0; number > 0 && edge < below(3); ++edge)
        text[rank] +=
            fmt::format("l{} {} l{}\n", number, below(4) || !irequires ? "requires" : "irequires", below(number));
    };
    if (from == to) {
      add(from, fmt::format("calc {}", below(20000)));
      continue;
    }
    add(from, fmt::format("send {}b to {} tag {}", bytes, to, message));
    add(to, fmt::format("recv {}b from {} tag {}", bytes, from, message));
  }
  std::string all = fmt::format("num_ranks {}\n", ranks);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) all += fmt::format("rank {} {{\n{}}}\n", rank, text[rank]);
  return all;
}

} // namespace kumihimo::goal
