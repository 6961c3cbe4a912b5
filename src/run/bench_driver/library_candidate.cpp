#include "bench_driver/library_candidate.hpp"

#include "bench_driver/memory.hpp"
#include "plan/collective_call.hpp"

#include <cstddef>

namespace kumihimo::bench_driver {
namespace {

class CandidateCalls final : public BenchCandidate {
 public:
  CandidateCalls(const mpi::Library& library, const LibraryCall& call, const Collective& collective, Rank rank,
                 mpi::Handle operation)
      : library_(library), call_(call), collective_(collective), rank_(rank), type_(library.datatype(collective.type)),
        operation_(operation) {}

  Status call(const BenchVectors::Set& set) override {
    const std::int64_t all = collective_.counts.each;
    for (std::int64_t part = 0; part < call_.parts; ++part) {
      const std::int64_t first = all * part / call_.parts, end = all * (part + 1) / call_.parts;
      if (const int code = one(set, first, static_cast<int>(end - first)); code != 0) [[unlikely]]
        return library_.check(code, "MPI's own collective");
    }
    return Nothing{};
  }

  Bytes result(const BenchVectors::Set& set) const override {
    const CollectiveKind last = call_.steps.back();
    if (last->output.whose == WhichRanks::root && rank_ != collective_.root) return {};
    if (last->from == Contributors::before_itself && rank_.value == 0) return {};
    const bool block = leaves(last) == ResultLocation::blocks;
    return {alone_broadcast() ? set.input : set.output, collective_.bytes().value / (block ? collective_.ranks : 1)};
  }
  bool gives_all_the_same() const override { return call_.steps.back()->gives_all_the_same(); }

 private:
  bool alone_broadcast() const { return call_.steps.front()->has_one_buffer(); }

  int one(const BenchVectors::Set& set, std::int64_t first, int count) const {
    const std::int64_t at = first * collective_.type_bytes;
    std::byte* input = static_cast<std::byte*>(set.input) + at;
    std::byte* output = static_cast<std::byte*>(set.output) + at;
    int code = 0;
    for (std::size_t i = 0; i < call_.steps.size() && code == 0; ++i)
      code = step(call_.steps[i], i > 0, i + 1 < call_.steps.size(), {input, output, count});
    return code;
  }

  struct Vector {
    std::byte *input, *output;
    int count;
  };
  // One that follows another takes what lies in the output; before another, a rank leaves its block where it is of all.
  int step(CollectiveKind kind, bool follows, bool goes_on, const Vector& v) const {
    const bool at_root = rank_ == collective_.root;
    const int block = v.count / collective_.ranks;
    std::byte* const own = v.output + std::int64_t{rank_.value} * block * collective_.type_bytes;
    plan::CollectiveCall call{kind,
                              v.input,
                              v.output,
                              kind->is_vector() ? v.count : block,
                              type_,
                              operation_,
                              collective_.root.value,
                              library_.constants.comm_world};
    if (goes_on && leaves(kind) == ResultLocation::blocks) call.receive = own;
    if (follows && takes(kind) == ResultLocation::blocks) call.send = own;
    if (follows && takes(kind) == ResultLocation::vector_at_root) call.send = v.output;
    if (kind->has_one_buffer() && !follows) call.receive = v.input;
    const bool in_place = follows && kind->may_be_in_place() && (at_root || !kind->has_root());
    const bool by_receiver = kind->is_in_place_by_receiver();
    if (in_place && !by_receiver) call.send = library_.constants.in_place;
    if (in_place && by_receiver) call.receive = library_.constants.in_place;
    return plan::call_library(library_.call, call);
  }

  const mpi::Library& library_;
  LibraryCall call_;
  Collective collective_;
  Rank rank_;
  mpi::Handle type_, operation_;
};

} // namespace

std::unique_ptr<BenchCandidate> library_candidate(const mpi::Library& library, const LibraryCall& call,
                                                  const Collective& collective, Rank rank) {
  return std::make_unique<CandidateCalls>(library, call, collective, rank, library.operation(collective.operation));
}

} // namespace kumihimo::bench_driver
