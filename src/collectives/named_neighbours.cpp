#include "collectives/named_neighbours.hpp"

#include "base/text_parsing.hpp"
#include "topology/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo {
namespace {

using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

Result<Neighbourhood> on_axes(std::string_view lengths, std::int32_t ranks, std::string name) {
  const Shape shape = TRY(Shape::parse(lengths));
  if (shape.places() != ranks)
    return wrong_value(fmt::format("the lengths of the axes must multiply to the {} ranks", ranks),
                       fmt::format("{} with {} places", lengths, shape.places()));
  std::vector<Neighbourhood::CartesianAxis> axes;
  for (const Axis& axis : shape.axes()) axes.push_back({axis.length, axis.wraps});
  return Neighbourhood::cartesian(std::move(axes), std::move(name));
}

Result<Neighbourhood> of_edges(std::string_view text, std::int32_t ranks) {
  Edges edges;
  while (!text.empty()) {
    const std::string_view edge = take_until(text, ',');
    const std::size_t arrow = edge.find('>');
    const auto from = number_in<std::int32_t>(edge.substr(0, arrow));
    const auto to = number_in<std::int32_t>(arrow == std::string_view::npos ? "" : edge.substr(arrow + 1));
    if (!from || !to) return wrong_value("an edge is written RANK>RANK, such as 0>1", fmt::format("'{}'", edge));
    edges.emplace_back(*from, *to);
  }
  return Neighbourhood::of_edges(ranks, edges, fmt::format("graph of {} edges", edges.size()));
}

// Every rank lists its ends in an order of its own, as ranks that make a distributed graph do.
Result<Neighbourhood> drawn(std::uint64_t seed, std::int32_t ranks, std::string name) {
  constexpr std::uint64_t most = 4;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return static_cast<std::size_t>(random() % bound); };
  std::vector<Neighbourhood::Lists> lists(static_cast<std::size_t>(ranks));
  for (std::int32_t from = 0; from < ranks; ++from)
    for (std::size_t left = below(most + 1); left > 0; --left) {
      auto& destinations = lists[static_cast<std::size_t>(from)].destinations;
      const bool again = !destinations.empty() && below(4) == 0;
      const auto to = again ? destinations.back() : static_cast<std::int32_t>(below(static_cast<std::uint64_t>(ranks)));
      destinations.push_back(to);
      auto& sources = lists[static_cast<std::size_t>(to)].sources;
      sources.insert(sources.begin() + static_cast<std::ptrdiff_t>(below(sources.size() + 1)), from);
    }
  return Neighbourhood::of_lists(lists, std::move(name));
}

Result<Neighbourhood> parsed(std::string_view text, std::int32_t ranks) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view family = text.substr(0, colon), rest = text.substr(std::min(colon + 1, text.size()));
  if (family == "cart") return on_axes(rest, ranks, std::string(text));
  if (family == "edges") return of_edges(rest, ranks);
  if (const auto seed = number_in<std::uint64_t>(rest); family == "random" && seed)
    return drawn(*seed, ranks, std::string(text));
  return wrong_value("neighbours are cart:4x3mx2, random:SEED or the edges of a graph", fmt::format("'{}'", text));
}

} // namespace

Result<std::shared_ptr<const Neighbourhood>> named_neighbours(std::string_view text, std::int32_t ranks) {
  Neighbourhood made = TRY(parsed(text, ranks));
  return std::make_shared<const Neighbourhood>(std::move(made));
}

} // namespace kumihimo
