// Which kernel runs for a call of which length in this process. Until somebody calls use(), it is what the processor
// and the environment say (untuned()); tuning puts its choices in that place (plan/kernels).
#pragma once

#include "base/size_map.hpp"
#include "kernels/variants.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <limits>

namespace kumihimo::kernels {

// A kernel for all calls up to a length, and longer ones.
struct ReducePlan {
  struct Class {
    std::int64_t most; // elements; of the last class no limit
    ReduceKernel kernel;
  };
  ReducePlan() = default;
  ReducePlan(ReduceKernel one) : kernel(one) {} // for all lengths

  std::int64_t most = std::numeric_limits<std::int64_t>::max(); // elements of the first class
  ReduceKernel kernel = nullptr;                                // null: there is none
  const Class* longer = nullptr;                                // the other classes, ascending

  explicit operator bool() const { return kernel != nullptr; }
  void operator()(const void* left, const void* right, void* target, std::int64_t count) const {
    if (count <= most) return kernel(left, right, target, count);
    const Class* c = longer;
    while (count > c->most) ++c;
    c->kernel(left, right, target, count);
  }
};

// Source and target do not overlap; of no bytes they may be null.
struct CopyPlan {
  struct Class {
    std::int64_t most; // bytes
    CopyKernel kernel;
  };
  std::int64_t most_plain = std::numeric_limits<std::int64_t>::max(); // bytes that memcpy copies
  const Class* longer = nullptr;

  void operator()(const void* source, void* target, std::int64_t bytes) const {
    if (bytes <= most_plain) {
      if (bytes > 0) std::memcpy(target, source, static_cast<std::size_t>(bytes));
      return;
    }
    const Class* c = longer;
    while (bytes > c->most) ++c;
    c->kernel(source, target, bytes);
  }
};

// Who reads what was copied: this core, or another one through memory that both have mapped.
enum class CopyReader : std::uint8_t { same_core, other_core };
inline constexpr std::array readers = {CopyReader::same_core, CopyReader::other_core};
std::string_view name_of(CopyReader reader); // "same core", "other core"

// No shorter copy is tuned: its call costs more than its stores.
inline constexpr std::int64_t smallest_tuned_copy_bytes = 256;

// The variants that run, by the bytes of one operand or of the copy.
struct Selection {
  using Reduce = SizeMap<const ReduceVariant*>;
  using Copy = SizeMap<CopyChoice>;
  std::array<std::array<Reduce, datatype_count>, operation_count> reduce;
  std::array<Copy, readers.size()> copy;

  Reduce& of(DataType type, Operation op) {
    return reduce[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  }
  Copy& of(CopyReader reader) { return copy[static_cast<std::size_t>(reader)]; }
};

// What runs without tuning. The environment variables KUMIHIMO_KERNEL_LEVEL (a variant's name) and
// KUMIHIMO_STREAMING_BYTES decide for reductions, the latter for copies to the same core, KUMIHIMO_SHARED_STORES for
// copies to another one; what they decide is not to be tuned.
Selection untuned();
bool environment_decides_reductions();
bool environment_decides_copies(CopyReader reader);

// For all look-ups from now on; plans that were found before keep what they have. On any thread.
void use(const Selection& choices);
void use_untuned();

struct Plans {
  std::array<std::array<ReducePlan, datatype_count>, operation_count> reduce;
  std::array<CopyPlan, readers.size()> copy;
};
extern std::atomic<const Plans*> plans_in_use; // null: untuned
const Plans& untuned_plans();
inline const Plans& plans() {
  const Plans* const in_use = plans_in_use.load(std::memory_order_acquire);
  return in_use ? *in_use : untuned_plans();
}

// None if the operation is the user's, the type is opaque, or is_applicable(type, op) is false.
inline ReducePlan reduce_plan(DataType type, Operation op) {
  return plans().reduce[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
}
inline const CopyPlan& copy_plan(CopyReader reader) { return plans().copy[static_cast<std::size_t>(reader)]; }
// Of one variant for all lengths, for tests and benchmarks.
CopyPlan copy_plan_of(const CopyVariant& variant);

} // namespace kumihimo::kernels
