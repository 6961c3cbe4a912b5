// Counters of calls by collective, by the power of two of their bytes, and by the algorithm or the reason for the
// library. All threads count; the ranks add up their counters at the end.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace kumihimo::interpose {

// Why a call went to the MPI library unchanged.
enum class Reason : std::uint8_t {
  not_chosen,    // wisdom chooses the library, or nothing
  empty,         // no data, or one rank alone
  other_type,    // a derived type with a predefined operation, or a predefined type without a kernel
  other_op,      // an operation without a kernel for this type
  between,       // an intercommunicator
  disagreement,  // the ranks do not agree on wisdom, settings or version
  no_plan,       // the algorithm does not fit, or there was no memory for it
  too_many,      // more different calls on one communicator than are kept
  not_connected, // a non-blocking call, before any blocking one has set up what it needs
  far,           // a non-blocking call, where not all ranks share memory
  too_long,      // a non-blocking exact sum, for one piece
  crowded_out,   // a communicator beyond the memory budget
  unseen,        // a non-blocking call, if the library's own waits cannot complete it
  refused,       // arguments that MPI does not allow; the library reports them
  lost,          // a process of the program did not load the interposer
  device,        // a buffer in the memory of a GPU
  session,       // a communicator of an MPI session
  // A user-defined operation:
  op_not_commutative, // its operands must keep the order of ranks
  op_nonblocking,     // the progress thread must not call its function
  op_reproducible,    // its order of operands is not fixed
  op_not_chosen       // no choice was tuned for such calls
};
inline constexpr std::size_t reasons = 21;
// The id is for programs that read the summary, the sentence for people.
struct ReasonText {
  std::string_view id, sentence;
};
const ReasonText& text_of(Reason reason);

// Blocking and non-blocking calls are counted apart.
enum class CallForm : std::uint8_t { blocking, nonblocking };
inline constexpr std::size_t counted_calls = 2 * collective_kinds;
inline std::size_t counted_as(CollectiveKind kind, CallForm form) {
  return kind.index() + (form == CallForm::nonblocking ? collective_kinds : 0);
}

// Topologies for which the program lets ranks be reordered, by call.
inline constexpr std::array reordering_calls = {mpi_hooks::Name::Cart_create, mpi_hooks::Name::Dist_graph_create,
                                                mpi_hooks::Name::Dist_graph_create_adjacent};
enum class Reordering : std::uint8_t { asked, on_one_node, done, before, after, packages_before, packages_after };
inline constexpr std::size_t reordering_counts = 7;

inline constexpr std::size_t size_classes = 64; // class c: 2^(c-1) <= bytes < 2^c; 0: none
std::size_t size_class(std::int64_t bytes);

// More than any collective has (tested). Exact sums are counted after them.
inline constexpr std::size_t most_variants = 40, place_of_exact_sums = most_variants;

// In static memory, whose pages are taken when a counter in them is first used.
class CallCounters {
 public:
  // Each counts a call and returns its counter.
  mpi_hooks::Counter& ran(std::size_t kind, std::int64_t bytes, std::size_t variant) {
    return add(place_of(kind, size_class(bytes)) + reasons + variant);
  }
  mpi_hooks::Counter& forwarded(std::size_t kind, std::int64_t bytes, Reason reason) {
    return add(place_of(kind, size_class(bytes)) + static_cast<std::size_t>(reason));
  }

  // A collective that never runs by a plan: a persistent one.
  void other(mpi_hooks::Name name) { add(first_other + static_cast<std::size_t>(name)); }
  // Counts a call that ran through host memory because this rank's data are in the memory of a GPU.
  void packed_from_device() { add(device_place); }

  // Counts communicators, each on one of its ranks; what they cost before and after reordering.
  void reordering(mpi_hooks::Name call, Reordering what, std::int64_t number = 1) {
    counters_[reordering_place(call, what)].count(number);
  }
  std::int64_t reordering_in(mpi_hooks::Name call, Reordering what) const { return at(reordering_place(call, what)); }

  std::int64_t ran_in(std::size_t kind, std::size_t size, std::size_t variant) const {
    return at(place_of(kind, size) + reasons + variant);
  }
  std::int64_t forwarded_in(std::size_t kind, std::size_t size) const;
  std::int64_t for_reason(std::size_t kind, Reason reason) const;
  std::int64_t others_in(mpi_hooks::Name name) const { return at(first_other + static_cast<std::size_t>(name)); }
  std::int64_t packed_from_device_in() const { return at(device_place); }

  // Replaces the counters of rank 0 by their sums over all ranks of MPI_COMM_WORLD, on which errors are returned;
  // collective. In small messages, row by row: at the end there may be no memory for more. False: the library failed.
  bool add_up(const mpi::Library& library);

 private:
  static constexpr std::size_t row = reasons + most_variants + 1;
  static constexpr std::size_t first_other = counted_calls * size_classes * row;
  static constexpr std::size_t device_place = first_other + mpi_hooks::names;
  static constexpr std::size_t first_reordering = device_place + 1;
  static constexpr std::size_t rows = (first_reordering + reordering_calls.size() * reordering_counts - 1) / row + 1;
  static constexpr std::size_t reordering_place(mpi_hooks::Name call, Reordering what) {
    const auto of = std::find(reordering_calls.begin(), reordering_calls.end(), call) - reordering_calls.begin();
    return first_reordering + static_cast<std::size_t>(of) * reordering_counts + static_cast<std::size_t>(what);
  }
  static std::int64_t at(std::size_t place) { return counters_[place].counted(); }
  static constexpr std::size_t place_of(std::size_t kind, std::size_t size) {
    return (kind * size_classes + size) * row;
  }
  mpi_hooks::Counter& add(std::size_t at) {
    counters_[at].count();
    return counters_[at];
  }
  static inline std::array<mpi_hooks::Counter, rows * row> counters_{};
};

} // namespace kumihimo::interpose
