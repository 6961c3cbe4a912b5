// The buffers of a measurement: heap memory in several sets used in turn, each written anew before every call, as
// programs do.
#pragma once

#include "base/datatype.hpp"
#include "bench_driver/golden.hpp"
#include "bench_driver/memory.hpp"
#include "schedule/collective.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kumihimo::bench_driver {

// Inputs that tell orders of summation apart: floats of both signs over some twenty-four binary orders of magnitude, so
// that any two orders of adding a few of them differ in the last bits; integers over their whole range, zeros among
// them. The same on every rank for the same (rank, seed), so that each can make the inputs of all.
//
// For products the magnitudes stay near 1, so that they neither overflow nor vanish. type is not `opaque`.
Vector values_of(DataType type, Operation operation, std::int64_t count, std::int32_t rank, std::uint64_t seed);
// The first contents of a rank's buffer of a program set, by the same rule.
Vector initial_memory(const ProgramSet& set, Rank rank, std::uint64_t seed);

class BenchVectors {
 public:
  // Makes the sets, with some contents that take turns. Error: not enough memory.
  static Result<BenchVectors> make(const Collective& collective, Rank rank);
  static Result<BenchVectors> make(const ProgramSet& set, Rank rank);

  struct Set {
    void* input = nullptr; // where the two are one memory, the start of it, as of the output
    void* output = nullptr;
  };
  // The set for the n-th call, its input written with contents n mod (number of values).
  Set prepare(std::int64_t n);
  std::int64_t contents() const { return static_cast<std::int64_t>(values_.size()); }

 private:
  static Result<BenchVectors> make(const CallMemory& memory, const std::function<Vector(std::uint64_t seed)>& values);
  // `values`: at least one, each as long as the rank's input.
  BenchVectors(const CallMemory& memory, std::vector<Vector> values);
  struct Owned {
    HeapMemory input, output;
  };
  CallMemory memory_;
  std::vector<Vector> values_;
  std::vector<Owned> sets_;
};

// A hash of the first bytes of memory, equal for equal contents.
std::uint64_t hash_of(const void* data, std::int64_t bytes);

} // namespace kumihimo::bench_driver
