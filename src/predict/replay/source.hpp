// What a program to replay consists of: the events of each rank, and the collectives that they ask for together.
#pragma once

#include "base/collective_kind.hpp"
#include "base/result.hpp"
#include "trace/event.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::replay {

// Of the kinds of events a recording has those of calls, and compute between calls. Numbers of call sites, regions,
// communicators and lists of parts are the same on all ranks. Times are those of the recording, or 0.
using trace::Event;
using trace::is_collective;
using trace::is_receive;
using trace::is_send;
using trace::Kind;

// A collective as a communicator performs it.
struct CollectiveCall {
  std::uint32_t communicator = 0;
  std::uint8_t collective = 0;
  std::int32_t root = 0;
  std::int64_t bytes = 0;          // the vector, or a block
  std::vector<std::int64_t> table; // bytes of each block, as Counts has them; empty: all have `bytes`
  auto operator<=>(const CollectiveCall&) const = default;
};

// What is made graphs of: a recording, or its extrapolation. Communicator 0 is the world.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int32_t ranks() const = 0;
  // In place of what `events` has.
  virtual Status read(std::int32_t rank, std::vector<Event>& events) const = 0;
  virtual std::uint32_t communicators() const = 0;
  virtual std::int32_t size_of(std::uint32_t communicator) const = 0;
  // The rank in the world of a member, and the rank in it of one of the world; -1: it is no member.
  virtual std::int32_t member(std::uint32_t communicator, std::int32_t rank) const = 0;
  virtual std::int32_t rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const = 0;
  // The different collectives, and which one is the n-th of a communicator.
  virtual const std::vector<CollectiveCall>& calls() const = 0;
  virtual std::uint32_t call_of(std::uint32_t communicator, std::size_t n) const = 0;
  virtual std::int64_t count_of(std::uint32_t call) const = 0; // how often it is performed
};

// Reads the events of a rank each time they are needed, so that those of one rank at a time are in memory.
class RankReader {
 public:
  virtual ~RankReader() = default;
  // First all ranks are read in their order, later any.
  virtual Status read(std::int32_t rank, std::vector<Event>& events) = 0;
  // What the events so far refer to: the members of communicators from number 1 on, and lists of parts.
  virtual const std::vector<std::vector<std::int32_t>>& communicators() const = 0;
  virtual const std::vector<std::vector<std::int64_t>>& parts() const = 0;
};

inline bool is_message(const Event& e) { return (is_send(e.kind) || is_receive(e.kind)) && e.message().peer >= 0; }

} // namespace kumihimo::replay
