// Walks over a lane's rounds. The order is program order, loops expanded; executors that overlap iterations keep their
// own position instead.
#pragma once

#include "base/int128.hpp"
#include "program/program.hpp"

#include <array>
#include <cassert>

namespace kumihimo {

// fn(round, values) for every round of one segment of the lane, in program order. values.size() is the round's depth.
template <class F>
void for_each_round(const Body& body, LoopValues& values, std::int32_t depth, F&& fn) {
  for (const Node& node : body) {
    if (const Round* round = std::get_if<Round>(&node)) {
      fn(*round, Values(values.data(), static_cast<std::size_t>(depth)));
      continue;
    }
    const Loop& loop = std::get<Loop>(node);
    assert(depth < max_depth);
    for (values[depth] = 0; values[depth] < loop.trip; ++values[depth])
      for_each_round(loop.body, values, depth + 1, fn);
  }
}

template <class F>
void for_each_round(const Lane& lane, std::int64_t segment, F&& fn) {
  LoopValues values{};
  values[0] = segment;
  for_each_round(lane.body, values, 1, fn);
}

// fn(round, trips) for every round as written, loops not expanded; trips[d] is the trip count of the loop at depth d.
template <class F>
void for_each_round_as_written(const Body& body, std::vector<std::int64_t>& trips, F&& fn) {
  for (const Node& node : body) {
    if (const Round* round = std::get_if<Round>(&node)) {
      fn(*round, Values(trips));
      continue;
    }
    const Loop& loop = std::get<Loop>(node);
    trips.push_back(loop.trip);
    for_each_round_as_written(loop.body, trips, fn);
    trips.pop_back();
  }
}

template <class F>
void for_each_round_as_written(const Lane& lane, Segments segments, F&& fn) {
  std::vector<std::int64_t> trips{segments.count};
  for_each_round_as_written(lane.body, trips, fn);
}

inline std::int32_t rounds_as_written(const Body& body) {
  std::int32_t rounds = 0;
  for (const Node& node : body)
    rounds += std::holds_alternative<Round>(node) ? 1 : rounds_as_written(std::get<Loop>(node).body);
  return rounds;
}

// Steps of one segment, loops expanded; at most the largest number there is.
inline std::int64_t expanded_steps(const Body& body) {
  Wide steps = 0;
  for (const Node& node : body) {
    if (const Round* round = std::get_if<Round>(&node))
      steps += static_cast<Wide>(round->steps.size());
    else
      steps += static_cast<Wide>(std::get<Loop>(node).trip) * expanded_steps(std::get<Loop>(node).body);
    steps = saturated(steps);
  }
  return saturated(steps);
}

} // namespace kumihimo
