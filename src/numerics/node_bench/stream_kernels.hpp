// The loops of STREAM over a range of elements; begin and end are multiples of 8. Non-temporal stores need arrays that
// are aligned to 64 bytes.
#pragma once

#include <cstdint>

namespace kumihimo::node_bench {

struct StreamArrays {
  double *a, *b, *c;
};
enum class Stores { cached, streamed };
bool has_non_temporal_stores();

// kernel: its place in stream_kernels.
void run_stream(int kernel, Stores stores, const StreamArrays& arrays, double q, std::int64_t begin, std::int64_t end);

} // namespace kumihimo::node_bench
