// The fluid of graphs (fluid/network.hpp) of the programs of a set, solved at each start and end.
#include "fluid/network.hpp"
#include "fluid/peers.hpp"
#include "goal/program_segments.hpp"
#include "hosts/hosts.hpp"
#include "program/phases.hpp"
#include "simulate/call.hpp"
#include "simulate/models.hpp"
#include "simulate/offload.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::simulation {
namespace {

constexpr std::int64_t most_operations = std::int64_t{1} << 25; // under way: some 4 GiB

goal::WorkRates rates_of(const NetworkPaths& network) {
  goal::WorkRates rates;
  rates.most = most_operations, rates.in_bytes = true;
  rates.seconds_of = [&network](const Work& work, Rank rank) -> Result<double> {
    if (Status can = network.can_compute(work); !can) return can.error();
    return network.seconds_of(work, rank.value);
  };
  return rates;
}

SchedulePrediction described(const ProgramSet& set, const goal::ProgramSegments& programs, const fluid::Network& ran,
                             const NetworkPaths& network, const Phases& phases, Lanes lanes) {
  SchedulePrediction p;
  p.model = ScheduleModel::exact;
  for (std::int32_t i = 0; i < phases.count(); ++i) p.phases.emplace_back().name = phases.name(i);
  std::vector<goal::Time> ends(p.phases.size());
  for (std::int32_t rank = 0; rank < programs.ranks(); ++rank) {
    p.compute = {std::max(p.compute.value, ran.reduced(rank))};
    for (std::size_t l = 0; l < programs.program(rank).lanes.size(); ++l) {
      goal::Time& end = ends[phases.phase(phases.index_of(programs.program(rank).lanes[l].id))];
      end = std::max(end, programs.end(rank, l));
    }
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double end = static_cast<double>(ends[i]) * 1e-12;
    p.phases[i].seconds = {std::max(0.0, end - p.seconds.value)};
    p.seconds = {std::max(p.seconds.value, end)};
  }
  add_setup(set, network, lanes, p);
  p.links = network.machine().topology->links();
  p.link_bytes = ran.link_bytes();
  for (const double bytes : p.link_bytes) {
    p.link_bytes_sum += bytes;
    p.link_bytes_max = std::max(p.link_bytes_max, bytes);
  }
  const auto waiting = std::count(ran.waiting().begin(), ran.waiting().end(), 1);
  p.links_waiting_share = p.links == 0 ? 0 : static_cast<double>(waiting) / static_cast<double>(p.links);
  return p;
}

} // namespace

Result<SchedulePrediction> predict_exact(const ProgramSet& set, const NetworkPaths& network,
                                         const std::optional<goal::NoiseModel>& noise) {
  if (set.ranks() > exact_rank_limit)
    return wrong_value(fmt::format("the exact model takes at most {} ranks", exact_rank_limit), set.ranks(),
                       "use the flow model");
  goal::ProgramSegments programs(set, rates_of(network));
  if (Status s = programs.status(); !s) return s.error();
  Phases phases;
  fluid::OfPrograms of;
  bool sums = false;
  std::optional<std::int64_t> offloaded; // bytes of the largest
  for (std::int32_t rank = 0; rank < set.ranks(); ++rank) {
    const Program& program = programs.program(rank);
    phases.add(program);
    offloaded = std::max(offloaded, largest_offload(set, Rank{rank}, program)); // none is least
    of.many_peers.push_back(network.has_many_peers(program));
    sums = sums || sums_up(program);
  }
  phases.find();
  if (Status can = network.can_offload(*set.data, offloaded); !can) return can.error();
  if (phases.has_concurrent_lanes()) of.lanes = sums ? Lanes::summing : Lanes::concurrent;

  fluid::Network ran(network, fluid::no_tolerance, of);
  hosts::HostsOptions options;
  options.waits_for_receive = true, options.noise = noise;
  if (Status s = hosts::check(options, network.machine(), set.ranks()); !s) return s.error();
  const auto outcome = TRY(hosts::Hosts(programs, network.nodes(), hosts::Software(), hosts::LocalCopies(), ran,
                                        goal::NearMatching(set.ranks()), options)
                               .run());
  if (const auto& unequal = outcome.unequal) {
    const LaneId lane = programs.program(unequal->sender).lanes[unequal->lane].id;
    const auto elements = [&](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes) / set.data->type_bytes; };
    return unequal_lengths(
        {unequal->sender, unequal->receiver, lane.value, elements(unequal->sent), elements(unequal->expected)});
  }
  if (programs.unfinished_lanes() > 0) return does_not_end(programs.unfinished_lanes());
  return described(set, programs, ran, network, phases, of.lanes);
}

} // namespace kumihimo::simulation
