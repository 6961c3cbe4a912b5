#include "application/scheduled_sums.hpp"

#include "collectives/registry.hpp"

namespace kumihimo::application {
namespace {

Result<Schedule> schedule_of(const std::string& algorithm, const RankSpace& space, std::int64_t length) {
  const Variant* const variant = TRY(Registry::standard().find(CollectiveKind::allreduce, algorithm));
  const Collective sum = make_collective(CollectiveKind::allreduce, space.ranks(), length, DataType::float64,
                                         Operation::sum, Rank{0}, true);
  if (!variant->guarantees(sum).same_on_all_ranks)
    return not_applicable("the sums of a Krylov method need an allreduce that gives all ranks the same bits", algorithm,
                          "use recursive_doubling");
  return variant->build(sum, space);
}

} // namespace

Result<std::unique_ptr<ScheduledSums>> ScheduledSums::make(const std::string& algorithm, RankSpace space, Rank rank,
                                                           UnderWay& under_way) {
  if (const Result<Schedule> one = schedule_of(algorithm, space, 1); !one) return one.error();
  return std::unique_ptr<ScheduledSums>(new ScheduledSums(algorithm, std::move(space), rank, under_way));
}

Result<ProgramRun*> ScheduledSums::run_of(std::size_t length, transport::Stream stream) {
  std::unique_ptr<ProgramRun>& run = runs_[{length, stream}];
  if (run) return run.get();
  const Schedule schedule = TRY(schedule_of(algorithm_, space_, static_cast<std::int64_t>(length)));
  const transport::Reduction reduction = TRY(execute::find_reduction(DataType::float64, Operation::sum));
  run = TRY(ProgramRun::make(schedule, rank_, under_way_, reduction, stream, schedule.claims.in_place_safe));
  return run.get();
}

Status ScheduledSums::sum(std::span<double> values) {
  ProgramRun* const run = TRY(run_of(values.size(), transport::Stream::blocking));
  return run->run({values.data(), values.data()});
}

Status ScheduledSums::start(std::span<double> values) {
  started_ = TRY(run_of(values.size(), transport::Stream::nonblocking));
  return started_->start({values.data(), values.data()});
}

Status ScheduledSums::wait() { return started_ ? started_->wait() : Status(Nothing{}); }

} // namespace kumihimo::application
