// One communicator of the program, as we see it: what its ranks agreed on, its shape, and the plans of the calls that
// were taken over on it. All its ranks make it together: at the first blocking call that may be taken over, or before
// where Session sets it up for non-blocking calls. To make one costs a few collectives of the library, and memory for
// the transport.
//
// What is decided depends only on what MPI wants equal on all ranks of a call (the collective, the length, the type and
// operation, the root), and on what was agreed. It never depends on this rank's buffers alone: one rank may be in
// place, or have its data on a device, where another has not. So nobody ever goes another way than the others.
//
// Device buffers: at the first blocking call of a question the ranks agree whether any has a buffer on a device. Then
// such calls are the library's for good. A device buffer in a later call is packed into host memory by the library.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "interpose/communicator_cache.hpp"
#include "interpose/communicator_choices.hpp"
#include "interpose/nonblocking.hpp"
#include "plan/wisdom.hpp"
#include "schedule/collective.hpp"
#include "topology/rank_space.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kumihimo::interpose {

using plan::Choice;
using plan::Wisdom;

// What the ranks of a communicator must agree on before any of them takes a call over.
struct Agreed {
  const Wisdom& wisdom;
  std::uint64_t hash;             // of wisdom, settings and version
  const Shape* machine = nullptr; // of the nodes, where the user gives it
  double timeout_seconds = 0;     // of a run in which nothing moves; 0: none. A rank's own affair
  Reproducible reproducible = Reproducible::off;
  bool completion_is_hooked = true;             // on this rank; where it is not on all, no non-blocking call is ours
  bool has_device_driver = false;               // on this rank; where any has, non-blocking calls are the library's
  bool everyone_is_here = true;                 // else nothing may be agreed on, nor taken over
  std::int32_t world_rank = 0, world_ranks = 1; // where this process stands in its job
  CommunicatorCache* kept = nullptr;            // what others have left; outlives the communicator
};

class Communicator {
 public:
  // Collective, over an intracommunicator.
  Communicator(const mpi::Library& library, mpi::Handle handle, const Agreed& agreed);
  ~Communicator(); // collective where its transport has a communicator of ours, unless MPI is finalized
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return space_.ranks(); }
  const RankSpace& space() const { return space_; }
  bool agrees() const { return agrees_; }
  // Of all ranks, where a choice is for them; null without a topology.
  const std::shared_ptr<const Neighbourhood>& neighbours() const { return neighbours_; }
  // The same number on all its ranks, and no other communicator's: the order in which all are freed at the end.
  std::int64_t number() const { return number_; }
  // Why no call of this collective is ours, whatever its length; asked first, as it costs next to nothing.
  // `local_counts`: of calls whose lengths each rank knows of its own blocks alone.
  std::optional<Reason> declines(CollectiveKind kind, bool local_counts = false) const {
    if (!agrees_) return why_not();
    if (over_memory_budget_) return Reason::crowded_out;
    const CommunicatorChoices::OfCollective& chosen = (*choices_)[kind];
    if (local_counts ? !chosen.for_local_counts : chosen.none()) return Reason::not_chosen;
    if (kind->of_neighbours() && !neighbours_) return Reason::no_plan;
    return std::nullopt;
  }
  bool takes_any() const {
    return std::any_of(all_collectives.begin(), all_collectives.end(),
                       [this](CollectiveKind kind) { return !declines(kind) || !declines(kind, true); });
  }
  // What the user should be told once; mostly empty.
  const std::string& note() const;

  // The plan of a call, its reduction and all; or why it is the library's. Collective at the first call of its kind.
  // `on_device`: whether data of this rank are.
  struct Ready {
    plan::Plan* plan;
    std::size_t variant;              // its place in the registry, of its collective
    std::shared_ptr<plan::Plan> kept; // `plan`, where it is for few calls: to be held until the call has ended
  };
  using Answer = std::variant<Ready, Reason, Error>; // an error: this rank's alone, after which there is no way back
  Answer plan(const Collective& question, bool on_device = false);
  // The same for a call that must not wait for other ranks: collective in no case.
  Answer plan_alone(const Collective& question);
  // Of a question of own counts, a plan that nothing is under way with, to be bound to the call's blocks; it is the
  // caller's until the last copy of the pointer is gone. Collective at the first blocking call of this kind and root,
  // which all ranks make alike, whatever their lengths; else of this rank alone.
  struct BorrowedPlan {
    std::shared_ptr<plan::Plan> plan;
    std::size_t variant;
  };
  std::variant<BorrowedPlan, Reason, Error> borrow_plan(const Collective& question, Form form, bool on_device);
  // What calls that must not wait have missed, made in a call that may wait. Collective.
  void connect();

  // The program's has ended where its ranks were not together, so that the transport must stay: all else need not.
  void discard_without_communication();
  // The program frees it, and nothing is under way: what was made for it serves the next one of its ranks.
  void keep_resources_for_reuse();

  transport::Transport* transport() { return resources_->transport.get(); }
  Queue& queue() { return queue_; } // of what goes over the transport

 private:
  using Both = std::array<std::unique_ptr<plan::Plan>, 2>; // in place or not
  const Choice* choice(const Collective& question) const;
  Result<Schedule> schedule_of(const Collective& question, const Choice& choice) const;
  std::optional<Reason> declines_nonblocking(bool must) const; // why no such call is ours
  std::optional<Reason> obstacle(const plan::CallKey& key);
  std::optional<Reason> decide(const plan::CallKey& key, const std::optional<Error>& error, bool on_device);
  std::variant<PlanPool*, Reason, Error> pool_for(const Collective& question, const plan::CallKey& key, Form form,
                                                  bool on_device);
  Answer make_plan(const Collective& question, const plan::CallKey& key, const Choice& choice, bool on_device);
  Answer make_plan_alone(const Collective& question, const plan::CallKey& key, const Choice& choice);
  Answer recent_plan(const Collective& question, const plan::CallKey& key, const Choice& choice);
  Result<std::unique_ptr<plan::Plan>> make_one(const Collective& question, const Choice& choice, bool asks);
  Both make_both(Collective question, const Choice& choice, bool asks, std::optional<Error>& error);
  void keep(Collective question, Both made);
  Reason why_not() const { return ranks() == 1 ? Reason::empty : lost_ ? Reason::lost : Reason::disagreement; }
  std::int32_t least(std::int32_t mine) const; // of all ranks'; 0 on failure
  bool agree(const Agreed& agreed);
  plan::RankCounts recognise(const Agreed& agreed);
  void reuse_resources();
  bool open_transport();

  const mpi::Library& library_;
  mpi::Handle handle_;
  std::int32_t rank_ = 0;
  std::int64_t number_ = 0;
  RankSpace space_;
  std::shared_ptr<const Neighbourhood> neighbours_;
  bool agrees_ = false, lost_ = false, completion_is_hooked_ = false, has_device_driver_ = false;
  bool transport_failed_ = false, over_memory_budget_ = false;
  bool decides_no_more_ = false; // since some rank had no memory to keep what was decided
  Queue queue_;
  std::string note_;
  Reproducible reproducible_ = Reproducible::off;
  std::shared_ptr<const CommunicatorChoices> choices_; // where the ranks agree
  double timeout_seconds_ = 0;
  std::int32_t node_ranks_ = 1; // of a node, at most
  std::uint64_t of_ranks_ = 0;  // as of CommunicatorResources
  CommunicatorCache* kept_ = nullptr;
  std::unique_ptr<CommunicatorResources> resources_ = std::make_unique<CommunicatorResources>();
};

} // namespace kumihimo::interpose
