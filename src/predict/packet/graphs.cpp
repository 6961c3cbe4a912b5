#include "packet/graphs.hpp"

#include "goal/whole_operations.hpp"
#include "packet/watched_run.hpp"
#include "packet/with_network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::packet {
namespace {

struct NoPackets {
  static constexpr bool only_copies = true;
  Time next() const { return never; }
  void advance() {}
  std::uint32_t submit(Time, const RawMessage&) { return 0; }
  void stop(Time, std::int32_t) {}
  std::span<const std::uint32_t> sent() const { return {}; }
  std::span<const std::uint32_t> delivered() const { return {}; }
  DeliveredTraffic traffic() const { return {}; }
};

template <class Net>
Result<GraphOutcome> run_on(Net& network, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                            const hosts::Software& software, const hosts::LocalCopies& copies,
                            const PacketOptions& options, Observers observers) {
  goal::WholeOperations operations(graphs);
  const auto with = [&](auto matching) -> Result<GraphOutcome> {
    GraphOutcome outcome;
    static_cast<hosts::Outcome&>(outcome) =
        TRY(hosts::Hosts(operations, nodes, software, copies, network, std::move(matching), options, observers).run());
    outcome.traffic = network.traffic();
    return outcome;
  };
  return graphs.has_wildcards() ? with(goal::ListMatching(graphs.ranks())) : with(goal::NearMatching(graphs.ranks()));
}

Result<GraphOutcome> run_any(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                             const Background& background, const PacketOptions& options, Observers observers) {
  const Fabric fabric = TRY(Fabric::make(machine, options));
  if (nodes.size() != static_cast<std::size_t>(graphs.ranks()))
    return wrong_value(fmt::format("the nodes of {} ranks must be as many numbers", graphs.ranks()), nodes.size());
  for (const std::int32_t node : nodes)
    if (node < 0 || node >= machine.topology->nodes())
      return wrong_value(fmt::format("ranks must be on nodes 0 to {}", machine.topology->nodes() - 1), node);
  if (Status s = hosts::check(options, machine, graphs.ranks()); !s) return s.error();
  if (Status s = check(background, nodes, machine.topology->nodes()); !s) return s.error();
  if (!background.jobs.empty() && !options.deaths.empty())
    return not_applicable("nodes die only on a machine without background jobs", {}, "leave one of them out");
  hosts::Software software = hosts::software_of(machine);
  const auto fastest = std::min_element(fabric.speeds.begin(), fabric.speeds.end(),
                                        [](const Speed& a, const Speed& b) { return a.femtoseconds < b.femtoseconds; });
  software.packet =
      time_of(static_cast<std::uint64_t>(options.packet_bytes + options.header_bytes), fastest->femtoseconds);
  const hosts::LocalCopies copies(machine);
  return with_network(fabric, options, [&](auto& network) -> Result<GraphOutcome> {
    if (!background.jobs.empty())
      return WatchedRun(graphs, nodes, background, fabric, software, copies, network, options).run();
    return run_on(network, graphs, nodes, software, copies, options, observers);
  });
}

} // namespace

Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const PacketOptions& options, Observers observers) {
  return run_any(machine, graphs, nodes, {}, options, observers);
}

Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const Background& background, const PacketOptions& options) {
  return run_any(machine, graphs, nodes, background, options, {});
}

Result<GraphOutcome> run_ideal(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                               const std::optional<goal::NoiseModel>& noise, Observers observers) {
  NoPackets network;
  PacketOptions options;
  options.noise = noise;
  if (Status s = hosts::check(options, job.machine, graphs.ranks()); !s) return s.error();
  const auto nodes = TRY(hosts::nodes_of(job, graphs.ranks(), placement));
  hosts::Software software;
  software.slowness = hosts::software_of(job.machine).slowness;
  return run_on(network, graphs, nodes, software, {}, options, observers);
}

} // namespace kumihimo::packet
