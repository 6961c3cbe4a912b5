// STREAM (McCalpin, 1995): copy c = a, scale b = q c, add c = a + b, triad a = b + q c on arrays of doubles that no
// cache holds. Bytes are counted as STREAM counts them: what a kernel reads and writes, without the reads that fill
// cache lines before they are written. q = sqrt(2) - 1, so that values stay as they are for any number of rounds.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::node_bench {

inline constexpr std::array<const char*, 4> stream_kernels = {"copy", "scale", "add", "triad"};
inline constexpr std::array<int, 4> stream_arrays = {2, 2, 3, 3}; // that a kernel reads or writes

// Of one array of STREAM: four times the last-level caches that the processors below `folder` share, as STREAM wants
// it, and at least 64 MiB.
std::int64_t usual_array_bytes(const std::string& folder = "/sys/devices/system/cpu");

struct StreamSamples {
  std::string bound; // where the threads ran
  std::int64_t bytes_per_array = 0;
  // Seconds of each kernel and round, with usual stores and with non-temporal ones (empty where there are none).
  std::array<std::vector<double>, 4> cached, streamed;
};

// `threads` threads, bound to processors; in each round all kernels with usual stores, then with non-temporal ones.
// Afterwards every element is compared with the same operations on one number. Errors: the number of threads, arrays of
// less than 64 bytes or beyond the memory; a wrong element.
Result<StreamSamples> measure_stream(std::int64_t bytes_per_array, int threads, int rounds);

} // namespace kumihimo::node_bench
