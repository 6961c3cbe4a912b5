#include "hpcg/ordering.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::hpcg {
namespace {

std::vector<std::int32_t> groups_by_level(const HpcgMatrix& a) {
  std::vector<std::int32_t> group(static_cast<std::size_t>(a.rows()));
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::int32_t level = 0;
    for (std::int64_t k = a.row_begin[i]; k < a.diagonal[i]; ++k)
      level = std::max(level, group[static_cast<std::size_t>(a.columns[k])] + 1);
    group[static_cast<std::size_t>(i)] = level;
  }
  return group;
}

std::vector<std::int32_t> groups_by_colour(const HpcgMatrix& a, const std::vector<std::int32_t>& coarse) {
  std::vector<std::int32_t> group(static_cast<std::size_t>(a.rows()));
  std::int32_t colours = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::uint64_t taken = 0; // a row has at most 26 neighbours, so that one of 64 colours is free
    for (std::int64_t k = a.row_begin[i]; k < a.diagonal[i]; ++k)
      taken |= std::uint64_t{1} << group[static_cast<std::size_t>(a.columns[k])];
    std::int32_t colour = 0;
    while (taken >> colour & 1) ++colour;
    group[static_cast<std::size_t>(i)] = colour;
    colours = std::max(colours, colour + 1);
  }
  if (coarse.empty()) return group;
  const std::int32_t first = group[static_cast<std::size_t>(coarse[0])]; // the others move up
  for (std::int32_t& each : group) each = each == first ? colours - 1 : each - (each > first);
  return group;
}

} // namespace

Result<OrderingKind> ordering_named(std::string_view name) {
  if (name == "levels") return OrderingKind::levels;
  if (name == "colours") return OrderingKind::colours;
  return wrong_value("the ordering must be levels or colours", std::string(name));
}

Ordering make_ordering(const HpcgMatrix& a, OrderingKind kind, const std::vector<std::int32_t>& coarse) {
  const std::vector<std::int32_t> group =
      kind == OrderingKind::levels ? groups_by_level(a) : groups_by_colour(a, coarse);
  const std::int64_t groups = 1 + *std::max_element(group.begin(), group.end());
  Ordering made;
  made.group_begin.assign(static_cast<std::size_t>(groups) + 1, 0);
  for (const std::int32_t each : group) ++made.group_begin[static_cast<std::size_t>(each) + 1];
  for (std::size_t i = 1; i < made.group_begin.size(); ++i) made.group_begin[i] += made.group_begin[i - 1];
  std::vector<std::int64_t> next(made.group_begin.begin(), made.group_begin.end() - 1);
  made.new_of_old.resize(group.size());
  made.old_of_new.resize(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::int64_t place = next[static_cast<std::size_t>(group[i])]++;
    made.new_of_old[i] = static_cast<std::int32_t>(place);
    made.old_of_new[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(i);
  }
  return made;
}

std::vector<std::int32_t> coarse_points(const HpcgGrid& fine) {
  const HpcgGrid coarse = fine.coarse();
  std::vector<std::int32_t> points(static_cast<std::size_t>(coarse.rows()));
  for (std::int64_t z = 0; z < coarse.nz; ++z)
    for (std::int64_t y = 0; y < coarse.ny; ++y)
      for (std::int64_t x = 0; x < coarse.nx; ++x)
        points[static_cast<std::size_t>(coarse.point(x, y, z))] =
            static_cast<std::int32_t>(fine.point(2 * x, 2 * y, 2 * z));
  return points;
}

} // namespace kumihimo::hpcg
