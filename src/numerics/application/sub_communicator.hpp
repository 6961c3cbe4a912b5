// A sub-communicator: some of the ranks, such as a row of a grid, with collectives by schedules of the registry, which
// the engine runs. All are collective over these ranks. One rank alone sends nothing.
#pragma once

#include "application/processes.hpp"
#include "application/program_run.hpp"
#include "schedule/schedule.hpp"
#include "topology/rank_space.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace kumihimo::application {

class SubCommunicator {
 public:
  static Result<std::unique_ptr<SubCommunicator>> make(std::unique_ptr<ProcessGroup> processes);

  std::int32_t rank() const { return processes_->rank(); }
  std::int32_t ranks() const { return processes_->ranks(); }
  const RankSpace& space() const { return space_; }

  // Asks the transport for messages as long as those of `longest` by an algorithm of the registry, from every root.
  // Collective, and it waits for all ranks: once, before some of them compute. Errors: there is no algorithm of this
  // name, or it does not fit.
  Status accept(Collective longest, const std::string& algorithm);
  // A run of a collective that was accepted, of several ranks. Of this rank alone: it waits for none.
  Result<std::unique_ptr<ProgramRun>> make_run(const Collective& collective, const std::string& algorithm,
                                               transport::Stream stream = transport::Stream::blocking);
  // A program set or schedule for these ranks, which are several. Collective. Errors: those of ProgramRun::make().
  Result<std::unique_ptr<ProgramRun>> run_of(const ProgramSet& set);
  // As ProcessGroup's.
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>& to,
                                                        const std::vector<ArrayBox>& from) {
    return processes_->library_arrays(to, from);
  }
  // Asks the transport for all_gather() and scatter() with counts up to `most`.
  Status accept_blocks(std::int64_t most);

  Status broadcast(std::span<double> values, std::int32_t root);
  Status sum_at(std::int32_t root, std::span<double> values); // on other ranks `values` stay
  Status sum(std::span<double> values);                       // on all ranks
  // counts[r] values of rank r, one rank's behind the other's. After accept_blocks().
  Status all_gather(const double* mine, double* all, std::vector<std::int64_t> counts);
  Status scatter(std::int32_t root, const double* all, double* mine, std::vector<std::int64_t> counts);
  // Runs of them, to be started when this rank likes.
  Result<std::unique_ptr<ProgramRun>> gather_run(std::vector<std::int64_t> counts, transport::Stream stream);
  Result<std::unique_ptr<ProgramRun>> scatter_run(std::int32_t root, std::vector<std::int64_t> counts,
                                                  transport::Stream stream);
  // All values are one element, which `operation` combines in the order of the ranks.
  Status combine(std::span<double> values, transport::Reduction::Function operation, const void* context);
  // The run of it for so many values, in the stream of blocking calls. Collective at its first use; of several ranks.
  Result<ProgramRun*> combine_run(std::size_t values, transport::Reduction::Function operation, const void* context);

  Status poll(); // moves messages that are under way

 private:
  explicit SubCommunicator(std::unique_ptr<ProcessGroup> processes);
  Result<Schedule> schedule_of(const Collective& collective, const std::string& algorithm) const;
  Result<std::unique_ptr<ProgramRun>> prepare(const Collective& collective, const std::string& algorithm,
                                              const transport::Reduction& reduction);
  // Kept: the same length comes again. Collective at its first use.
  Result<ProgramRun*> kept(const Collective& collective, const std::string& algorithm,
                           const transport::Reduction& reduction = {});

  std::unique_ptr<ProcessGroup> processes_;
  RankSpace space_;
  std::unique_ptr<UnderWay> under_way_; // null: one rank
  std::map<std::tuple<std::string_view, std::int64_t, std::int32_t>, std::unique_ptr<ProgramRun>> runs_;
  std::map<std::tuple<transport::Reduction::Function, const void*, std::size_t>, std::unique_ptr<ProgramRun>>
      combining_;
  std::vector<double> sum_; // of the root
};

} // namespace kumihimo::application
