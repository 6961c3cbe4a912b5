#include "mapping_run/metis.hpp"

#include "mapping/partition/halves.hpp"
#include "mapping_run/library.hpp"
#include "mapping_run/scaled.hpp"

#include <array>
#include <mutex>
#include <string>

namespace kumihimo::mapping_run {
namespace {

using Number = std::int32_t; // idx_t
constexpr std::size_t options_of_metis = 40, option_of_seed = 8, option_of_imbalance = 16;

struct MetisFunctions {
  int (*set_default_options)(Number*);
  int (*part_graph_recursive)(Number* vertices, Number* constraints, Number* first, Number* to, Number* vertex_weights,
                              Number* vertex_sizes, Number* edge_weights, Number* parts, float* shares,
                              float* imbalances, Number* options, Number* cut, Number* part);
};

class Metis final : public mapping::Partitioner {
 public:
  explicit Metis(const MetisFunctions& functions) : metis_(functions) {}
  std::string_view name() const override { return "METIS"; }

  Result<std::vector<char>> halve(const mapping::TrafficGraph& graph, std::int32_t first,
                                  std::span<const std::int64_t> pull, std::uint64_t seed) override {
    if (first == 0 || first == graph.ranks())
      return std::vector<char>(static_cast<std::size_t>(graph.ranks()), first == 0 ? 1 : 0);
    ScaledGraph scaled(graph, std::int64_t{1} << 29);
    std::array<Number, options_of_metis> options{};
    std::array<float, 8> shares{}; // room for a build with double
    Number vertices = graph.ranks(), constraints = 1, parts = 2, cut = 0;
    std::vector<Number> found(static_cast<std::size_t>(vertices));
    metis_.set_default_options(options.data());
    options[option_of_seed] = static_cast<Number>(seed & 0x7fffffff);
    options[option_of_imbalance] = 1;
    shares[0] = static_cast<float>(first) / static_cast<float>(vertices);
    shares[1] = 1 - shares[0];
    {
      const std::lock_guard alone(one_at_a_time_); // its random numbers are the C library's
      const int code = metis_.part_graph_recursive(&vertices, &constraints, scaled.first.data(), scaled.to.data(),
                                                   nullptr, nullptr, scaled.weights.data(), &parts, shares.data(),
                                                   nullptr, options.data(), &cut, found.data());
      if (code != 1) return failed("METIS could not cut the graph", "code " + std::to_string(code));
    }
    return towards_pulls({graph, first, pull}, found);
  }

 private:
  // METIS knows no pulls: the better of both ways round, then refined with them.
  static std::vector<char> towards_pulls(const mapping::Halving& halving, const std::vector<Number>& found) {
    std::vector<char> part(found.begin(), found.end()), other;
    for (const char side : part) other.push_back(static_cast<char>(1 - side));
    for (std::vector<char>* each : {&part, &other}) {
      make_exact(halving, *each);
      refine(halving, *each);
    }
    return cut_bytes(halving, other) < cut_bytes(halving, part) ? other : part;
  }

  MetisFunctions metis_;
  std::mutex one_at_a_time_;
};

} // namespace

std::unique_ptr<mapping::Partitioner> open_metis() {
  const PartitioningLibrary library = PartitioningLibrary::open({"libmetis.so.5"});
  MetisFunctions metis{};
  if (!library || !library.find("METIS_SetDefaultOptions", metis.set_default_options) ||
      !library.find("METIS_PartGraphRecursive", metis.part_graph_recursive))
    return nullptr;
  // It fills its options with -1: twice as many bytes where its integers have 64 bits.
  std::array<Number, 2 * options_of_metis> options{};
  metis.set_default_options(options.data());
  if (options.back() != 0) return nullptr;
  return std::make_unique<Metis>(metis);
}

} // namespace kumihimo::mapping_run
