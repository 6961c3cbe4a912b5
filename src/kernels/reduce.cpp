#include "kernels/reduce.hpp"

#include "kernels/reduce_table.hpp"

#include <cassert>
#include <cstdlib>

namespace kumihimo::kernels {
namespace {

const ReduceTable& table_of(Level level) {
#if defined(__x86_64__)
  if (level == Level::avx512) return avx512_reduce_table();
  if (level == Level::avx2) return avx2_reduce_table();
#endif
  assert(level == Level::baseline);
  return baseline_reduce_table();
}

// Zen 3 and 4 execute 64-byte vectors in two halves: nothing gained, and from the third-level cache up to a fifth lost.
bool halves_wide_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amdfam19h");
#else
  return false;
#endif
}

Level best_level() {
  if (is_supported(Level::avx512) && !halves_wide_vectors()) return Level::avx512;
  return is_supported(Level::avx2) ? Level::avx2 : Level::baseline;
}

} // namespace

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, levels.size()> names = {"baseline", "avx2", "avx512"};
  return names[static_cast<std::size_t>(level)];
}

bool is_supported(Level level) {
  if (level == Level::baseline) return true;
#if defined(__x86_64__)
  if (level == Level::avx2) return __builtin_cpu_supports("avx2");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

Level level_for(std::optional<std::string_view> wish) {
  for (Level level : levels)
    if (wish == name_of(level) && is_supported(level)) return level;
  return best_level();
}

Level active_level() {
  static const Level level = [] {
    const char* wish = std::getenv("KUMIHIMO_KERNEL_LEVEL");
    return level_for(wish ? std::optional<std::string_view>(wish) : std::nullopt);
  }();
  return level;
}

ReduceKernel find_reduce_kernel(DataType type, Operation op) {
  if (is_pair(type)) return find_pair_kernel(type, op);
  static const ReduceTable& table = table_of(active_level());
  return table.at(type, op);
}

ReduceKernel find_reduce_kernel(DataType type, Operation op, Level level) { return table_of(level).at(type, op); }

ReduceKernel reference_reduce_kernel(DataType type, Operation op) { return reference_reduce_table().at(type, op); }

} // namespace kumihimo::kernels
