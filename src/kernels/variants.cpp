#include "kernels/variants.hpp"

#include <algorithm>

namespace kumihimo::kernels {

// A row's function, where it is no public one.
ReduceKernel reduce_baseline(DataType type, Operation op);
#if defined(__x86_64__)
ReduceKernel reduce_baseline_streaming(DataType type, Operation op);
ReduceKernel reduce_avx2(DataType type, Operation op);
ReduceKernel reduce_avx2_streaming(DataType type, Operation op);
ReduceKernel reduce_avx512(DataType type, Operation op);
ReduceKernel reduce_avx512_streaming(DataType type, Operation op);
#endif
void copy_plain(const void* source, void* target, std::int64_t bytes);
CopyKernel copy_streaming_of(const ParameterValues& values);

namespace {

bool everywhere() { return true; }
#if defined(__x86_64__)
bool with_avx2() { return __builtin_cpu_supports("avx2"); }
bool with_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

constexpr ReduceVariant reduce_rows[] = {
    {"plain", "one element at a time", everywhere, reference_reduce_kernel},
    {"baseline", "vectors that every processor of the architecture has", everywhere, reduce_baseline},
#if defined(__x86_64__)
    {"baseline_streaming", "the same, with non-temporal stores", everywhere, reduce_baseline_streaming},
    {"avx2", "vectors of 32 bytes", with_avx2, reduce_avx2},
    {"avx2_streaming", "the same, with non-temporal stores", with_avx2, reduce_avx2_streaming},
    {"avx512", "vectors of 64 bytes", with_avx512, reduce_avx512},
    {"avx512_streaming", "the same, with non-temporal stores", with_avx512, reduce_avx512_streaming},
#endif
};

// Of a variant that takes no parameters.
template <CopyKernel only>
CopyKernel always(const ParameterValues&) {
  return only;
}

constexpr CopyVariant copy_rows[] = {
    {"plain", "memcpy of the C library", everywhere, always<copy_plain>},
#if defined(__x86_64__)
    {"streaming", "non-temporal stores", everywhere, copy_streaming_of, copy_streaming_parameters},
#endif
};

template <class Row>
const Row* find(std::span<const Row> rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return at != rows.end() && at->runs_here() ? &*at : nullptr;
}

} // namespace

std::span<const ReduceVariant> reduce_variants() { return reduce_rows; }
std::span<const CopyVariant> copy_variants() { return copy_rows; }
const ReduceVariant* find_reduce_variant(std::string_view name) { return find(reduce_variants(), name); }
const CopyVariant* find_copy_variant(std::string_view name) { return find(copy_variants(), name); }

} // namespace kumihimo::kernels
