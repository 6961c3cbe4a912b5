// The checkpoints of one run of an application: when its state is saved to files or copied to a partner, how it comes
// back, and what that costs. An application says at the top of its iterations what its state is:
//
//   options.at_iteration = runtime.checkpoints().hook();                                    // of a solver; or
//   TRY(runtime.checkpoints().at_iteration(done, [&](StateList& list) { list.number("done", done).grid("p", p); }));
#pragma once

#include "application/checkpoint_options.hpp"
#include "application/partner_copies.hpp"
#include "application/saved_run.hpp"
#include "base/state_list.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kumihimo::application {

class Checkpoints {
 public:
  static std::unique_ptr<Checkpoints> none(Processes& processes);
  // Finds the state to go on from, and opens the folder to save in. Collective. All outlive it; `under_way` is null
  // for one rank. `kept`: of a run that may lose ranks; null: none. Errors: those of SavedRun::find(),
  // StateWriter::open() and PartnerCopies::make().
  static Result<std::unique_ptr<Checkpoints>> make(CheckpointOptions asked, RunIdentity identity, Processes& processes,
                                                   UnderWay* under_way, KeptCopies* kept = nullptr);

  bool is_asked() const { return asked_.any(); }
  // Null where nothing is asked.
  AtIteration hook();
  // At the top of an iteration: see AtIteration. Its first call goes on from the state that was found.
  Result<bool> at_iteration(std::int64_t iteration, const FillState& fill);
  // How many iterations may be made before at_iteration() must be called again. At least 1.
  std::int64_t steps_to_next(std::int64_t iteration) const;
  // How many iterations this launch has made if the run has come to this one: without those before the restart, and
  // with those that a loss made it repeat.
  std::int64_t made(std::int64_t iteration) const {
    return static_cast<std::int64_t>(made(iteration, [](std::int64_t each) { return static_cast<double>(each); }));
  }
  // The same in other units, where iterations differ: `before(i)` is the work of all iterations before i.
  template <class Work>
  double made(std::int64_t iteration, Work before) const {
    double work = before(iteration) - before(began_at_);
    for (const auto& [from, to] : repeated_) work += before(to) - before(from);
    return work;
  }

  // {"every", "folder", "saved": states, "bytes": of all ranks and states, "seconds": of the slowest rank,
  // "restarted_from": iteration or null, "load_seconds", "went_on_at": seconds of the system's clock when a state was
  // back, or null, "partner": null or {"every", "copies", "bytes", "seconds", "on_other_nodes", "never_lost": whether
  // the run ended before a simulated loss, "restored", "restore_seconds", "repeated_iterations", "deaths": of ranks,
  // and where some have died "went_on_from": iteration or null, "recovery_seconds": from when it was noticed}}.
  // Collective.
  nlohmann::json json() const;

 private:
  Checkpoints(CheckpointOptions asked, RunIdentity identity, Processes& processes)
      : asked_(std::move(asked)), identity_(std::move(identity)), processes_(processes) {}
  bool is_due(std::int64_t iteration); // a save; collective
  Status save(std::int64_t iteration, const StateList& list);
  Status copy(std::int64_t iteration, const StateList& list);
  Status lose_and_restore(std::int64_t iteration, const StateList& list);
  Result<bool> recover(const StateList& list); // after deaths; whether there was a copy to go on from
  void begin_at(std::int64_t iteration);

  CheckpointOptions asked_;
  RunIdentity identity_;
  Processes& processes_;
  std::unique_ptr<SavedRun> found_; // null: from the beginning
  std::unique_ptr<StateWriter> writer_;
  std::unique_ptr<PartnerCopies> partner_;
  bool has_begun_ = false, has_lost_ = false;
  std::optional<std::int64_t> restarted_from_, recovered_from_;
  std::int64_t began_at_ = 0;
  std::int64_t last_saved_ = 0, last_copied_ = 0;  // iterations
  std::int64_t next_look_ = 1, last_saved_ns_ = 0; // of checkpoints by time
  std::int64_t saved_ = 0, copied_ = 0, restored_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> repeated_; // iterations, from the first to before the second
  double saved_bytes_ = 0, copied_bytes_ = 0;                   // of this rank
  double save_seconds_ = 0, load_seconds_ = 0, copy_seconds_ = 0, restore_seconds_ = 0;
  double recovery_seconds_ = 0, went_on_at_ = 0;
};

// Of a run of a fixed number of iterations that would go on from a state at or behind its end.
Error nothing_left(std::int64_t saved, std::int64_t end);

} // namespace kumihimo::application
