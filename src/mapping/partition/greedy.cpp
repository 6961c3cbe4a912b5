#include "mapping/partition/greedy.hpp"

namespace kumihimo::mapping {
namespace {

class Greedy final : public Partitioner {
 public:
  std::string_view name() const override { return "greedy"; }
  Result<std::vector<char>> halve(const Graph& graph, std::int32_t first, std::span<const std::int64_t>,
                                  std::uint64_t) override {
    std::vector<char> part(static_cast<std::size_t>(graph.ranks()), 1);
    std::fill(part.begin(), part.begin() + first, 0);
    return part;
  }
};

} // namespace

std::unique_ptr<Partitioner> greedy_partitioner() { return std::make_unique<Greedy>(); }

} // namespace kumihimo::mapping
