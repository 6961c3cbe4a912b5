#include "lu_app/unequal_nodes.hpp"

#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace kumihimo::lu_app {
namespace {

using application::Runtime;

constexpr std::int64_t rows_of_sample = 384;
constexpr double seconds_of_sample = 0.3;

Result<std::vector<std::int32_t>> ranks_by_rule(const NodeWishes& wishes, std::span<const std::int32_t> cores) {
  const std::vector<lu::NodeProcesses> found = TRY(lu::processes_of_nodes(wishes.speeds, cores));
  std::vector<std::int32_t> ranks;
  for (const lu::NodeProcesses& each : found) ranks.push_back(each.processes);
  return ranks;
}

Result<NodeLayout> on_groups(const NodeWishes& wishes, std::int32_t ranks, std::span<const std::int32_t> cores) {
  const auto groups = static_cast<std::int32_t>(wishes.groups.size());
  std::vector<std::int32_t> counts(wishes.groups.size(), ranks / groups);
  if (!wishes.speeds.empty())
    counts = TRY(ranks_by_rule(wishes, cores));
  else if (ranks % groups != 0)
    return wrong_value(fmt::format("the ranks must be a multiple of the {} groups without their speeds", groups), ranks,
                       "add --set speeds=LIST");
  if (const std::int32_t needed = std::accumulate(counts.begin(), counts.end(), 0); needed != ranks)
    return wrong_value(fmt::format("these speeds need {} ranks, {} on the nodes", needed, fmt::join(counts, ", ")),
                       ranks, fmt::format("use --ranks {}", needed));
  NodeLayout layout;
  for (std::int32_t group = 0; group < groups; ++group)
    layout.node_of_rank.insert(layout.node_of_rank.end(),
                               static_cast<std::size_t>(counts[static_cast<std::size_t>(group)]), group);
  return layout;
}

Result<NodeLayout> on_nodes(const NodeWishes& wishes, std::span<const std::int64_t> node_of_rank,
                            std::span<const std::int32_t> cores) {
  NodeLayout layout;
  std::map<std::int64_t, std::int32_t> number;
  std::vector<std::int32_t> counts;
  for (const std::int64_t node : node_of_rank) {
    const auto [it, is_new] = number.try_emplace(node, static_cast<std::int32_t>(number.size()));
    if (is_new) counts.push_back(0);
    if (it->second + 1 != static_cast<std::int32_t>(counts.size()))
      return wrong_value("ranks of a node must follow each other beside speeds", fmt::format("node {}", it->second + 1),
                         "place ranks in blocks");
    ++counts.back();
    layout.node_of_rank.push_back(it->second);
  }
  if (wishes.speeds.empty()) return layout;
  const std::vector<std::int32_t> wanted = TRY(ranks_by_rule(wishes, cores));
  if (wanted != counts)
    return wrong_value(fmt::format("these speeds need {} ranks on the nodes", fmt::join(wanted, ", ")),
                       fmt::format("{}", fmt::join(counts, ", ")), "place the ranks so, or change speeds");
  return layout;
}

// Not the threads of the BLAS library, if it has some of its own.
Status bind_team(const std::vector<int>& processors) {
  Status bound = Nothing{};
  const int team = threads::count();
#pragma omp parallel num_threads(team)
  {
    const Status mine = lu::bind_thread(processors);
#pragma omp critical
    if (!mine) bound = mine;
  }
  return bound;
}

// GFLOPS of this rank while all compute.
double sampled_rate(const blas::Blas& blas, Runtime& runtime) {
  constexpr auto n = static_cast<std::size_t>(rows_of_sample);
  const std::vector<double> a(n * n, 1.0), b(n * n, 0.5);
  std::vector<double> c(n * n);
  const auto multiply = [&] {
    blas.multiply(rows_of_sample, rows_of_sample, rows_of_sample, 1, a.data(), rows_of_sample, b.data(), rows_of_sample,
                  0, c.data(), rows_of_sample);
  };
  multiply();
  runtime.processes().barrier();
  const std::int64_t begin = measure::now_ns();
  double products = 0, seconds = 0;
  while (seconds < seconds_of_sample) {
    multiply();
    ++products;
    seconds = measure::seconds_since(begin);
  }
  return products * 2 * static_cast<double>(n * n) * static_cast<double>(n) * 1e-9 / seconds;
}

std::string measured_rule(const NodeLayout& layout, std::span<const std::int32_t> cores, double rate,
                          Runtime& runtime) {
  std::vector<double> rates(static_cast<std::size_t>(layout.nodes()));
  rates[static_cast<std::size_t>(layout.node_of_rank[static_cast<std::size_t>(runtime.rank())])] = rate;
  rates = runtime.processes().total(rates);
  const Result<std::vector<lu::NodeProcesses>> found = lu::processes_of_nodes(rates, cores);
  return found ? fmt::format("measured by DGEMM, GFLOPS: {}", lu::described(rates, cores, *found))
               : found.error().sentence();
}

} // namespace

Result<NodeLayout> layout_of(const NodeWishes& wishes, std::span<const std::int64_t> node_of_rank,
                             std::span<const std::int32_t> cores) {
  if (!wishes.speeds.empty() && wishes.speeds.size() != cores.size())
    return wrong_value(fmt::format("speeds must be those of the {} nodes", cores.size()), wishes.speeds.size());
  return wishes.groups.empty() ? on_nodes(wishes, node_of_rank, cores)
                               : on_groups(wishes, static_cast<std::int32_t>(node_of_rank.size()), cores);
}

Result<std::string> settle(const NodeWishes& wishes, const blas::Blas& blas, Runtime& runtime) {
  if (!wishes.any()) return std::string();
  const std::vector<std::int64_t> node_of_rank = runtime.processes().node_of_rank();
  std::vector<std::int64_t> nodes = node_of_rank;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<std::int32_t> cores;
  if (wishes.groups.empty()) // those of the smallest node would do for all: the launcher may have bound ranks
    cores.assign(nodes.size(), static_cast<std::int32_t>(runtime.processes().largest(
                                   {static_cast<double>(threads::allowed_processors().size())})[0]));
  else
    for (const std::vector<int>& group : wishes.groups) cores.push_back(static_cast<std::int32_t>(group.size()));
  if (wishes.cores > 0) std::fill(cores.begin(), cores.end(), wishes.cores);
  const NodeLayout layout = TRY(layout_of(wishes, node_of_rank, cores));

  Status mine = Nothing{};
  if (!wishes.groups.empty()) {
    if (nodes.size() > 1)
      mine = wrong_value("groups of processors must be those of one machine", fmt::format("{} nodes", nodes.size()),
                         "leave groups out");
    else
      mine = bind_team(
          wishes.groups[static_cast<std::size_t>(layout.node_of_rank[static_cast<std::size_t>(runtime.rank())])]);
  }
  if (Status s = runtime.agree(mine); !s) return s.error();
  if (wishes.measures) return measured_rule(layout, cores, sampled_rate(blas, runtime), runtime);
  if (wishes.speeds.empty()) return std::string();
  return lu::described(wishes.speeds, cores, TRY(lu::processes_of_nodes(wishes.speeds, cores)));
}

Result<std::unique_ptr<SharedDevice>> SharedDevice::make(const std::string& what, const blas::Blas& blas,
                                                         Runtime& runtime) {
  Status alone = Nothing{};
  if (what != "gpu" && threads::count() > 1) // BLAS would use the threads of the rank for those of the device
    alone =
        wrong_value("ranks that use processors as a device must have one thread", threads::count(), "give --threads 1");
  if (Status s = runtime.agree(alone); !s) return s.error();
  std::unique_ptr<SharedDevice> made(new SharedDevice);
  made->lock_.node = TRY(application::NodeLock::make(runtime.processes()));
  Result<std::unique_ptr<lu::UpdateDevice>> device = failed("no device");
  if (what == "gpu")
    device = lu::gpu_device(made->lock_.node->local_rank(), made->lock_);
  else
    device = lu::processor_device(TRY(lu::parse_processors(what)), blas, made->lock_);
  if (Status s = runtime.agree_on(device); !s) return s.error();
  made->device_ = std::move(*device);
  return made;
}

} // namespace kumihimo::lu_app
