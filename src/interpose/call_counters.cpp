#include "interpose/call_counters.hpp"

#include <bit>
#include <numeric>

namespace kumihimo::interpose {

std::string_view sentence_of(Reason reason) {
  constexpr std::array<std::string_view, reasons> sentences = {
      "the library's own is chosen",
      "no data, or one rank alone",
      "a type that is not predefined, or that no loop is made for",
      "an operation of the program's own, or none for the type",
      "an intercommunicator",
      "the ranks disagree on wisdom, settings or version",
      "the algorithm does not fit the call, or had no memory",
      "more different calls on one communicator than are kept",
      "a non-blocking call before any blocking one on its communicator, in which it could be set up",
      "a non-blocking call among ranks that do not share memory",
      "a non-blocking exact sum of more than 16 MiB of accumulators",
      "a communicator beyond those that are set up at once",
      "a non-blocking call where not all that completes requests is caught: the program, or a library in it, has an "
      "MPI_Wait or MPI_Test of its own",
      "arguments that MPI does not allow, which the library tells of",
      "the object was lost on the way to a process of the program",
      "a buffer in the memory of a GPU, or a non-blocking call of a program that uses one",
  };
  return sentences[static_cast<std::size_t>(reason)];
}

std::size_t size_class(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

std::int64_t CallCounters::forwarded_in(std::span<const std::int64_t> counts, std::size_t kind, std::size_t size) {
  const auto first = counts.begin() + static_cast<std::ptrdiff_t>(place_of(kind, size));
  return std::accumulate(first, first + reasons, std::int64_t{0});
}

std::int64_t CallCounters::for_reason(std::span<const std::int64_t> counts, std::size_t kind, Reason reason) {
  std::int64_t all = 0;
  for (std::size_t size = 0; size < size_classes; ++size)
    all += counts[place_of(kind, size) + static_cast<std::size_t>(reason)];
  return all;
}

std::vector<std::int64_t> CallCounters::counts() const {
  std::vector<std::int64_t> all;
  all.reserve(counters_.size());
  for (mpi_hooks::Counter& counter : counters_) all.push_back(counter.counted());
  return all;
}

} // namespace kumihimo::interpose
