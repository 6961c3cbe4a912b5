// What is made for the calls of a communicator: the transport and the plans. To make them costs a millisecond, and they
// serve any communicator of the same ranks in the same order. So what one leaves behind that the program frees, the
// next one of its ranks takes: programs duplicate and split communicators for a single call, thousands of times.
#pragma once

#include "execute/mpi/mpi_transport.hpp"
#include "interpose/room.hpp"
#include "plan/plan_cache.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kumihimo::interpose {

// A hash of what is asked of all ranks alike.
struct AskedOfAll {
  std::size_t operator()(const plan::CallKey& key) const;
};

// The plans of a question of own counts, in place and not: more than one of each while several are under way.
struct Lent {
  std::array<std::vector<std::shared_ptr<plan::Plan>>, 2> plans;
  bool agreed = false; // that every rank has some; not yet where a non-blocking call has made them
};

struct Works {
  Works() = default;
  ~Works();
  Works(const Works&) = delete;
  Works& operator=(const Works&) = delete;

  std::uint64_t of_ranks = 0; // tells them from those of other ranks; 0: of processes that are not all of one job
  std::int64_t number = 0;    // of the communicator that they were made for: alike on its ranks, and no other's
  bool recur = false;         // its ranks have had more than one
  Room::Part room;            // of the transport
  std::unique_ptr<mpi::MpiTransport> transport;
  plan::PlanCache plans; // after the transport, which they use
  std::unordered_map<plan::CallKey, Lent, AskedOfAll> lent;
  std::unordered_set<plan::CallKey, AskedOfAll> refused;
  std::int32_t irregular = 0; // plans that were made, or refused, for calls with counts of their own
};

// Of communicators that are no more. On any thread.
class Kept {
 public:
  static constexpr std::size_t most = 4;

  // Those of these ranks, where their rings are no smaller than new ones' would be; the caller's then.
  std::unique_ptr<Works> take(std::uint64_t of_ranks, std::int32_t node_ranks, bool must);
  // Where another communicator can take them: without failure, and without a communicator of ours in the library. Of
  // too many the oldest are given up.
  void keep(std::unique_ptr<Works> works);
  // As Room::take(), for which what is kept gives way: all of it where there is no room, and where there are only small
  // rings what has served one communicator alone, which may have been the only one of its kind.
  std::optional<Room::Part> room_for(std::int32_t node_ranks, bool must);
  void clear();

 private:
  bool give_up_one(bool any);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Works>> works_; // the oldest first
  std::deque<std::uint64_t> given_up_;        // lately, of which ranks: where they come back, they recur
};

} // namespace kumihimo::interpose
