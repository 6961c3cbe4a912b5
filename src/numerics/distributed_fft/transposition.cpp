#include "distributed_fft/transposition.hpp"

namespace kumihimo::distributed_fft {

BlockTable blocks_of(const TranspositionTask& task) {
  BlockTable table{static_cast<std::int32_t>(task.before.size()), {}};
  for (const fft::PointBox& before : task.before)
    for (const fft::PointBox& after : task.after)
      table.points.push_back(task.bands * fft::common_box(before, after).points());
  return table;
}

} // namespace kumihimo::distributed_fft
