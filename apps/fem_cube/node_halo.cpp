#include "fem_cube/node_halo.hpp"

#include <algorithm>

namespace kumihimo::fem_cube {

using application::GhostExchange, application::Ghosts, application::RankGrid, application::Runtime;

namespace {

constexpr std::size_t few = 4096; // nodes that one thread copies in less time than a team starts

// The layer of a rank's local nodes that lies in a direction: its own, or the ghosts beyond them. In the order of their
// places, x fastest, which the neighbour has too.
std::vector<std::int32_t> layer(const fem::NodeGrid& grid, const std::vector<std::int32_t>& numbers,
                                const std::array<int, 3>& direction, bool ghosts) {
  fem::Triple first{}, last{};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t low = grid.low[a] - grid.begin[a], high = low + grid.box[a] - 1;
    first[a] = direction[a] > 0 ? high + ghosts : direction[a] < 0 ? low - ghosts : low;
    last[a] = direction[a] == 0 ? high : first[a];
  }
  std::vector<std::int32_t> found;
  for (std::int64_t z = first[2]; z <= last[2]; ++z)
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
      for (std::int64_t x = first[0]; x <= last[0]; ++x)
        found.push_back(numbers[static_cast<std::size_t>(x + grid.extent[0] * (y + grid.extent[1] * z))]);
  return found;
}

} // namespace

NodeLists node_lists(const fem::NodeGrid& grid, const RankGrid& ranks, std::int32_t rank) {
  NodeLists lists;
  const std::vector<std::int32_t> numbers = fem::local_numbers(grid);
  const std::array<std::int32_t, 3> here = ranks.coordinates(rank);
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z) {
        const std::int32_t other = ranks.rank_at({here[0] + x, here[1] + y, here[2] + z});
        if (other < 0 || other == rank) continue;
        lists.neighbours.push_back(
            {other, layer(grid, numbers, {x, y, z}, false), layer(grid, numbers, {x, y, z}, true)});
      }
  std::sort(lists.neighbours.begin(), lists.neighbours.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return lists;
}

Result<std::unique_ptr<NodeHalo>> NodeHalo::make(const fem::NodeGrid& grid, const RankGrid& ranks, Runtime& runtime) {
  auto made = std::make_unique<NodeHalo>();
  bool equal = true;
  for (std::size_t a = 0; a < 3; ++a) equal = equal && grid.nodes[a] % ranks.ranks[a] == 0;
  if (ranks.count() == 1) return made;
  if (Status s = equal ? made->make_boxes(grid, ranks, runtime) : made->make_lists(grid, ranks, runtime); !s)
    return s.error();
  return made;
}

Status NodeHalo::make_boxes(const fem::NodeGrid& grid, const RankGrid& ranks, Runtime& runtime) {
  Halo halo;
  halo.cells = grid.box;
  halo.periodic.fill(false);
  halo.fields = 3;
  halo.points = 27;
  stride_ = halo.cells_with_ghosts();
  const fem::HaloCells cells = fem::halo_cells(grid);
  for (const fem::HaloCell& each : cells.sent) sent_.push_back({each.node, each.cell});
  for (const fem::HaloCell& each : cells.received) received_.push_back({each.node, each.cell});
  Result<threads::ThreadedArray<double>> staging = threads::ThreadedArray<double>::zeros(3 * stride_);
  if (Status s = runtime.agree_on(staging); !s) return s;
  staging_ = std::move(*staging);
  boxes_ = TRY(runtime.halo(std::move(halo), ranks));
  return Nothing{};
}

// The staging buffer: the values to be sent, neighbour by neighbour, then those received.
Status NodeHalo::make_lists(const fem::NodeGrid& grid, const RankGrid& ranks, Runtime& runtime) {
  const NodeLists lists = node_lists(grid, ranks, runtime.rank());
  Ghosts ghosts;
  std::int32_t next = 0;
  for (const NodeLists::Neighbour& each : lists.neighbours) {
    Ghosts::Neighbour& neighbour = ghosts.neighbours.emplace_back();
    neighbour.rank = each.rank;
    neighbour.received = 3 * static_cast<std::int64_t>(each.received.size());
    for (const std::int32_t node : each.sent) {
      sent_.push_back({node, next});
      for (int a = 0; a < 3; ++a) neighbour.sent.push_back(next++);
    }
  }
  ghosts.rows = next;
  std::int64_t at = next;
  for (const NodeLists::Neighbour& each : lists.neighbours)
    for (const std::int32_t node : each.received) received_.push_back({node, std::exchange(at, at + 3)});
  Result<threads::ThreadedArray<double>> staging = threads::ThreadedArray<double>::zeros(at);
  if (Status s = runtime.agree_on(staging); !s) return s;
  staging_ = std::move(*staging);
  lists_ = TRY(runtime.exchange(std::move(ghosts)));
  return Nothing{};
}

Status NodeHalo::run(double* vector) {
  if (!boxes_ && !lists_) return Nothing{};
  double* const staging = staging_.data();
  const auto places = [](const std::vector<Place>& all) { return static_cast<std::int64_t>(all.size()); };
#pragma omp parallel for schedule(static) if (sent_.size() > few)
  for (std::int64_t i = 0; i < places(sent_); ++i) {
    const Place& place = sent_[static_cast<std::size_t>(i)];
    for (int a = 0; a < 3; ++a) staging[place.at + a * stride_] = vector[3 * std::int64_t{place.node} + a];
  }
  if (Status s = boxes_ ? boxes_->run(staging) : lists_->run(staging); !s) return s;
#pragma omp parallel for schedule(static) if (received_.size() > few)
  for (std::int64_t i = 0; i < places(received_); ++i) {
    const Place& place = received_[static_cast<std::size_t>(i)];
    for (int a = 0; a < 3; ++a) vector[3 * std::int64_t{place.node} + a] = staging[place.at + a * stride_];
  }
  return Nothing{};
}

} // namespace kumihimo::fem_cube
