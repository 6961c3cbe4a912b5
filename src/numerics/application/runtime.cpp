#include "application/runtime.hpp"

#include "application/checkpoints.hpp"
#include "application/node_memory.hpp"
#include "application/scheduled_sums.hpp"
#include "measure/clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace kumihimo::application {
namespace {

constexpr std::int64_t line_every_ns = 100'000'000;

} // namespace

Runtime::Runtime(Processes& processes, Communication communication)
    : processes_(processes), communication_(std::move(communication)), checkpoints_(Checkpoints::none(processes)) {}

Runtime::~Runtime() = default;

Status Runtime::start_checkpoints(const CheckpointOptions& asked, RunIdentity identity, KeptCopies* kept) {
  checkpoints_ = TRY(Checkpoints::make(asked, std::move(identity), processes_, under_way_.get(), kept));
  return Nothing{};
}

Status Runtime::check_memory(double bytes_of_rank, std::string advice) const {
  return check_node_memory(processes_, bytes_of_rank, "the problem needs", std::move(advice));
}

Result<std::unique_ptr<Runtime>> Runtime::make(Processes& processes, Communication communication) {
  std::unique_ptr<Runtime> made(new Runtime(processes, std::move(communication)));
  if (processes.ranks() == 1) {
    made->sums_ = std::make_unique<krylov::SumsOfOne>();
    return made;
  }
  transport::Transport* const transport = TRY(processes.transport());
  made->under_way_ = std::make_unique<UnderWay>(*transport);
  if (made->communication_.sums == "library") {
    made->sums_ = TRY(processes.library_sums());
    return made;
  }
  Result<std::unique_ptr<ScheduledSums>> sums =
      ScheduledSums::make(made->communication_.sums, processes.space(), Rank{processes.rank()}, *made->under_way_);
  if (Status s = processes.agree_on(sums); !s) return s.error();
  made->sums_ = std::move(*sums);
  return made;
}

Result<RankGrid> Runtime::grid(const std::array<std::int64_t, 3>& cells) const {
  if (!communication_.grid) return choose_grid(ranks(), cells);
  const RankGrid grid = TRY(parse_grid(*communication_.grid, ranks()));
  if (Status s = check_fits(grid, cells); !s) return s.error();
  return grid;
}

Result<std::unique_ptr<GhostExchange>> Runtime::exchange(Result<Ghosts> ghosts) {
  if (ghosts)
    if (Status s = check(*ghosts, Rank{rank()}, ranks()); !s) ghosts = s.error();
  if (Status s = agree_on(ghosts); !s) return s.error();
  if (!under_way_) return GhostExchange::without_neighbours(std::move(*ghosts));
  Result<std::unique_ptr<GhostExchange>> made =
      GhostExchange::make(std::move(*ghosts), Rank{rank()}, ranks(), *under_way_);
  if (Status s = agree_on(made); !s) return s.error();
  return made;
}

Result<std::unique_ptr<BoxHalo>> Runtime::halo(Halo halo, const RankGrid& grid) {
  halo.ranks = grid.ranks;
  if (!under_way_) return BoxHalo::of_one_rank(std::move(halo));
  Result<std::unique_ptr<BoxHalo>> made = BoxHalo::make(std::move(halo), Rank{rank()}, *under_way_);
  if (Status s = agree_on(made); !s) return s.error();
  return made;
}

Result<std::unique_ptr<ProgramRun>> Runtime::run_of(const ProgramSet& set) {
  Result<std::unique_ptr<ProgramRun>> made = ProgramRun::make(set, Rank{rank()}, *under_way_);
  if (Status s = agree_on(made); !s) return s.error();
  return made;
}

// A sum with zeros is exact.
Status Runtime::broadcast(std::span<double> values) {
  if (rank() != 0) std::ranges::fill(values, 0.0);
  return sums_->sum(values);
}

Status Runtime::poll() {
  if (!under_way_) return Nothing{};
  const Result<bool> moved = under_way_->advance();
  return moved ? Status(Nothing{}) : Status(moved.error());
}

void Runtime::progress(std::int64_t iteration, double residual, double tolerance) {
  if (rank() != 0) return;
  const std::int64_t now = measure::now_ns();
  if (now - last_line_ns_ < line_every_ns) return;
  last_line_ns_ = now;
  processes_.print(
      {{"progress", {{"label", label_}, {"iteration", iteration}, {"residual", residual}, {"tolerance", tolerance}}}});
}

} // namespace kumihimo::application
