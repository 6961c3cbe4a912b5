// A recorded program: what each rank computed, sent, received and waited for, in its order. Times and sizes are those
// of the recording; who runs it again (graphs.hpp) scales them.
#pragma once

#include "base/collective_kind.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace kumihimo::replay {

// compute stands between calls, enter and leave around each. What happens within a call is complete when it leaves, but
// for what a start_* begins, which is complete when the call leaves that has the end_* of its request.
enum class Kind : std::uint8_t {
  compute,
  enter,
  leave,
  send,
  receive,
  collective,
  start_send,
  start_receive,
  start_collective,
  end_send,
  end_receive,
  end_collective,
};

struct Event {
  std::int64_t amount = 0;        // bytes of this rank's part, as in a profile; of compute: nanoseconds
  std::int64_t request = 0;       // of start_* and end_*
  std::int32_t peer = -1;         // in the world; of a collective its root in the communicator, -1: none
  std::int32_t tag = 0;           // from 0
  std::uint32_t communicator = 0; // of messages and collectives
  std::uint32_t place = 0;        // of enter: the call site; of compute: the region
  std::uint32_t parts = 0;        // of an alltoall: 1 + the number of its list of bytes to each rank; 0: equal ones
  Kind kind = Kind::compute;
  std::uint8_t collective = 0; // an index into all_collectives
  bool operator==(const Event&) const = default;
};

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
  virtual std::vector<Event> events(std::int32_t rank) const = 0;
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

class Recording : public Source {
 public:
  explicit Recording(std::int32_t ranks) : events_(static_cast<std::size_t>(ranks)), communicators_(1), own_(1) {}

  std::int32_t ranks() const override { return static_cast<std::int32_t>(events_.size()); }

  // `members`: in the world, by their ranks in it.
  std::uint32_t add_communicator(std::vector<std::int32_t> members);
  std::uint32_t add_parts(std::vector<std::int64_t> bytes); // for Event::parts
  // In place of earlier events of the rank.
  void set(std::int32_t rank, std::vector<Event> events);
  // For errors: the name of a call site.
  void name_places(std::function<std::string(std::uint32_t)> name) { name_of_place_ = std::move(name); }

  // Completes what the events say only later, and finds the collectives. To be called once all events are there. Errors
  // name the rank and its event: a peer, communicator or root that does not exist; members that are no ranks; requests
  // that end without a beginning; calls that do not end; messages that are not received, or the other way round; ranks
  // that disagree about a collective of their communicator, or some of which lack it.
  Status complete();

  const std::vector<Event>& of(std::int32_t rank) const { return events_[static_cast<std::size_t>(rank)]; }
  std::vector<Event> events(std::int32_t rank) const override { return of(rank); }
  std::int32_t size_of(std::uint32_t communicator) const override {
    return communicator == 0 ? ranks() : static_cast<std::int32_t>(communicators_[communicator].size());
  }
  std::uint32_t communicators() const override { return static_cast<std::uint32_t>(communicators_.size()); }
  std::int32_t member(std::uint32_t communicator, std::int32_t rank) const override {
    return communicator == 0 ? rank : communicators_[communicator][static_cast<std::size_t>(rank)];
  }
  std::int32_t rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const override;
  const std::vector<std::int64_t>& parts(std::uint32_t number) const { return parts_[number - 1]; }

  // After complete():
  const std::vector<CollectiveCall>& calls() const override { return calls_; }
  std::uint32_t call_of(std::uint32_t communicator, std::size_t n) const override {
    return sequences_[communicator][n];
  }
  std::int64_t count_of(std::uint32_t call) const override;
  const std::vector<std::uint32_t>& sequence(std::uint32_t communicator) const { return sequences_[communicator]; }

  // "rank 3, event 17 of MPI_Send at solver.c:12"
  std::string name_of(std::int32_t rank, std::size_t event) const;

 private:
  Status check_communicators() const;
  Status check(std::int32_t rank) const;
  Status resolve_requests(std::int32_t rank);
  Status check_messages() const;
  Status find_collectives();

  std::vector<std::vector<Event>> events_; // by rank
  std::vector<std::vector<std::int32_t>> communicators_;
  std::vector<std::unordered_map<std::int32_t, std::int32_t>> own_; // ranks in them, by those in the world
  std::vector<std::vector<std::int64_t>> parts_;
  std::vector<CollectiveCall> calls_;
  std::vector<std::vector<std::uint32_t>> sequences_; // by communicator: indices into calls_
  std::function<std::string(std::uint32_t)> name_of_place_;
};

constexpr bool is_collective(Kind kind) { return kind == Kind::collective || kind == Kind::start_collective; }
constexpr bool is_send(Kind kind) { return kind == Kind::send || kind == Kind::start_send; }
constexpr bool is_receive(Kind kind) { return kind == Kind::receive || kind == Kind::start_receive; }
constexpr bool is_message(const Event& e) { return (is_send(e.kind) || is_receive(e.kind)) && e.peer >= 0; }
constexpr bool starts(Kind kind) { return kind >= Kind::start_send && kind <= Kind::start_collective; }
constexpr bool ends(Kind kind) { return kind >= Kind::end_send; }

} // namespace kumihimo::replay
