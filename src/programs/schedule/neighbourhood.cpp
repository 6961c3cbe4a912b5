#include "schedule/neighbourhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace kumihimo {

Neighbourhood Neighbourhood::cartesian(std::vector<CartesianAxis> axes, std::string name) {
  Neighbourhood n;
  n.name_ = std::move(name);
  std::int32_t ranks = 1;
  for (const CartesianAxis& axis : axes) ranks *= axis.length;
  n.sources_.first = n.destinations_.first = {0};
  for (std::int32_t r = 0; r < ranks; ++r) {
    std::int32_t stride = ranks, block = 0;
    for (const CartesianAxis& axis : axes) {
      stride /= axis.length;
      const std::int32_t at = r / stride % axis.length;
      for (const std::int32_t step : {-1, 1}) {
        const std::int32_t to = (at + step + axis.length) % axis.length;
        const bool there = axis.periodic || to == at + step;
        // Data that leaves on one side arrives on the other.
        const End end{there ? r + (to - at) * stride : nobody, block + (step < 0 ? 1 : -1)};
        n.sources_.ends.push_back(end);
        n.destinations_.ends.push_back(end);
        ++block;
      }
    }
    n.sources_.first.push_back(static_cast<std::int64_t>(n.sources_.ends.size()));
    n.destinations_.first.push_back(n.sources_.first.back());
  }
  n.axes_ = std::move(axes);
  return n;
}

Result<Neighbourhood> Neighbourhood::of_lists(std::span<const Lists> ranks, std::string name) {
  const auto count = static_cast<std::int32_t>(ranks.size());
  Neighbourhood n;
  n.name_ = std::move(name);
  n.sources_.first = n.destinations_.first = {0};
  for (const Lists& lists : ranks) {
    for (const std::vector<std::int32_t>* list : {&lists.sources, &lists.destinations})
      for (const std::int32_t r : *list)
        if (r < 0 || r >= count) return wrong_value(fmt::format("a neighbour is a rank from 0 to {}", count - 1), r);
    for (const std::int32_t r : lists.sources) n.sources_.ends.push_back({r, 0});
    for (const std::int32_t r : lists.destinations) n.destinations_.ends.push_back({r, 0});
    n.sources_.first.push_back(static_cast<std::int64_t>(n.sources_.ends.size()));
    n.destinations_.first.push_back(static_cast<std::int64_t>(n.destinations_.ends.size()));
  }

  using Pair = std::pair<std::int32_t, std::int32_t>;
  std::map<Pair, std::vector<std::int64_t>> sent; // edges (from, to), by their place among all destinations
  for (std::int32_t r = 0; r < count; ++r)
    for (std::int64_t i = n.destinations_.first[r]; i < n.destinations_.first[r + 1]; ++i)
      sent[{r, n.destinations_.ends[i].rank}].push_back(i);
  std::map<Pair, std::size_t> met;
  for (std::int32_t r = 0; r < count; ++r)
    for (std::int64_t i = n.sources_.first[r]; i < n.sources_.first[r + 1]; ++i) {
      End& source = n.sources_.ends[i];
      const Pair pair{source.rank, r};
      const std::size_t k = met[pair]++;
      const auto there = sent.find(pair);
      if (there == sent.end() || k >= there->second.size()) continue; // counted below
      const std::int64_t at = there->second[k];
      source.block = static_cast<std::int32_t>(at - n.destinations_.first[source.rank]);
      n.destinations_.ends[at].block = static_cast<std::int32_t>(i - n.sources_.first[r]);
    }
  for (const auto& [pair, edges] : sent) met.try_emplace(pair, 0);
  for (const auto& [pair, awaited] : met) {
    const auto there = sent.find(pair);
    const std::size_t messages = there == sent.end() ? 0 : there->second.size();
    if (messages != awaited)
      return wrong_value(fmt::format("rank {} sends {} messages to rank {}, which receives {}", pair.first, messages,
                                     pair.second, awaited),
                         {}, "name each edge at both of its ends");
  }
  return n;
}

Result<Neighbourhood> Neighbourhood::of_edges(std::int32_t ranks,
                                              std::span<const std::pair<std::int32_t, std::int32_t>> edges,
                                              std::string name) {
  std::vector<Lists> lists(static_cast<std::size_t>(ranks));
  for (const auto& [from, to] : edges) {
    for (const std::int32_t r : {from, to})
      if (r < 0 || r >= ranks) return wrong_value(fmt::format("a neighbour is a rank from 0 to {}", ranks - 1), r);
    lists[static_cast<std::size_t>(from)].destinations.push_back(to);
    lists[static_cast<std::size_t>(to)].sources.push_back(from);
  }
  return of_lists(lists, std::move(name));
}

std::vector<std::int32_t> Neighbourhood::order_of_arrival(Rank r) const {
  std::vector<std::int32_t> order(sources(r).size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; is_cartesian() && i < order.size(); i += 2) std::swap(order[i], order[i + 1]);
  return order;
}

std::int32_t Neighbourhood::most_blocks() const {
  std::size_t most = 0;
  for (std::int32_t r = 0; r < ranks(); ++r)
    most = std::max({most, sources(Rank{r}).size(), destinations(Rank{r}).size()});
  return static_cast<std::int32_t>(most);
}

} // namespace kumihimo
