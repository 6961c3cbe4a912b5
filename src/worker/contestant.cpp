#include "worker/contestant.hpp"

namespace kumihimo::worker {
namespace {

// Which ranks a collective leaves a result on.
Contestant::Bytes output_of(const Collective& c, Rank rank, const Vectors::Set& set) {
  if (c.kind == CollectiveKind::reduce && rank != c.root) return {};
  return {set.output, c.bytes().value};
}

class Ours final : public Contestant {
 public:
  Ours(const Case& c, Schedule schedule, Rank rank, mpi::MpiTransport& transport, plan::PlanCache& cache)
      : question_(c.collective), schedule_(std::move(schedule)), rank_(rank), transport_(transport), cache_(cache) {}

  Status make_ready() override {
    const Result<execute::Reduction> reduction = execute::find_reduction(question_);
    if (!reduction) return reduction.error();
    Result<std::unique_ptr<plan::Plan>> plan = plan::Plan::make(schedule_, rank_, transport_, *reduction);
    if (!plan) return plan.error();
    cache_.keep(plan::key_of(question_), std::move(*plan));
    return Nothing{};
  }

  Status call(const Vectors::Set& set) override {
    plan::Plan* plan = cache_.find(plan::key_of(question_)); // as an interposer does: from the arguments of the call
    return plan->run({set.input, set.output});
  }
  Bytes result(const Vectors::Set& set) const override { return output_of(question_, rank_, set); }

 private:
  Collective question_;
  Schedule schedule_;
  Rank rank_;
  mpi::MpiTransport& transport_;
  plan::PlanCache& cache_;
};

class Theirs final : public Contestant {
 public:
  Theirs(const mpi::Library& library, const Collective& c, Rank rank)
      : library_(library), c_(c), rank_(rank), count_(static_cast<int>(c.counts.each)), type_(library.datatype(c.type)),
        operation_(library.operation(c.operation)), aliased_(c.aliased(rank)) {}

  Status call(const Vectors::Set& set) override {
    const mpi::Handle world = library_.constants.comm_world;
    const void* input = aliased_ ? library_.constants.in_place : set.input;
    switch (c_.kind) {
    case CollectiveKind::allreduce:
      return check(library_.call.Allreduce(input, set.output, count_, type_, operation_, world));
    case CollectiveKind::reduce:
      return check(library_.call.Reduce(input, set.output, count_, type_, operation_, c_.root.value, world));
    default:
      return check(library_.call.Bcast(set.output, count_, type_, c_.root.value, world));
    }
  }
  Bytes result(const Vectors::Set& set) const override { return output_of(c_, rank_, set); }

 private:
  Status check(int code) const {
    if (code == 0) [[likely]]
      return Nothing{};
    return library_.check(code, "MPI's own collective");
  }
  const mpi::Library& library_;
  Collective c_;
  Rank rank_;
  int count_;
  mpi::Handle type_, operation_;
  bool aliased_;
};

} // namespace

std::unique_ptr<Contestant> our_contestant(const Case& c, Schedule schedule, Rank rank, mpi::MpiTransport& transport,
                                           plan::PlanCache& cache) {
  return std::make_unique<Ours>(c, std::move(schedule), rank, transport, cache);
}

std::unique_ptr<Contestant> library_contestant(const mpi::Library& library, const Collective& collective, Rank rank) {
  return std::make_unique<Theirs>(library, collective, rank);
}

} // namespace kumihimo::worker
