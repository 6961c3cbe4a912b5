// What the frame gives to an application while it runs: its ranks, communication, agreement and progress lines.
#pragma once

#include "application/box_halo.hpp"
#include "application/ghosts.hpp"
#include "application/processes.hpp"
#include "application/program_run.hpp"
#include "application/rank_grid.hpp"
#include "krylov/linear_system.hpp"
#include "threads/partition.hpp"

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::application {

class Checkpoints;
struct KeptCopies;
struct CheckpointOptions;
struct RunIdentity;

struct Communication {
  std::string sums = "recursive_doubling"; // an allreduce of the registry, or `library`
  std::optional<std::string> grid;         // as the user gives it
};

class Runtime {
 public:
  // Collective. Opens the transport if there are several ranks. `processes` outlives the runtime. Errors: those of the
  // transport and of the sums' algorithm.
  static Result<std::unique_ptr<Runtime>> make(Processes& processes, Communication communication);

  std::int32_t rank() const { return processes_.rank(); }
  std::int32_t ranks() const { return processes_.ranks(); }
  // The user's grid of ranks, or the best one for a box of cells. Error: it does not fit.
  Result<RankGrid> grid(const std::array<std::int64_t, 3>& cells) const;

  krylov::Sums& sums() { return *sums_; }
  // Makes numbers those of rank 0 on all ranks, for decisions that ranks with other last bits must not take alone.
  // Collective.
  Status broadcast(std::span<double> values);
  // Collective, also on ranks without neighbours: those that fail must say so in `ghosts`.
  Result<std::unique_ptr<GhostExchange>> exchange(Result<Ghosts> ghosts);
  // `halo` without the grid of ranks.
  Result<std::unique_ptr<BoxHalo>> halo(Halo halo, const RankGrid& grid);
  // A program set or schedule for several ranks. Collective. Errors: those of ProgramRun::make().
  Result<std::unique_ptr<ProgramRun>> run_of(const ProgramSet& set);
  // Moves messages that are under way. A long computation calls it between its pieces.
  Status poll();
  // Calls work(piece) for pieces of 0 .. length - 1 in order, and poll() after each.
  template <class Work>
  Status beside_messages(std::int64_t length, Work work) {
    constexpr std::int64_t pieces = 8;
    for (std::int64_t n = 0; n < pieces; ++n) {
      if (const threads::IndexRange piece = threads::part(length, n, pieces); piece.size() > 0) work(piece);
      if (Status s = poll(); !s) return s;
    }
    return Nothing{};
  }

  Status agree(const Status& mine) { return processes_.agree(mine); }
  template <class T>
  Status agree_on(const Result<T>& mine) {
    return processes_.agree_on(mine);
  }
  Processes& processes() { return processes_; }

  // What all candidates of a task share, which make() gives for the first of them. Collective. Error: that of the
  // lowest rank for which make() failed.
  template <class Shared, class Make>
  Result<std::shared_ptr<Shared>> shared(Make make) {
    if (const auto* const kept = std::any_cast<std::shared_ptr<Shared>>(&shared_)) return *kept;
    Result<Shared> made = make();
    if (Status s = agree_on(made); !s) return s.error();
    auto kept = std::make_shared<Shared>(std::move(*made));
    shared_ = kept;
    return kept;
  }
  bool has_shared() const { return shared_.has_value(); }

  // Of the present run. Those of a new runtime do nothing.
  Checkpoints& checkpoints() { return *checkpoints_; }
  // Others for the next run. Collective. Errors: those of Checkpoints::make().
  Status start_checkpoints(const CheckpointOptions& asked, RunIdentity identity, KeptCopies* kept = nullptr);
  ~Runtime();

  // Of the problem: see check_node_memory().
  Status check_memory(double bytes_of_rank, std::string advice = "use a smaller --size or more nodes") const;

  // A line for the user about the present run, at most ten a second. No communication.
  void progress(std::int64_t iteration, double residual, double tolerance);
  void set_label(std::string label) { label_ = std::move(label); } // of the lines

 private:
  Runtime(Processes& processes, Communication communication);
  Processes& processes_;
  Communication communication_;
  std::unique_ptr<UnderWay> under_way_; // null: one rank
  std::unique_ptr<krylov::Sums> sums_;
  std::any shared_;
  std::unique_ptr<Checkpoints> checkpoints_;
  std::string label_;
  std::int64_t last_line_ns_ = 0;
};

} // namespace kumihimo::application
