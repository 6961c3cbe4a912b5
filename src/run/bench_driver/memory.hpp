// Memory that the system may refuse: then an error, not a crash.
#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"
#include "schedule/collective.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace kumihimo::bench_driver {

// The byte of results before they are written.
inline constexpr std::byte untouched{0xa5};

// The memory of one rank's call: the lengths of its buffers, and whether they share memory.
struct CallMemory {
  std::int64_t input_bytes = 0, output_bytes = 0; // 0: the rank has none
  // In place: one memory of `shared_bytes`, in which the input and the output begin at these bytes.
  bool aliased = false;
  std::int64_t shared_bytes = 0, input_at = 0, output_at = 0;
  std::int64_t result_bytes = 0; // of the output; 0 if it is undefined (exscan on rank 0)
  bool input_stays = false;      // no byte of the input may change

  std::int64_t all_bytes() const { return aliased ? shared_bytes : input_bytes + output_bytes; }
};
CallMemory memory_of(const Collective& collective, Rank rank);
CallMemory memory_of(const ProgramSet& set, Rank rank);

inline constexpr std::string_view smaller_case = "give a smaller --bytes or fewer ranks"; // the usual advice

// `wanted`: "64 bytes for the vectors of a rank".
Error out_of_memory(std::string wanted, std::string_view advice = smaller_case);

// Ordinary memory of the heap, at least a byte. Throws std::bad_alloc as vectors do: see with_memory().
using HeapMemory = std::unique_ptr<std::byte, decltype(&std::free)>;
HeapMemory allocate(std::int64_t bytes);

struct Need {
  std::int64_t bytes = 0;   // in all
  std::string_view purpose; // "the vectors of a rank"
  std::string_view advice = smaller_case;
};
Error out_of_memory(const Need& need);

// The result of make(); an error if there is too little memory.
template <class Make>
auto with_memory(const Need& need, Make make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return out_of_memory(need);
  }
}

// Memory of a checked call, which shows writes behind its end.

// Ordinary memory of the heap with a guard behind it, and in it until something is written.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(allocate(static_cast<std::int64_t>(bytes + guard_bytes))) {
    std::fill_n(data(), bytes + guard_bytes, untouched);
  }
  std::byte* data() const { return memory_.get(); }
  bool guard_holds() const {
    return std::all_of(data() + bytes_, data() + bytes_ + guard_bytes, [](std::byte b) { return b == untouched; });
  }

 private:
  static constexpr std::size_t guard_bytes = 64;
  std::size_t bytes_;
  HeapMemory memory_;
};

} // namespace kumihimo::bench_driver
