// A communicator of the program: what its ranks agreed on, its shape, and the plans of its calls. All its ranks make it
// together, at the first blocking call that may run by a plan, or before if Interposer sets it up for non-blocking
// calls. This costs a few collectives of the library, and memory for the transport.
//
// Decisions depend only on arguments that MPI requires to be equal on all ranks (collective, length, type, operation,
// root), and on agreements. They never depend on this rank's buffers alone: one rank may be in place, or have its data
// on a device, when another does not. So all ranks decide alike.
//
// Device buffers: at the first of equal blocking calls the ranks agree whether any has a buffer on a device. Then
// such calls are the library's for good. A device buffer in a later call is packed into host memory by the library.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "interpose/communicator_cache.hpp"
#include "interpose/communicator_choices.hpp"
#include "interpose/nonblocking.hpp"
#include "plan/wisdom.hpp"
#include "schedule/collective.hpp"
#include "topology/place_in_shape.hpp"
#include "topology/rank_space.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kumihimo::interpose {

using plan::Wisdom;
using plan::WisdomChoice;

// What the ranks of a communicator must agree on before any of them runs a call by a plan.
struct Agreed {
  const Wisdom& wisdom;
  CommunicatorCache& cache;                 // outlives the communicator
  std::uint64_t hash;                       // of wisdom, settings and version
  const std::optional<PlaceInShape>& place; // of this process, if its job has a shape; if so, of all
  double timeout_seconds = 0;               // of a run in which nothing moves; 0: none. May differ between ranks
  Reproducible reproducible = Reproducible::off;
  bool completes_requests = true;               // of non-blocking calls; if not on all, the library runs them
  bool has_device_driver = false;               // on this rank; if any has one, the library runs non-blocking calls
  bool everyone_is_here = true;                 // else nothing may be agreed on
  std::int32_t world_rank = 0, world_ranks = 1; // of this process in its job
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
  // The neighbours of all ranks, if an algorithm for neighbour collectives was chosen; null without a topology.
  const std::shared_ptr<const Neighbourhood>& neighbours() const { return neighbours_; }
  // A unique number, the same on all its ranks: communicators are freed in this order at the end.
  std::int64_t number() const { return number_; }
  // Why the library runs all calls of this collective, whatever their lengths; nothing: it may not. Very cheap.
  // `local_counts`: of calls in which each rank knows the lengths of its own blocks only.
  std::optional<Reason> declines(CollectiveKind kind, bool local_counts = false) const {
    if (!agrees_) return why_not();
    if (over_memory_budget_) return Reason::crowded_out;
    const CommunicatorChoices::OfCollective& chosen = (*choices_)[kind];
    if (local_counts ? !chosen.for_local_counts : chosen.none) return Reason::not_chosen;
    if (kind->of_neighbours() && !neighbours_) return Reason::no_plan;
    return std::nullopt;
  }
  // Whether the library runs calls of this length, in blocks of one length.
  bool leaves(CollectiveKind kind, std::int64_t bytes) const {
    const plan::WisdomChoice* const chosen = (*choices_)[kind].any.at(bytes).get();
    return reproducible_ == Reproducible::off && !(chosen && chosen->variant);
  }
  bool takes_any() const {
    return std::any_of(all_collectives.begin(), all_collectives.end(),
                       [this](CollectiveKind kind) { return !declines(kind) || !declines(kind, true); });
  }
  // A sentence for the user; mostly empty.
  const std::string& note() const;

  // The plan of a call, its reduction and all; or why it is the library's. Collective at the first call of its kind.
  // `on_device`: whether data of this rank are.
  struct Ready {
    plan::Plan* plan;
    std::size_t variant;              // its place in the registry, of its collective
    std::shared_ptr<plan::Plan> kept; // `plan`, where it is for few calls: to be held until the call has ended
  };
  using Answer = std::variant<Ready, Reason, Error>; // an error: this rank's alone, after which there is no way back
  Answer plan(const Collective& collective, bool on_device = false);
  // The same for a call that must not wait for other ranks: collective in no case.
  Answer plan_alone(const Collective& collective);
  // Of a call with own counts, a plan that nothing is under way with, to be bound to the call's blocks; it is the
  // caller's until the last copy of the pointer is gone. Collective at the first blocking call of this kind and root,
  // which all ranks make alike, whatever their lengths; else of this rank alone.
  struct BorrowedPlan {
    std::shared_ptr<plan::Plan> plan;
    std::size_t variant;
  };
  std::variant<BorrowedPlan, Reason, Error> borrow_plan(const Collective& collective, CallForm form, bool on_device);
  // Makes the transport that non-blocking calls need, in a call that may wait. Collective.
  void connect();

  // Frees all but the transport, for a communicator that ended while its ranks were not together.
  void discard_without_communication();
  // Keeps transport and plans for the next communicator of these ranks. Nothing may be under way.
  void keep_resources_for_reuse();

  transport::Transport* transport() { return resources_->transport.get(); }
  PendingQueue& queue() { return queue_; } // of what goes over the transport

 private:
  using Both = std::array<std::unique_ptr<plan::Plan>, 2>; // in place or not
  const WisdomChoice* choice(const Collective& collective) const;
  const WisdomChoice* choice_alone(const Collective& collective) const; // of a non-blocking call
  Result<Schedule> schedule_of(const Collective& collective, const WisdomChoice& choice) const;
  std::optional<Reason> declines_nonblocking(bool must) const; // why no such call is ours
  std::optional<Reason> obstacle(const plan::CallKey& key);
  std::optional<Reason> decide(const plan::CallKey& key, const std::optional<Error>& error, bool on_device);
  std::variant<PlanPool*, Reason, Error> pool_for(const Collective& collective, const plan::CallKey& key, CallForm form,
                                                  bool on_device);
  Answer make_plan(const Collective& collective, const plan::CallKey& key, const WisdomChoice& choice, bool on_device);
  Answer make_plan_alone(const Collective& collective, const plan::CallKey& key, const WisdomChoice& choice);
  Answer recent_plan(const Collective& collective, const plan::CallKey& key, const WisdomChoice& choice);
  Result<std::unique_ptr<plan::Plan>> make_one(const Collective& collective, const WisdomChoice& choice, bool asks);
  Both make_both(Collective collective, const WisdomChoice& choice, bool asks, std::optional<Error>& error);
  // Keeps for the user why a chosen algorithm does not fit a call, if nothing else is to be said.
  void note_misfit(const Collective& collective, const WisdomChoice& choice, const Error& error);
  void keep(Collective collective, const WisdomChoice& choice, Both made);
  Reason why_not() const { return ranks() == 1 ? Reason::empty : lost_ ? Reason::lost : Reason::disagreement; }
  std::int32_t least(std::int32_t mine) const; // of all ranks'; 0 on failure
  bool agree(const Agreed& agreed);
  plan::RankCounts recognise(const Agreed& agreed);
  void reuse_resources();
  bool open_transport();

  const mpi::Library& library_;
  mpi::Handle handle_;
  const bool is_first_of_job_; // rank 0 of the job
  std::int32_t rank_ = 0;
  std::int64_t number_ = 0;
  RankSpace space_;
  std::shared_ptr<const Neighbourhood> neighbours_;
  bool agrees_ = false, lost_ = false, completes_requests_ = false, has_device_driver_ = false;
  bool transport_failed_ = false, over_memory_budget_ = false;
  bool decides_no_more_ = false; // since some rank had no memory to keep what was decided
  PendingQueue queue_;
  std::string note_, misfit_; // the latter is said where the former is empty
  Reproducible reproducible_ = Reproducible::off;
  std::shared_ptr<const CommunicatorChoices> choices_; // where the ranks agree
  double timeout_seconds_ = 0;
  std::int32_t node_ranks_ = 1; // of a node, at most
  std::uint64_t of_ranks_ = 0;  // as of CommunicatorResources
  CommunicatorCache& cache_;
  std::unique_ptr<CommunicatorResources> resources_ = std::make_unique<CommunicatorResources>();
};

} // namespace kumihimo::interpose
