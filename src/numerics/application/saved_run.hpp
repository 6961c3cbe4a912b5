// The states of a run in a folder, a file of each rank (saved_state/state_store.hpp): which run they are of, the newest
// that all ranks have whole, and their parts.
#pragma once

#include "application/application.hpp"
#include "application/processes.hpp"
#include "application/rank_grid.hpp"
#include "base/json_member.hpp"
#include "base/state_list.hpp"
#include "saved_state/state_store.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::application {

// Which run a state is of.
struct RunIdentity {
  std::string application;
  RestartOn restart_on = RestartOn::nothing;
  // By the words of the command line: {"version": ..., "--size": ...}. `of_ranks` must be the same where bits depend on
  // ranks, `of_variant` where they depend on the variant, `of_problem` always.
  JsonMember of_problem, of_variant, of_ranks;
};

// Writes the states of all ranks.
class StateWriter {
 public:
  // Collective. Errors: no folder, no permission; the folder holds a state of this application, and the run does not go
  // on from it (`restarts`).
  static Result<std::unique_ptr<StateWriter>> open(const std::string& folder, const RunIdentity& identity,
                                                   bool restarts, Processes& processes);
  // What was saved after this iteration, by ranks that were killed before all had saved, is written over.
  void go_on_from(std::int64_t iteration) { store_.go_on_from(iteration); }
  // Collective: returns when all ranks have saved. The bytes of this rank. Errors: those of StateStore::save() on any
  // rank.
  Result<std::int64_t> save(std::int64_t iteration, const StateList& list);

 private:
  StateWriter(saved_state::StateStore store, const RunIdentity& identity, Processes& processes)
      : store_(std::move(store)), identity_(identity), processes_(processes) {}
  saved_state::StateStore store_;
  const RunIdentity& identity_;
  Processes& processes_;
  double launch_ = 0; // tells launches apart: all files of a state are of one
};

// Reads them.
class SavedRun {
 public:
  // The newest state that all of its ranks have whole. Collective. Errors: there is none; it is of another application,
  // version, problem or, where that matters, of other ranks or another variant.
  static Result<std::unique_ptr<SavedRun>> find(const std::string& folder, const RunIdentity& identity,
                                                Processes& processes);
  std::int64_t iteration() const { return iteration_; }
  // Collective. Errors: a file changed meanwhile; a part is missing or has another length.
  Status load(const StateList& list) const;

 private:
  SavedRun(std::string folder, const RunIdentity& identity, Processes& processes)
      : folder_(std::move(folder)), identity_(identity), processes_(processes) {}
  using Arrays = std::map<std::string, std::vector<std::byte>, std::less<>>;
  Result<Arrays> arrays_of(std::int32_t rank) const;
  RankGrid grid_of(const Arrays& arrays) const; // of the ranks that saved them
  Status load_alone(const StateList& list) const;
  Status load_of_other_ranks(const StateList& list) const;

  std::string folder_;
  const RunIdentity& identity_;
  Processes& processes_;
  std::int64_t iteration_ = 0;
  std::int32_t ranks_ = 0; // that saved it
};

} // namespace kumihimo::application
