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
constexpr int most_without_death = 3;      // recoveries in a row

class SparedRun {
 public:
  SparedRun(const mpi_job::MpiJob& launched, mpi::Library library, std::int32_t places)
      : launched_(launched), library_(std::move(library)), living_(library_.constants.comm_world),
        living_ranks_(launched.ranks()), places_(places), place_(launched.rank() < places ? launched.rank() : no_place) {
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
  // After a call on the living ranks. A death may break it on some ranks only, and others may wait in it for those.
  // All ranks must go on with the same agreement, and so either all or none of them leave.
  void leave_unless_all(int code) {
    if (code != 0 && !mpi::is_loss(code)) failed_with_ = code;
    if (code != 0) mpi::revoke_all();
    if (mpi::agree_of_living(living_, code == 0)) return;
    is_broken_ = true;
    throw mpi::RankLost();
  }

  // Communicators fail for another reason than a death, and would do so for ever. The ranks that know it speak first.
  [[noreturn]] void end_job() const {
    Error error = failed(fmt::format("the recovery failed {} times in a row although no rank died", most_without_death),
                         failed_with_ ? library_.error_text(failed_with_) : "", "restart from files, or begin anew");
    error.elsewhere = failed_with_ == 0;
    launched_.give_up(error);
  }

  // Another error than a death ends the job: the other ranks do not know of it.
  mpi::Handle those_that_live() const {
    const Result<mpi::Handle> made = mpi::living_ranks_of(living_);
    if (!made) launched_.give_up(made.error());
    return *made;
  }

  // Those that live, and spare ones in the places of those that died.
  Status fill_places() {
    mpi::Handle before = std::exchange(living_, those_that_live());
    const bool may_free = !std::exchange(is_broken_, false) && before != library_.constants.comm_world;
    int ranks = 0, rank = 0;
    library_.call.Comm_size(living_, &ranks);
    library_.call.Comm_rank(living_, &rank);
    without_death_ = std::exchange(living_ranks_, ranks) == ranks ? without_death_ + 1 : 0;
    if (without_death_ == most_without_death) end_job();
    if (without_death_ == 0) failed_with_ = 0;
    std::vector<std::int64_t> place_of(static_cast<std::size_t>(ranks));
    const mpi::Handle type = library_.datatype(DataType::int64);
    leave_unless_all(library_.call.Allgather(&place_, 1, type, place_of.data(), 1, type, living_));
    if (may_free) library_.call.Comm_free(&before); // no rank is in a call on it, and none was broken off
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
    const int colour = is_spare ? library_.constants.undefined : 0;
    leave_unless_all(library_.call.Comm_split(living_, colour, static_cast<int>(place_), &own));
    if (is_spare) return Nothing{};
    mpi::watch(own);
    const std::unique_ptr<mpi_job::MpiJob> job = mpi_job::MpiJob::join(library_, own);
    JobProcesses processes(*job);
    Status ended = run(*job, processes, kept_);
    ended = job->agree(ended); // an error of a broken message is none of the run
    if (!ended) job->print(ended.error());
    return ended;
  }

  const mpi_job::MpiJob& launched_;
  mpi::Library library_;
  mpi::Handle living_;
  bool is_broken_ = false; // a call on living_ was broken off on some rank
  int living_ranks_;
  int without_death_ = 0; // recoveries in a row
  int failed_with_ = 0;   // code of the last error of MPI on this rank that names no death
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
