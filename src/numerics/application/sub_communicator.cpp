#include "application/sub_communicator.hpp"

#include "collectives/registry.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kumihimo::application {
namespace {

constexpr const char* gather_algorithm = "ring";
constexpr const char* scatter_algorithm = "linear";

} // namespace

SubCommunicator::SubCommunicator(std::unique_ptr<ProcessGroup> processes)
    : processes_(std::move(processes)), space_(processes_->space()) {}

Result<std::unique_ptr<SubCommunicator>> SubCommunicator::make(std::unique_ptr<ProcessGroup> processes) {
  std::unique_ptr<SubCommunicator> made(new SubCommunicator(std::move(processes)));
  transport::Transport* const transport = TRY(made->processes_->transport());
  if (transport) made->under_way_ = std::make_unique<UnderWay>(*transport);
  return made;
}

Result<Schedule> SubCommunicator::schedule_of(const Collective& collective, const std::string& algorithm) const {
  const Variant* const variant = TRY(Registry::standard().find(collective.kind, algorithm));
  // Whole messages: a rank that computes looks at its messages rarely, and a segment would wait for its next look.
  Parameters parameters;
  parameters.default_segment_bytes = std::numeric_limits<std::int64_t>::max();
  return variant->build(collective, space_, parameters);
}

Status SubCommunicator::accept(Collective longest, const std::string& algorithm) {
  if (ranks() == 1) return Nothing{};
  for (std::int32_t root = 0; root < (longest.has_root() ? ranks() : 1); ++root) {
    longest.root = Rank{root};
    const Schedule schedule = TRY(schedule_of(longest, algorithm));
    (void)TRY(ProgramRun::make(schedule, Rank{rank()}, *under_way_, {}, transport::Stream::blocking,
                               schedule.claims.in_place_safe));
  }
  return Nothing{};
}

Status SubCommunicator::accept_blocks(std::int64_t most) {
  const auto blocks = [&](CollectiveKind kind) {
    return with_counts(make_collective(kind, ranks(), 1, DataType::float64),
                       std::vector<std::int64_t>(static_cast<std::size_t>(ranks()), most));
  };
  if (Status s = accept(TRY(blocks(CollectiveKind::allgather)), gather_algorithm); !s) return s;
  return accept(TRY(blocks(CollectiveKind::scatter)), scatter_algorithm);
}

Result<std::unique_ptr<ProgramRun>> SubCommunicator::prepare(const Collective& collective, const std::string& algorithm,
                                                             const transport::Reduction& reduction) {
  const Schedule schedule = TRY(schedule_of(collective, algorithm));
  return ProgramRun::make(schedule, Rank{rank()}, *under_way_, reduction, transport::Stream::blocking,
                          schedule.claims.in_place_safe);
}

Result<std::unique_ptr<ProgramRun>> SubCommunicator::make_run(const Collective& collective,
                                                              const std::string& algorithm, transport::Stream stream) {
  const Schedule schedule = TRY(schedule_of(collective, algorithm));
  return ProgramRun::make_another(schedule, Rank{rank()}, *under_way_, {}, stream, schedule.claims.in_place_safe);
}

Result<std::unique_ptr<ProgramRun>> SubCommunicator::run_of(const ProgramSet& set) {
  return ProgramRun::make(set, Rank{rank()}, *under_way_);
}

Result<ProgramRun*> SubCommunicator::kept(const Collective& collective, const std::string& algorithm,
                                          const transport::Reduction& reduction) {
  const std::int64_t bytes = collective.counts.each * collective.type_bytes;
  std::unique_ptr<ProgramRun>& run = runs_[{collective.kind->name, bytes, collective.root.value}];
  if (!run) run = TRY(prepare(collective, algorithm, reduction));
  return run.get();
}

Status SubCommunicator::broadcast(std::span<double> values, std::int32_t root) {
  if (ranks() == 1 || values.empty()) return Nothing{};
  const Collective collective =
      make_collective(CollectiveKind::bcast, ranks(), static_cast<std::int64_t>(values.size()), DataType::float64,
                      Operation::sum, Rank{root});
  ProgramRun* const run = TRY(kept(collective, "binomial"));
  return run->run({values.data(), values.data()});
}

Status SubCommunicator::sum_at(std::int32_t root, std::span<double> values) {
  if (ranks() == 1 || values.empty()) return Nothing{};
  const Collective collective =
      make_collective(CollectiveKind::reduce, ranks(), static_cast<std::int64_t>(values.size()), DataType::float64,
                      Operation::sum, Rank{root});
  const transport::Reduction reduction = TRY(execute::find_reduction(DataType::float64, Operation::sum));
  ProgramRun* const run = TRY(kept(collective, "binomial", reduction));
  sum_.resize(std::max(sum_.size(), values.size()));
  if (Status s = run->run({values.data(), sum_.data()}); !s) return s;
  if (rank() == root) std::copy_n(sum_.begin(), values.size(), values.begin());
  return Nothing{};
}

Status SubCommunicator::sum(std::span<double> values) {
  if (ranks() == 1 || values.empty()) return Nothing{};
  const Collective collective =
      make_collective(CollectiveKind::allreduce, ranks(), static_cast<std::int64_t>(values.size()), DataType::float64,
                      Operation::sum, Rank{0}, true);
  const transport::Reduction reduction = TRY(execute::find_reduction(DataType::float64, Operation::sum));
  ProgramRun* const run = TRY(kept(collective, "recursive_doubling", reduction));
  return run->run({values.data(), values.data()});
}

Result<std::unique_ptr<ProgramRun>> SubCommunicator::gather_run(std::vector<std::int64_t> counts,
                                                                transport::Stream stream) {
  const Collective collective =
      TRY(with_counts(make_collective(CollectiveKind::allgather, ranks(), 1, DataType::float64), std::move(counts)));
  return make_run(collective, gather_algorithm, stream);
}

Result<std::unique_ptr<ProgramRun>> SubCommunicator::scatter_run(std::int32_t root, std::vector<std::int64_t> counts,
                                                                 transport::Stream stream) {
  const Collective collective = TRY(
      with_counts(make_collective(CollectiveKind::scatter, ranks(), 1, DataType::float64, Operation::sum, Rank{root}),
                  std::move(counts)));
  return make_run(collective, scatter_algorithm, stream);
}

Status SubCommunicator::all_gather(const double* mine, double* all, std::vector<std::int64_t> counts) {
  if (ranks() == 1) return std::copy_n(mine, counts[0], all), Nothing{};
  const std::unique_ptr<ProgramRun> run = TRY(gather_run(std::move(counts), transport::Stream::blocking));
  return run->run({mine, all});
}

Status SubCommunicator::scatter(std::int32_t root, const double* all, double* mine, std::vector<std::int64_t> counts) {
  if (ranks() == 1) return std::copy_n(all, counts[0], mine), Nothing{};
  const std::unique_ptr<ProgramRun> run = TRY(scatter_run(root, std::move(counts), transport::Stream::blocking));
  return run->run({all, mine});
}

Result<ProgramRun*> SubCommunicator::combine_run(std::size_t values, transport::Reduction::Function operation,
                                                 const void* context) {
  Collective collective =
      make_collective(CollectiveKind::allreduce, ranks(), 1, DataType::opaque, Operation::user, Rank{0}, true);
  collective.type_bytes = static_cast<std::int64_t>(values * sizeof(double));
  transport::Reduction reduction;
  reduction.function = operation;
  reduction.context = context;
  std::unique_ptr<ProgramRun>& run = combining_[{operation, context, values}];
  if (!run) run = TRY(prepare(collective, "recursive_doubling", reduction));
  return run.get();
}

Status SubCommunicator::combine(std::span<double> values, transport::Reduction::Function operation,
                                const void* context) {
  if (ranks() == 1) return Nothing{};
  ProgramRun* const run = TRY(combine_run(values.size(), operation, context));
  return run->run({values.data(), values.data()});
}

Status SubCommunicator::poll() {
  if (!under_way_) return Nothing{};
  const Result<bool> moved = under_way_->advance();
  return moved ? Status(Nothing{}) : Status(moved.error());
}

} // namespace kumihimo::application
