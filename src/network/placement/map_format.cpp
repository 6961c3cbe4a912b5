#include "placement/map_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace kumihimo {
namespace {

struct FormatRow {
  MapFormat format;
  std::string_view name;
};
constexpr std::array<FormatRow, 9> formats = {{{MapFormat::openmpi4, "openmpi4"},
                                               {MapFormat::openmpi5, "openmpi5"},
                                               {MapFormat::hydra, "hydra"},
                                               {MapFormat::mpich5, "mpich5"},
                                               {MapFormat::slurm, "slurm"},
                                               {MapFormat::cray, "cray"},
                                               {MapFormat::vcoord, "vcoord"},
                                               {MapFormat::permutation, "permutation"},
                                               {MapFormat::placement, "placement"}}};

// A word of a POSIX shell.
std::string quoted(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

} // namespace

std::string_view name_of(MapFormat format) {
  const auto row = std::find_if(formats.begin(), formats.end(), [&](const FormatRow& r) { return r.format == format; });
  return row->name;
}

std::vector<MapFormat> map_formats() {
  std::vector<MapFormat> all;
  for (const FormatRow& row : formats) all.push_back(row.format);
  return all;
}

Result<MapFormat> map_format_of(std::string_view name) {
  std::vector<std::string_view> names;
  for (const FormatRow& row : formats) {
    if (row.name == name) return row.format;
    names.push_back(row.name);
  }
  return wrong_value(fmt::format("a format of maps is one of {}", fmt::join(names, ", ")), fmt::format("'{}'", name));
}

std::string launch_hint(MapFormat format, std::string_view file, std::int32_t ranks) {
  const std::string name = quoted(file);
  switch (format) {
  case MapFormat::openmpi4: return fmt::format("mpirun -n {} --rankfile {} PROGRAM", ranks, name);
  case MapFormat::openmpi5:
    return fmt::format("mpirun -n {} --map-by {} PROGRAM", ranks, quoted(fmt::format("rankfile:file={}", file)));
  case MapFormat::hydra: return fmt::format("mpiexec -f {} -n {} PROGRAM", name, ranks);
  case MapFormat::mpich5: return fmt::format("mpiexec $(cat {}) -n {} PROGRAM", name, ranks);
  case MapFormat::slurm: return fmt::format("SLURM_HOSTFILE={} srun -m arbitrary -n {} PROGRAM", name, ranks);
  case MapFormat::cray:
    return fmt::format("MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={} srun -n {} PROGRAM", name, ranks);
  case MapFormat::vcoord: return fmt::format("mpiexec -n {} --vcoordfile {} PROGRAM", ranks, name);
  case MapFormat::permutation:
  case MapFormat::placement: break;
  }
  return "";
}

std::string map_warning(MapFormat format, const Placement& placement) {
  if (format != MapFormat::hydra) return "";
  std::vector<std::int32_t> last(static_cast<std::size_t>(placement.slots().nodes()), -1);
  std::set<std::int32_t> split;
  for (std::int32_t r = 0; r < placement.ranks(); ++r) {
    const std::int32_t node = placement.node(Rank{r}).value;
    std::int32_t& before = last[static_cast<std::size_t>(node)];
    if (before >= 0 && before != r - 1) split.insert(node);
    before = r;
  }
  if (split.empty()) return "";
  return fmt::format(
      "MPICH takes each line of a host file as a node of its own, so ranks of the same node on different "
      "lines do not share memory ({} of {} nodes); take mpich5 if you have MPICH 5",
      split.size(), placement.slots().nodes());
}

} // namespace kumihimo
