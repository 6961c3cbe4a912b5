#include "bench_driver/candidate.hpp"

#include "bench_driver/library_collective.hpp"
#include "bench_driver/memory.hpp"
#include "execute/engine.hpp"

namespace kumihimo::bench_driver {
namespace {

BenchCandidate::Bytes result_in(const CallMemory& memory, const BenchVectors::Set& set) {
  if (memory.result_bytes == 0) return {};
  return {static_cast<const std::byte*>(set.output) + memory.output_at, memory.result_bytes};
}

class ScheduleCandidate final : public BenchCandidate {
 public:
  ScheduleCandidate(const TaskCase& c, Schedule schedule, Rank rank, transport::Transport& transport,
                    plan::PlanCache& cache)
      : collective_(c.collective), hints_(c.parameters.hints()), memory_(memory_of(collective_, rank)),
        schedule_(std::move(schedule)), rank_(rank), transport_(transport), cache_(cache) {}

  Status make_ready() override {
    const transport::Reduction reduction = TRY(plan::find_reduction(collective_));
    Result<std::unique_ptr<plan::Plan>> plan = plan::Plan::make(schedule_, rank_, transport_, reduction, hints_);
    if (!plan) return plan.error();
    cache_.keep(plan::key_of(collective_), std::move(*plan));
    return Nothing{};
  }

  Status call(const BenchVectors::Set& set) override {
    plan::Plan* plan = cache_.find(plan::key_of(collective_)); // as an interposer does: from the arguments of the call
    return plan->run({set.input, set.output});
  }
  Bytes result(const BenchVectors::Set& set) const override { return result_in(memory_, set); }
  bool gives_all_the_same() const override { return collective_.kind->gives_all_the_same(); }

 private:
  Collective collective_;
  Hints hints_;
  CallMemory memory_;
  Schedule schedule_;
  Rank rank_;
  transport::Transport& transport_;
  plan::PlanCache& cache_;
};

class LibraryCallCandidate final : public BenchCandidate {
 public:
  LibraryCallCandidate(const mpi::Library& library, mpi::Handle world, const Collective& c, Rank rank,
                       bool is_non_blocking)
      : kind_(c.kind), memory_(memory_of(c, rank)), own_(library, world, c, rank), is_non_blocking_(is_non_blocking) {}

  Status call(const BenchVectors::Set& set) override {
    if (!is_non_blocking_) return own_.call(set.input, set.output);
    const Status begun = own_.begin(set.input, set.output);
    return begun ? own_.wait() : begun;
  }
  Status call_over(const BenchVectors::Set& set, const std::function<void()>& work) override {
    const Status begun = own_.begin(set.input, set.output);
    work();
    return begun ? own_.wait() : begun;
  }
  Bytes result(const BenchVectors::Set& set) const override { return result_in(memory_, set); }
  bool gives_all_the_same() const override { return kind_->gives_all_the_same(); }

 private:
  CollectiveKind kind_;
  CallMemory memory_;
  LibraryCollective own_;
  bool is_non_blocking_;
};

} // namespace

std::unique_ptr<BenchCandidate> our_candidate(const TaskCase& c, Schedule schedule, Rank rank,
                                              transport::Transport& transport, plan::PlanCache& cache) {
  return std::make_unique<ScheduleCandidate>(c, std::move(schedule), rank, transport, cache);
}

std::unique_ptr<BenchCandidate> library_candidate(const mpi::Library& library, mpi::Handle world,
                                                  const Collective& collective, Rank rank, bool is_non_blocking) {
  return std::make_unique<LibraryCallCandidate>(library, world, collective, rank, is_non_blocking);
}

} // namespace kumihimo::bench_driver
