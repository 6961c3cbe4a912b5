#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::simulation {

bool same_in_all_segments(const Extent& extent, const DataLayout& data, std::int64_t segments) {
  const bool vector = extent.layout == Layout::vector;
  if (!vector && !data.layout(extent.layout).uniform()) return false;
  return (vector ? data.elements : data.layout(extent.layout).each) % (extent.parts * segments) == 0 &&
         std::none_of(extent.runs.begin(), extent.runs.end(),
                      [](const RunList& list) { return list.count.depends_on(Variable{0}); });
}

bool starts_in_order(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const Node& node) {
    const Loop* const loop = std::get_if<Loop>(&node);
    if (loop == nullptr) return true;
    if (loop->in_flight <= 1) return starts_in_order(loop->body);
    return loop->body.size() <= 1 && std::all_of(loop->body.begin(), loop->body.end(),
                                                 [](const Node& n) { return std::holds_alternative<Round>(n); });
  });
}

Error unequal_lengths(const Endpoints& m) {
  return failed("a message must be as long as its receive",
                fmt::format("rank {} on lane {} expects {} elements where rank {} sends {}", m.receiver, m.lane,
                            m.expected, m.sender, m.sent),
                verify_it);
}

Error does_not_end(std::int64_t lanes) {
  return failed("the programs deadlock", fmt::format("{} lane{} for ever", lanes, lanes == 1 ? " waits" : "s wait"),
                verify_it);
}

} // namespace kumihimo::simulation
