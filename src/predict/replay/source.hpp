// What a program to replay consists of: the events of each rank, and the collectives that they ask for together.
#pragma once

#include "base/collective_kind.hpp"
#include "base/result.hpp"
#include "trace/event.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kumihimo::replay {

// Of the kinds of events a recording has those of calls, and compute between calls. Numbers of call sites, regions,
// communicators and lists of parts are the same on all ranks. Times are those of the recording, or 0.
using trace::Event;
using trace::EventKind;
using trace::is_collective;
using trace::is_receive;
using trace::is_send;

// A collective as a communicator performs it.
struct RecordedCollective {
  std::uint32_t communicator = 0;
  std::uint8_t collective = 0;
  std::int32_t root = 0;
  std::int64_t bytes = 0;          // the vector, or a block
  std::vector<std::int64_t> table; // bytes of each block, as Counts has them; empty: all have `bytes`
  auto operator<=>(const RecordedCollective&) const = default;
};

// The events of a rank, some after others, so that few are in memory at once.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // The next ones: whole calls, and computing between them. They are there until the next call. Empty: all were there.
  virtual Result<std::span<const Event>> next() = 0;
};

// fn(events, how many came before them); it returns a Status.
template <class Fn>
Status for_each_part(std::unique_ptr<EventStream> stream, Fn&& fn) {
  for (std::size_t before = 0;;) {
    const auto events = TRY(stream->next());
    if (events.empty()) return Nothing{};
    if (Status s = fn(events, before); !s) return s;
    before += events.size();
  }
}

// How many events of a rank to read at once, about: more where a receive or a collective has not ended by then. And how
// often before its file is closed, and what was read of it may leave the memory.
struct AtOnce {
  std::size_t events = 2048, times = 64;
};
// Where all ranks are read together.
constexpr AtOnce together(std::int32_t ranks) {
  constexpr std::size_t of_all = std::size_t{1} << 21;
  return {std::clamp<std::size_t>(of_all / static_cast<std::size_t>(std::max(1, ranks)), 64, AtOnce{}.events), 1};
}

// What is made graphs of: a recording, or its extrapolation. Communicator 0 is the world.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int32_t ranks() const = 0;
  virtual std::unique_ptr<EventStream> stream(std::int32_t rank, const AtOnce& at_once = {}) const = 0;
  virtual std::uint32_t communicators() const = 0;
  virtual std::int32_t size_of(std::uint32_t communicator) const = 0;
  // The rank in the world of a member, and the rank in it of one of the world; -1: it is no member.
  virtual std::int32_t member(std::uint32_t communicator, std::int32_t rank) const = 0;
  virtual std::int32_t rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const = 0;
  // The different collectives, and which one is the n-th of a communicator.
  virtual const std::vector<RecordedCollective>& calls() const = 0;
  virtual std::uint32_t call_of(std::uint32_t communicator, std::size_t n) const = 0;
  virtual std::int64_t count_of(std::uint32_t call) const = 0; // how often it is performed
};

// Reads the events of ranks each time they are needed.
class RankReader {
 public:
  virtual ~RankReader() = default;
  // First all ranks are read in their order, later any.
  virtual std::unique_ptr<EventStream> stream(std::int32_t rank, const AtOnce& at_once) = 0;
  // What the events so far refer to: the members of communicators from number 1 on, and lists of parts.
  virtual const std::vector<std::vector<std::int32_t>>& communicators() const = 0;
  virtual const std::vector<std::vector<std::int64_t>>& parts() const = 0;
};

inline bool is_message(const Event& e) { return (is_send(e.kind) || is_receive(e.kind)) && e.message().peer >= 0; }

} // namespace kumihimo::replay
