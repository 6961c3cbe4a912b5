#include "fluid/graphs.hpp"

#include "fluid/network.hpp"
#include "goal/whole_operations.hpp"
#include "hosts/hosts.hpp"

#include <algorithm>

namespace kumihimo::fluid {
namespace {

// Buffers of a rank, which say what caches its messages are in: those of its longest message.
double longest_message(const goal::Graphs& graphs) {
  std::uint64_t longest = 0;
  for (const goal::Graph& graph : graphs.all())
    for (const goal::GraphOperation& of : graph.operations)
      if (of.kind == goal::Kind::send || of.kind == goal::Kind::receive) longest = std::max(longest, of.size);
  return static_cast<double>(longest);
}

hosts::Software software_of(const Machine& machine) {
  hosts::Software software = hosts::software_of(machine);
  software.packet = 1000; // gaps are in thousandths of the message's time
  const auto& time = machine.software.processor_time;
  if (time && time->value.value > 0) software.send = 0; // the network has it
  return software;
}

std::vector<ClassUse> use_of(const simulation::NetworkPaths& paths, const std::vector<double>& bytes, Time last) {
  const Topology& topology = *paths.machine().topology;
  std::vector<ClassUse> classes;
  for (const std::string& name : topology.link_classes()) classes.push_back({name});
  if (classes.empty()) classes.push_back({"all"}); // all are alike
  const double seconds = static_cast<double>(last) * 1e-12;
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    const LinkId id{static_cast<std::int64_t>(link)};
    if (!topology.is_link(id)) continue;
    ClassUse& of = classes[classes.size() == 1 ? 0 : static_cast<std::size_t>(topology.link_class(id))];
    const double share = seconds > 0 ? bytes[link] / (paths.capacities()[link] * seconds) : 0;
    ++of.links, of.mean += share, of.most = std::max(of.most, share);
  }
  for (ClassUse& of : classes)
    if (of.links > 0) of.mean /= static_cast<double>(of.links);
  return classes;
}

} // namespace

Result<FluidOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const FluidOptions& options, hosts::Observers observers) {
  const auto paths =
      TRY(simulation::NetworkPaths::make(job, graphs.ranks(), placement, false, longest_message(graphs)));
  if (Status s = hosts::check(options, job.machine, graphs.ranks()); !s) return s.error();
  Network network(paths, options.tolerance);
  const hosts::LocalCopies none; // the network carries them, too
  goal::WholeOperations operations(graphs);
  const auto with = [&](auto matching) {
    return hosts::Hosts(operations, paths.nodes(), software_of(job.machine), none, network, std::move(matching),
                        options, observers)
        .run();
  };
  FluidOutcome outcome;
  static_cast<hosts::Outcome&>(outcome) =
      TRY(graphs.has_wildcards() ? with(goal::ListMatching(graphs.ranks())) : with(goal::NearMatching(graphs.ranks())));
  outcome.messages = network.messages();
  outcome.classes = use_of(paths, network.link_bytes(), outcome.last);
  return outcome;
}

} // namespace kumihimo::fluid
