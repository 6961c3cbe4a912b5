#include "application/spare_ranks.hpp"

#include "application/job_processes.hpp"
#include "measure/clock.hpp"
#include "mpi/lost_ranks.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace kumihimo::application {
namespace {

constexpr std::int64_t no_place = -1;
constexpr int is_through = 1, is_idle = 2; // at the end of a run, of each rank: it noticed no death, it had no place

class SparedRun {
 public:
  SparedRun(const mpi_job::MpiJob& launched, mpi::Library library, std::int32_t places)
      : launched_(launched), library_(std::move(library)), living_(library_.constants.comm_world), places_(places),
        place_(launched.rank() < places ? launched.rank() : no_place) {
    kept_.generations.resize(2);
  }

  // Until all that live have come to the end of it together.
  Status until_whole(const RunOnPlaces& run) {
    for (bool is_first = true;; is_first = false) {
      Status ended = Nothing{};
      int how = is_through;
      try {
        if (!is_first) ended = fill_places();
        if (ended && place_ == no_place) how |= is_idle;
        if (ended) ended = run_once(run);
      } catch (const mpi::RankLost&) {
        how = 0;
        kept_.noticed_ns = measure::now_ns();
        mpi::revoke_all();
      }
      mpi::watch(0);
      const int of_all = mpi::agree_of_living(living_, how);
      if (of_all == is_through) return ended; // with is_idle: all that had a place are dead
      if (how != 0) kept_.noticed_ns = measure::now_ns();
      ++kept_.begun_again;
    }
  }

 private:
  // Another error than a death ends the job: the other ranks do not know of it.
  template <class T>
  T expected(Result<T> made) const {
    if (made) return std::move(*made);
    if (mpi::look_for_losses() != 0) throw mpi::RankLost();
    launched_.give_up(made.error());
  }

  // After a call on the living ranks. A death may break it on some ranks only, and others may wait in it for those.
  // All ranks must go on with the same agreement, and so either all or none of them leave.
  void leave_unless_all(int code) {
    if (code != 0) mpi::revoke_all();
    if (!mpi::agree_of_living(living_, code == 0)) throw mpi::RankLost();
  }

  // Those that live, and spare ones in the places of those that died.
  Status fill_places() {
    living_ = expected(mpi::living_ranks_of(living_));
    int ranks = 0, rank = 0;
    library_.call.Comm_size(living_, &ranks);
    library_.call.Comm_rank(living_, &rank);
    std::vector<std::int64_t> place_of(static_cast<std::size_t>(ranks));
    const mpi::Handle type = library_.datatype(DataType::int64);
    leave_unless_all(library_.call.Allgather(&place_, 1, type, place_of.data(), 1, type, living_));
    if (std::ranges::all_of(place_of, [](std::int64_t place) { return place == no_place; }))
      return said_by_first(
          rank, failed(fmt::format("all {} ranks of the run have died, so no copy of their states is left", places_),
                       {}, "restart from files, or begin anew"));
    for (std::int64_t place = 0; place < places_; ++place) {
      if (std::ranges::count(place_of, place) != 0) continue;
      const auto spare = std::ranges::find(place_of, no_place);
      if (spare == place_of.end())
        return said_by_first(rank, failed(fmt::format("rank {} has died, and no spare rank is left", place), {},
                                          "give spare= more of them, and restart from files or begin anew"));
      *spare = place;
      ++kept_.deaths;
      if (spare - place_of.begin() == rank) place_ = place, kept_.is_replacement = true;
    }
    return Nothing{};
  }

  Status said_by_first(int rank, const Error& error) const {
    if (rank == 0) mpi_job::write_line(mpi_job::to_json(error));
    return error;
  }

  Status run_once(const RunOnPlaces& run) {
    mpi::Handle own = 0;
    const bool is_spare = place_ == no_place;
    const int code = library_.call.Comm_split(living_, is_spare, static_cast<int>(place_), &own);
    leave_unless_all(code);
    if (is_spare) return Nothing{};
    mpi::watch(own);
    const std::unique_ptr<mpi_job::MpiJob> job = expected(mpi_job::MpiJob::join(library_, own));
    mpi::watch(job->world());
    JobProcesses processes(*job);
    Status ended = run(*job, processes, kept_);
    ended = job->agree(ended); // an error of a broken message is none of the run
    if (!ended) job->print(ended.error());
    return ended;
  }

  const mpi_job::MpiJob& launched_;
  mpi::Library library_;
  mpi::Handle living_;
  std::int32_t places_;
  std::int64_t place_; // rank of the application, or no_place
  KeptCopies kept_;
};

} // namespace

Status run_with_spares(mpi_job::MpiJob& launched, std::int32_t spares, const RunOnPlaces& run) {
  if (launched.ranks() < spares + 2)
    return wrong_value(fmt::format("{} spare ranks need at least 2 others", spares), launched.ranks() - spares,
                       "use more --ranks");
  mpi::Library library = launched.library();
  if (Status s = launched.agree(mpi::tolerate_losses(library)); !s) return s;
  SparedRun spared(launched, std::move(library), launched.ranks() - spares);
  static_cast<void>(spared.until_whole(run).ok()); // it was printed
  return Nothing{};
}

} // namespace kumihimo::application
