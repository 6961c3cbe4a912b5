// What is measured of a library of one-sided communication.
//
//   {"task": "one_sided", "backend": "mpi", "image": "liboshmem.so.40", "options": "provider=shm",
//    "windows": ["allocate"], "synchronisations": ["flush"],     of mpi alone
//    "measured": ["put", "barrier"], "sizes": [8, 65536], "window": 64,
//    "span": 67108864,                                           most bytes that a window of messages covers
//    "case_seconds": 0.02}
#pragma once

#include "base/result.hpp"
#include "one_sided/peers.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::one_sided {

// `pair`: between two ranks; else all ranks take part. `sized`: by bytes of a message. Of the others the bytes are
// those of the counter, or none.
struct MeasureRow {
  std::string_view name;
  bool pair, sized;
  std::int64_t bytes = 0;
};

// In the order in which they are measured.
inline constexpr std::array<MeasureRow, 20> measure_rows = {{
    {"put", true, true},           // until the source may be changed
    {"put_fence", true, true},     // and later puts to this rank come later
    {"put_quiet", true, true},     // until the target has the data
    {"put_flag", true, true},      // until the target sees the flag: half of to and fro
    {"get", true, true},           // until the data are here
    {"put_bandwidth", true, true}, // a window of non-blocking puts, until the target has all
    {"get_bandwidth", true, true}, // likewise
    {"put_both_ways", true, true}, // both ranks at once
    {"put_overlap", true, true},   // a non-blocking put beside computation of the same length
    {"get_overlap", true, true},   // likewise
    {"fetch_add", true, false, 8}, // atomics by one rank
    {"compare_and_swap", true, false, 8},
    {"swap", true, false, 8},
    {"fence", true, false},                   // with nothing under way
    {"put_rate", false, true},                // each rank of the first half puts to one of the other
    {"fetch_add_contended", false, false, 8}, // all ranks on one counter
    {"barrier", false, false},
    {"broadcast", false, true},
    {"reduce", false, true},  // a sum that all ranks get
    {"collect", false, true}, // the bytes of all ranks to all
}};

struct OneSidedTask {
  std::string backend;
  std::string image;   // the shared library to open, where the back end needs one beside MPI
  std::string options; // words for that library
  std::vector<std::string> windows, synchronisations, measures;
  std::vector<std::int64_t> sizes;
  std::int64_t window = 64;
  std::int64_t span = std::int64_t{64} << 20;
  double case_seconds = 0.02;
};

// Error: a name that no row has, a number out of range, fewer than 2 ranks.
Result<OneSidedTask> one_sided_task_of(const nlohmann::json& given, std::int32_t ranks);

// Two ranks that are measured: `first` is the origin.
struct OneSidedPair {
  std::int32_t first = 0, second = 1;
  bool has(std::int32_t rank) const { return rank == first || rank == second; }
  std::int32_t other(std::int32_t rank) const { return rank == first ? second : first; }
};

// Rank 0 and the next rank on its node ("node"), rank 0 and the first rank on another one ("network").
struct PlacedPair {
  std::string_view place;
  OneSidedPair pair;
};
std::vector<PlacedPair> pairs_of(const std::vector<std::int64_t>& node_of_rank);

} // namespace kumihimo::one_sided
