#include "schedule/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace kumihimo {
namespace {
constexpr std::array<std::string_view, 11> names = {"barrier",   "bcast",          "reduce",  "allreduce",
                                                    "scan",      "exscan",         "gather",  "scatter",
                                                    "allgather", "reduce_scatter", "alltoall"};
}

std::string_view name_of(CollectiveKind kind) { return names[static_cast<std::size_t>(kind)]; }

Result<CollectiveKind> parse_collective(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<CollectiveKind>(i);
  return bad_input(fmt::format("a collective is one of {}", fmt::join(names, ", ")), fmt::format("'{}'", name));
}

bool Collective::has_root() const {
  return kind == CollectiveKind::bcast || kind == CollectiveKind::reduce || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

bool Collective::reduces() const {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::allreduce || kind == CollectiveKind::scan ||
         kind == CollectiveKind::exscan || kind == CollectiveKind::reduce_scatter;
}

bool Collective::aliased(Rank rank) const {
  if (kind == CollectiveKind::bcast) return true;
  if (!in_place) return false;
  const bool at_root_only =
      kind == CollectiveKind::reduce || kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
  return !at_root_only || rank == root;
}

bool is_vector_kind(CollectiveKind k) {
  return k == CollectiveKind::bcast || k == CollectiveKind::reduce || k == CollectiveKind::allreduce ||
         k == CollectiveKind::scan || k == CollectiveKind::exscan;
}

Collective make_collective(CollectiveKind kind, std::int32_t ranks, std::int64_t count, DataType type,
                           Operation operation, Rank root, bool in_place) {
  Collective c;
  c.kind = kind;
  c.ranks = ranks;
  c.counts.each = count;
  c.type = type;
  c.type_bytes = size_of(type);
  c.operation = operation;
  c.commutative = is_commutative(operation);
  c.root = root;
  c.in_place = in_place || kind == CollectiveKind::bcast;
  return c;
}

} // namespace kumihimo
