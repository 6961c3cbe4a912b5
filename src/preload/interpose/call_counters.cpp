#include "interpose/call_counters.hpp"

#include <algorithm>
#include <bit>

namespace kumihimo::interpose {

const ReasonText& text_of(Reason reason) {
  static constexpr std::array<ReasonText, reasons> texts = {{
      {"not_chosen", "no Kumihimo algorithm was chosen"},
      {"empty", "no data, or only one rank"},
      {"other_type", "a derived type with a predefined operation, or a predefined type without a reduction kernel"},
      {"other_op", "an operation without a reduction kernel for the type"},
      {"between", "an intercommunicator"},
      {"disagreement", "the ranks disagree on wisdom, shape, settings or version"},
      {"no_plan", "the algorithm does not fit the call, or memory was short"},
      {"too_many", "too many different calls on one communicator"},
      {"not_connected", "a non-blocking call on a communicator that no blocking call had set up"},
      {"far", "a non-blocking call among ranks without shared memory"},
      {"too_long", "a non-blocking exact sum of more than 16 MiB of accumulators"},
      {"crowded_out", "too many communicators at once"},
      {"unseen", "a non-blocking call in an MPI library whose waits cannot complete requests of others"},
      {"refused", "wrong arguments, which the MPI library reports"},
      {"lost", "a process did not load the preload library"},
      {"device", "a GPU buffer, or a non-blocking call in a program that uses a GPU"},
      {"session", "a communicator of an MPI session"},
      {"op_not_commutative", "a user-defined operation that is not commutative"},
      {"op_nonblocking", "a user-defined operation in a non-blocking call"},
      {"op_reproducible", "a user-defined operation in a reproducible run"},
      {"op_not_chosen", "a user-defined operation, for which no algorithm was chosen"},
  }};
  return texts[static_cast<std::size_t>(reason)];
}

std::size_t size_class(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

std::int64_t CallCounters::forwarded_in(std::size_t kind, std::size_t size) const {
  std::int64_t all = 0;
  for (std::size_t reason = 0; reason < reasons; ++reason) all += at(place_of(kind, size) + reason);
  return all;
}

std::int64_t CallCounters::for_reason(std::size_t kind, Reason reason) const {
  std::int64_t all = 0;
  for (std::size_t size = 0; size < size_classes; ++size)
    all += at(place_of(kind, size) + static_cast<std::size_t>(reason));
  return all;
}

bool CallCounters::add_up(const mpi::Library& library) {
  constexpr int rows_at_once = 512;
  const mpi::Handle world = library.constants.comm_world;
  bool is_sum = true;
  for (std::size_t first = 0; first < rows; first += rows_at_once) {
    std::array<std::uint8_t, rows_at_once> mine{}, any{};
    const std::size_t end = std::min(first + rows_at_once, rows);
    for (std::size_t r = first; r < end; ++r)
      for (std::size_t i = 0; i < row; ++i) mine[r - first] |= at(r * row + i) != 0;
    is_sum &= library.call.Allreduce(mine.data(), any.data(), rows_at_once, library.datatype(DataType::uint8),
                                     library.operation(Operation::max), world) == 0;
    for (std::size_t r = first; r < end; ++r) {
      if (any[r - first] == 0) continue;
      std::array<std::int64_t, row> counts{}, sums{};
      for (std::size_t i = 0; i < row; ++i) sums[i] = counts[i] = at(r * row + i);
      is_sum &=
          library.call.Reduce(counts.data(), sums.data(), static_cast<int>(row), library.datatype(DataType::int64),
                              library.operation(Operation::sum), 0, world) == 0;
      for (std::size_t i = 0; i < row; ++i) counters_[r * row + i].number = sums[i];
    }
  }
  return is_sum;
}

} // namespace kumihimo::interpose
