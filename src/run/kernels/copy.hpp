// Copies that bypass the caches. A store that misses first reads the line it is about to overwrite; a non-temporal
// store does not, which saves a third of a copy's memory traffic and a quarter of a reduction's. It pays only where the
// target does not stay in cache anyway, that is for arrays beyond the last-level cache that nobody reads at once;
// tuning measures from which length on (docs/wisdom.md). Measured in bench/kernels.
#pragma once

#include "base/parameter.hpp"

#include <cstdint>

namespace kumihimo::kernels {

// Source and target do not overlap, or are equal.
using CopyKernel = void (*)(const void* source, void* target, std::int64_t bytes);

// The smallest array for which bypassing the caches pays, where it was not tuned: a quarter of the last-level cache.
// The environment variable KUMIHIMO_STREAMING_BYTES sets another one, at least `smallest_streaming_threshold_bytes`.
// Read once.
std::int64_t streaming_threshold_bytes();
inline constexpr std::int64_t smallest_streaming_threshold_bytes = 1 << 16;

// Whether memory that another core reads next is written faster past the caches, where it was not tuned: on the EPYC
// that was measured it is, on the Xeon such data goes to memory and is fetched from there again. So it is taken for
// true of AMD's and Hygon's processors alone, until the environment variable KUMIHIMO_SHARED_STORES (`streamed` or
// `cached`) says otherwise. Read once. Measured by bench/run execute.
bool streams_to_other_cores();

// Of fewer bytes the fence behind them costs more than the stores save.
inline constexpr std::int64_t smallest_streamed_bytes = 1024;

// With non-temporal stores, whatever the length.
void copy_streaming(const void* source, void* target, std::int64_t bytes);

} // namespace kumihimo::kernels
