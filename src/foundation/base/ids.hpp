// Strong identifiers (ADR 0002). Ranks, nodes, links and lanes are different types: a schedule names ranks, a topology
// nodes and links, and only a placement turns one into the other.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace kumihimo {

template <class Tag, class Integer>
struct Id {
  Integer value{};
  constexpr Id() = default;
  constexpr explicit Id(Integer v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using Rank = Id<struct RankTag, std::int32_t>;   // a process of the communicator, 0 .. P-1
using NodeId = Id<struct NodeTag, std::int32_t>; // a node of the machine
using LinkId = Id<struct LinkTag, std::int64_t>; // a directed link of the machine
using LaneId = Id<struct LaneTag, std::int32_t>; // a lane of a schedule, the same on all ranks

} // namespace kumihimo

template <class Tag, class Integer>
struct std::hash<kumihimo::Id<Tag, Integer>> {
  std::size_t operator()(kumihimo::Id<Tag, Integer> id) const noexcept { return std::hash<Integer>{}(id.value); }
};
