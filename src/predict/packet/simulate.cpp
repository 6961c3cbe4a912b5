#include "packet/simulate.hpp"

#include "base/hash.hpp"
#include "hosts/software.hpp"
#include "packet/with_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::packet {

std::string_view name_of(Routing routing) { return routing == Routing::adaptive ? "adaptive" : "dimension_order"; }

double DeliveredTraffic::links_waiting_share() const {
  return links == 0 ? 0 : static_cast<double>(links_waited) / static_cast<double>(links);
}
double DeliveredTraffic::packets_waiting_share() const {
  return packets == 0 ? 0 : static_cast<double>(packets_waited) / static_cast<double>(packets);
}
double DeliveredTraffic::own_packets_waiting_share() const {
  const std::uint64_t own = packets - background.packets, waited = packets_waited - background.packets_waited;
  return own == 0 ? 0 : static_cast<double>(waited) / static_cast<double>(own);
}

namespace {

Status check(std::span<const RawMessage> messages, std::int32_t nodes) {
  for (const RawMessage& message : messages)
    for (const std::int32_t node : {message.from, message.to})
      if (node < 0 || node >= nodes)
        return wrong_value(fmt::format("the ends of a message must be nodes 0 to {}", nodes - 1), node);
  return Nothing{};
}

} // namespace

Result<RawOutcome> run(const Machine& machine, std::span<const RawMessage> messages, const PacketOptions& options) {
  const Fabric fabric = TRY(Fabric::make(machine, options));
  if (Status s = check(messages, machine.topology->nodes()); !s) return s.error();
  std::vector<std::uint32_t> order(messages.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return messages[a].start < messages[b].start; });
  const hosts::LocalCopies copies(machine);
  return with_network(fabric, options, [&](auto& network) -> Result<RawOutcome> {
    RawOutcome outcome{std::vector<Time>(messages.size()), {}};
    std::vector<std::uint32_t> index; // of the messages under way
    for (std::size_t next = 0; next < order.size() || network.next() != never;) {
      const Time start = next < order.size() ? messages[order[next]].start : never;
      if (start <= network.next()) {
        const std::uint32_t i = order[next++];
        if (messages[i].from == messages[i].to) {
          outcome.delivered[i] = start + copies.time(messages[i].bytes);
          continue;
        }
        const std::uint32_t id = network.submit(start, messages[i]);
        if (index.size() <= id) index.resize(id + 1);
        index[id] = i;
        continue;
      }
      const Time now = network.next();
      network.advance();
      for (const std::uint32_t id : network.delivered()) outcome.delivered[index[id]] = now;
    }
    outcome.traffic = network.traffic();
    return outcome;
  });
}

std::vector<RawMessage> uniform_random(std::int32_t nodes, std::int32_t each, std::uint64_t bytes, std::uint64_t seed) {
  std::vector<RawMessage> messages;
  messages.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(each));
  for (std::int32_t i = 0; i < each; ++i)
    for (std::int32_t node = 0; node < nodes; ++node) {
      const std::uint64_t drawn =
          mixed(mixed(mixed(0, seed), static_cast<std::uint64_t>(node)), static_cast<std::uint64_t>(i));
      const auto other = static_cast<std::int32_t>(drawn % static_cast<std::uint64_t>(std::max(1, nodes - 1)));
      messages.push_back({node, other + (other >= node), bytes, 0, 0});
    }
  return messages;
}

} // namespace kumihimo::packet
