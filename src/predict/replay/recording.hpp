// A recorded program: what each rank computed, sent, received and waited for, in its order. Times and sizes are those
// of the recording; who runs it again (graphs.hpp) scales them.
#pragma once

#include "replay/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::replay {

class Recording : public Source {
 public:
  explicit Recording(std::int32_t ranks, std::unique_ptr<RankReader> reader = nullptr)
      : ranks_(ranks), reader_(std::move(reader)), events_(reader_ ? 0 : static_cast<std::size_t>(ranks)),
        communicators_(1) {}

  std::int32_t ranks() const override { return ranks_; }

  // Without a reader: `members` in the world, by their ranks in it; lists of parts; the events of a rank, in place of
  // earlier ones.
  std::uint32_t add_communicator(std::vector<std::int32_t> members);
  std::uint32_t add_parts(std::vector<std::int64_t> bytes); // for Collective::parts
  void set(std::int32_t rank, std::vector<Event> events);
  // For errors: the name of a call site.
  void name_places(std::function<std::string(std::uint32_t)> name) { name_of_place_ = std::move(name); }

  // Completes what the events say only later, and finds the collectives. To be called once all events are there. Errors
  // name the rank and its event: a peer, communicator or root that does not exist; members that are no ranks; requests
  // that end without a beginning; calls that do not end; messages that are not received, or the other way round; ranks
  // that disagree about a collective of their communicator, or some of which lack it.
  Status complete();

  std::unique_ptr<EventStream> stream(std::int32_t rank, const AtOnce& at_once = {}) const override;
  std::int32_t size_of(std::uint32_t communicator) const override {
    return communicator == 0 ? ranks() : static_cast<std::int32_t>(communicators_[communicator].members.size());
  }
  std::uint32_t communicators() const override { return static_cast<std::uint32_t>(communicators_.size()); }
  std::int32_t member(std::uint32_t communicator, std::int32_t rank) const override {
    return communicator == 0 ? rank : communicators_[communicator].members[static_cast<std::size_t>(rank)];
  }
  std::int32_t rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const override;
  const std::vector<std::int64_t>& parts(std::uint32_t number) const { return parts_[number - 1]; }

  // After complete():
  const std::vector<RecordedCollective>& calls() const override { return calls_; }
  std::uint32_t call_of(std::uint32_t communicator, std::size_t n) const override {
    return sequences_[communicator][n];
  }
  std::int64_t count_of(std::uint32_t call) const override;
  const std::vector<std::uint32_t>& sequence(std::uint32_t communicator) const { return sequences_[communicator]; }

  // "rank 3, event 17 of MPI_Send at solver.c:12", of one of these, before which so many came.
  std::string name_of(std::int32_t rank, std::span<const Event> events, std::size_t event, std::size_t before) const;

 private:
  struct Communicator {
    std::vector<std::int32_t> members;
    bool in_order = false;                              // all ranks in their order
    std::unordered_map<std::int32_t, std::int32_t> own; // otherwise: ranks in it, by those in the world
  };
  std::unique_ptr<EventStream> resolved(std::int32_t rank, std::unique_ptr<EventStream> events) const;
  Status resolve(std::int32_t rank);
  Status take_from_reader();
  Status check_communicators(std::uint32_t first, std::uint32_t first_list) const;
  Status check(std::int32_t rank, std::span<const Event> events, std::size_t before) const;
  Error unmatched() const;

  std::int32_t ranks_;
  std::unique_ptr<RankReader> reader_;
  std::vector<std::vector<Event>> events_; // by rank, without a reader
  std::vector<Communicator> communicators_;
  std::vector<std::vector<std::int64_t>> parts_;
  std::vector<RecordedCollective> calls_;
  std::vector<std::vector<std::uint32_t>> sequences_; // by communicator: indices into calls_
  std::function<std::string(std::uint32_t)> name_of_place_;
};

} // namespace kumihimo::replay
