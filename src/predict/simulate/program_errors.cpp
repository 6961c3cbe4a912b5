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

namespace {

bool has_step(const Node& node, bool (Step::*kind)() const) {
  if (const Loop* const loop = std::get_if<Loop>(&node))
    return std::ranges::any_of(loop->body, [&](const Node& each) { return has_step(each, kind); });
  return std::ranges::any_of(std::get<Round>(node).steps, [&](const Step& step) { return (step.*kind)(); });
}

// Whether one item at most sends, and one at most receives.
bool kinds_are_apart(const Body& body) {
  const auto items = [&](bool (Step::*kind)() const) {
    return std::ranges::count_if(body, [&](const Node& node) { return has_step(node, kind); });
  };
  return items(&Step::sends) <= 1 && items(&Step::receives) <= 1;
}

} // namespace

bool starts_in_order(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const Node& node) {
    const Loop* const loop = std::get_if<Loop>(&node);
    if (loop == nullptr) return true;
    if (loop->together && !kinds_are_apart(loop->body)) return false;
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
