#include "random_case.hpp"

#include "placement/orders.hpp"
#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/single_node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace kumihimo::simulate_test {

Result<Schedule> RandomCase::schedule(std::int64_t with_bytes) const {
  const RankSpace space = placement ? job.rank_space(*placement) : job.rank_space();
  Collective c = make_collective(variant->kind, space.ranks(), with_bytes / size_of(type), type, Operation::sum,
                                 variant->kind->has_root() ? root : Rank{0}, in_place);
  if (!counts.empty()) c = TRY(with_counts(c, TRY(spread_counts(counts, c))));
  return variant->build(c, space, parameters);
}

std::string RandomCase::text() const {
  const Machine& m = job.machine;
  std::string s =
      fmt::format("{} {} --machine {} on {} --bytes {} --type {}", name_of(variant->kind), variant->name, m.name,
                  m.shape.text().empty() ? m.topology->name() : m.shape.text(), bytes, name_of(type));
  std::vector<std::int32_t> sizes;
  for (std::int32_t node = 0; node < m.topology->nodes(); ++node) sizes.push_back(job.slots.on(NodeId{node}));
  const bool equal = std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  if (!equal) s += fmt::format(" with {} ranks on its nodes", fmt::join(sizes, ","));
  if (equal && sizes.front() > 1) s += fmt::format(" --ranks-per-node {}", sizes.front());
  for (const Level& level : m.levels) s += fmt::format(" in groups of {}", level.size);
  if (root.value > 0) s += fmt::format(" --root {}", root.value);
  if (!order.empty()) s += " --order " + order;
  if (!counts.empty()) s += " --counts " + counts;
  if (in_place) s += " --in-place";
  for (const ParameterDeclaration& p : declared_parameters)
    if (p.is_given(parameters)) s += " " + p.text(parameters);
  return s;
}

std::int64_t RandomCases::spread(std::int64_t least, std::int64_t most) {
  return std::llround(std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random_)));
}

// Few ranks mostly: what goes wrong shows there, and the exact solution is quick.
std::string RandomCases::shape() {
  const std::int64_t most = one_in(40) ? 256 : one_in(6) ? 96 : 32, dimensions = between(1, 3);
  for (;;) {
    std::string text;
    std::int64_t places = 1;
    const bool meshes = one_in(4);
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const std::int64_t length = spread(2, std::min<std::int64_t>(most, dimensions == 1 ? 64 : 24));
      places *= length;
      text += fmt::format("{}{}{}", d > 0 ? "x" : "", length, meshes && one_in(2) ? "m" : "");
    }
    if (places <= most) return text;
  }
}

Machine RandomCases::on_a_torus() {
  constexpr const char* names[] = {"k-computer", "k-computer", "fugaku", "hector-2a"};
  return described(names[between(0, 3)], shape());
}

// Full and tapered trees, and dragonflies by either routing; the last switch may have fewer nodes than the others.
Machine RandomCases::on_switches() {
  const auto small = [&](std::int64_t most) { return static_cast<std::int32_t>(between(1, most)); };
  Machine m = shipped(one_in(2) ? "reedbush-u" : "leonardo");
  TopologyPtr network;
  while (!network) {
    if (one_in(2)) {
      std::vector<FatTree::Tier> tiers{{small(8), 1, small(2)}};
      for (std::int64_t higher = between(0, 2); higher > 0; --higher) tiers.push_back({small(4), small(4), 1});
      std::int32_t places = 1;
      for (const FatTree::Tier& tier : tiers) places *= tier.children;
      if (places < 2 || places > 64) continue;
      m.family = Family::fat_tree;
      const FatTree tree = *FatTree::make(tiers, std::max(2, places - small(3) + 1));
      network = tree.routed(one_in(2) ? "ecmp" : "d_mod_k");
    } else {
      const Dragonfly::Counts counts{small(5), small(4), 0, small(4), 1, small(3)};
      const std::int32_t places = counts.groups * counts.routers * counts.nodes_per_router;
      if (places < 2 || places > 64) continue;
      m.family = Family::dragonfly;
      const Dragonfly fly = *Dragonfly::make(counts, std::max(2, places - small(3) + 1));
      network = fly.routed(one_in(3) ? "valiant" : "minimal");
    }
  }
  m.shape = Shape();
  m.set_topology(std::move(network));
  return m;
}

// Of 4 to 32 cores in packages and caches, each level with rates of its own or those of the one around it.
Machine RandomCases::of_levels() {
  Machine m = described("fugaku", "2");
  m.family = Family::single_node;
  m.shape = Shape();
  m.set_topology(std::make_shared<SingleNode>());
  m.torus = nullptr;
  const std::int64_t caches = between(1, 2), packages = between(2, 4), cores = between(2, 4);
  m.node.default_ranks_per_node.value = m.node.cores.value = caches * packages * cores;
  std::vector<Level> levels{{"package", static_cast<std::int32_t>(caches * cores)}};
  if (caches > 1) levels.push_back({"l3", static_cast<std::int32_t>(cores)});
  EXPECT_TRUE(m.set_levels(std::move(levels)).ok());
  const auto rate = [&](double least) {
    const double factor = static_cast<double>(spread(10, 40)) / 10;
    return Quantity<BytesPerSecond>{{least * factor}, Provenance::assumed, "drawn"};
  };
  const double least = m.node.shared_memory_bandwidth.value.value;
  for (LevelNumbers& level : m.node.levels) {
    if (one_in(2)) level.bandwidth = rate(least);
    if (one_in(2)) level.link_bandwidth = rate(least / 2);
  }
  return m;
}

Job RandomCases::job() {
  const std::int64_t kind = between(0, 9);
  if (kind == 0) return of_levels();
  const Machine m = kind <= 3 ? on_switches() : on_a_torus();
  constexpr std::int64_t most = 512; // ranks of the exact model
  const std::int64_t nodes = m.topology->nodes();
  if (one_in(6)) {
    std::vector<std::int32_t> sizes;
    for (std::int64_t node = 0; node < nodes; ++node) sizes.push_back(static_cast<std::int32_t>(between(1, 5)));
    if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) <= most) return *Job::with_node_sizes(m, sizes);
  }
  const std::int64_t each = m.name == "k-computer" ? 1 : std::int64_t{1} << between(0, 2);
  return *Job::with_ranks_per_node(m, nodes * each > most ? 1 : each);
}

Parameters RandomCases::parameters(const Variant& variant) {
  Parameters p;
  for (const Variant::Parameter& known : variant.parameters) {
    if (known.parameter == &parameter::segment_bytes && one_in(2)) p.segments = spread(1, 32);
    if (known.parameter == &parameter::window && one_in(2)) p.window = spread(1, 16);
    if (known.parameter == &parameter::throttle && one_in(2)) p.throttle = spread(1, 16);
    if (known.parameter == &parameter::send_window && of_windows_() % 3 == 0) p.send_window = 1 + of_windows_() % 16;
    if (known.parameter == &parameter::receive_window && of_windows_() % 3 == 0)
      p.receive_window = 1 + of_windows_() % 16;
    if (known.parameter == &parameter::radix && one_in(2)) p.radix = between(2, 6);
    if (known.parameter == &parameter::overlap && one_in(2)) p.overlap = true;
  }
  if (p.send_window && p.receive_window) p.throttle.reset(); // the three exclude each other
  return p;
}

RandomCase RandomCases::next() {
  const auto& variants = Registry::standard().variants();
  const auto* const variant =
      &variants[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(variants.size()) - 1))];
  RandomCase c{variant, job()};
  c.type = one_in(3) ? DataType::float32 : DataType::float64;
  const std::int64_t element = size_of(c.type);
  const CollectiveKind kind = variant->kind;
  c.bytes = spread(1, (kind->is_vector() ? 4 << 20 : 256 << 10) / element) * element;
  if (c.bytes / element % 3 == 0) { // drawn by the length, so that other cases stay as they were
    c.job.machine.software.eager_bytes = Quantity<Bytes>{{1 + c.bytes / 8}};
    c.job.machine.software.rendezvous_latency = Quantity<Seconds>{{5e-6}};
  }
  c.root = Rank{static_cast<std::int32_t>(one_in(2) ? 0 : between(0, c.job.rank_space().ranks() - 1))};
  c.parameters = parameters(*variant);
  if (one_in(4)) {
    constexpr const char* orders[] = {"round-robin", "reversed-axes"};
    const std::string order = one_in(2) ? fmt::format("random:{}", between(1, 1000)) : orders[between(0, 1)];
    const auto placed = placement_in_order(order, c.job.slots, c.job.machine.shape);
    if (placed) c.placement = *placed, c.order = order; // reversed axes need some
  }
  if (kind->irregular != Known::uniform && one_in(4)) {
    constexpr const char* spreads[] = {"zeros", "one_huge", "ramp"};
    c.counts = one_in(2) ? fmt::format("random:{}", between(1, 1000)) : spreads[between(0, 2)];
  }
  c.in_place = kind->may_be_in_place() && one_in(5);
  return c;
}

RandomCase RandomCases::looped() {
  using Kind = CollectiveKind;
  constexpr std::pair<Kind, const char*> algorithms[] = {{Kind::alltoall, "pairwise"},
                                                         {Kind::alltoall, "linear"},
                                                         {Kind::alltoall, "paced"},
                                                         {Kind::reduce_scatter, "pairwise"},
                                                         {Kind::allreduce, "pairwise"}};
  constexpr const char* shapes[] = {"16", "5x4", "4x4x3", "6x5", "8x4", "3x3x4"};
  constexpr const char* machines[] = {"k-computer", "fugaku", "hector-2a"};
  const auto one_of = [&](const auto& all) { return all[static_cast<std::size_t>(between(0, std::ssize(all) - 1))]; };
  const auto [kind, name] = one_of(algorithms);
  const char* const torus = one_of(shapes);
  RandomCase c{&algorithm(name, kind), *Job::with_ranks_per_node(described(one_of(machines), torus), 1)};
  c.bytes = std::int64_t{8} << between(0, 15);
  return c;
}

RandomCase RandomCases::usual() {
  const auto& variants = Registry::standard().variants();
  const Variant& variant = variants[static_cast<std::size_t>(between(0, std::ssize(variants) - 1))];
  constexpr const char* tori[] = {"k-computer", "fugaku", "fugaku", "hector-2a", "blue-waters", "intrepid", "tpu-v4"};
  const Machine m = one_in(4) ? on_switches() : described(tori[between(0, std::ssize(tori) - 1)], shape());
  const std::int64_t each = m.name == "k-computer" || one_in(2) ? 1 : std::int64_t{1} << between(1, 3);
  RandomCase c{&variant, *Job::with_ranks_per_node(m, each)};
  c.bytes = std::int64_t{8} << between(0, variant.kind->is_vector() ? 21 : 16);
  if (one_in(4)) c.parameters = parameters(variant);
  return c;
}

} // namespace kumihimo::simulate_test
