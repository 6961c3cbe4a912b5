#include "topology/torus_job.hpp"

#include "topology/router_torus.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

Error fits_nowhere(const TorusMachine& machine, const Shape& job, std::string_view what) {
  const Shape& all = machine.shape;
  return wrong_value(fmt::format("the job must be {} of the torus {}", what, all.text()), job.text(),
                     fmt::format("take {} lengths, at most {}, in its order of axes", all.dimensions(), all.text()));
}

} // namespace

TopologyPtr TorusMachine::network(const Shape& job) const {
  if (nodes_per_router == 1) return std::make_shared<Torus>(job);
  return std::make_shared<RouterTorus>(Shape({job.axes().begin(), job.axes().end() - 1}), nodes_per_router);
}

Result<Shape> TorusMachine::place(const Shape& job) const {
  const bool routers = nodes_per_router > 1;
  if (jobs == Jobs::own && !routers) return job;
  const std::int32_t axes = shape.dimensions(), closing = axes - routers;
  if (job.dimensions() != axes) return fits_nowhere(*this, job, "a box");
  if (routers && job.length(closing) != nodes_per_router)
    return fits_nowhere(*this, job,
                        fmt::format("a box with all {} nodes of each router as its last axis,", nodes_per_router));
  bool whole_blocks = true;
  for (std::int32_t a = 0; a < closing; ++a) {
    if (jobs != Jobs::own && job.length(a) > shape.length(a)) return fits_nowhere(*this, job, "a box");
    if (jobs != Jobs::blocks) continue;
    const std::int32_t each = block.length(a), rest = job.length(a) % each;
    if (rest != 0 && job.length(a) > each)
      return fits_nowhere(*this, job, fmt::format("part of one block of {}, or whole blocks,", block.text()));
    whole_blocks &= rest == 0;
  }
  std::vector<Axis> seen = job.axes();
  for (std::int32_t a = 0; a < closing; ++a) {
    if (jobs == Jobs::part) seen[a].wraps &= shape.axes()[a].wraps && seen[a].length == shape.length(a);
    if (jobs == Jobs::blocks) seen[a].wraps &= whole_blocks;
  }
  if (routers) seen.back().wraps = true;
  return Shape(std::move(seen));
}

} // namespace kumihimo
