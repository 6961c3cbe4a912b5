// The numbers of a machine by section and key, in the order of machine files. The one list that the reader, the JSON
// and the table share: a number added here is read, written and documented everywhere.
#pragma once

#include "machine/machine.hpp"

namespace kumihimo {

// Calls visit(section, key, number) for each; a number is a Quantity or an optional Quantity, const where the machine
// is. Network, copies, LogGOPS and offload numbers only where the machine has them.
template <class SomeMachine, class Visitor>
void visit_numbers(SomeMachine& machine, Visitor&& visit) {
  if (machine.family != Family::single_node) {
    auto& network = machine.network;
    visit("network", "link_bandwidth", network.link_bandwidth);
    for (auto& link_class : network.classes) visit("network", link_class.bandwidth_key, link_class.bandwidth);
    visit("network", "link_peak", network.link_peak);
    visit("network", "hop_latency", network.hop_latency);
    for (auto& link_class : network.classes) visit("network", link_class.latency_key, link_class.latency);
    visit("network", "engines", network.engines);
    visit("network", "engine_bandwidth", network.engine_bandwidth);
    visit("network", "injection_bandwidth", network.injection_bandwidth);
    visit("network", "switch_bandwidth", network.switch_bandwidth);
    visit("network", "exchange_bandwidth", network.exchange_bandwidth);
    visit("network", "exchange_bytes", network.exchange_bytes);
    visit("network", "total_bandwidth", network.total_bandwidth);
    visit("network", "burst_bytes", network.burst_bytes);
  }
  auto& node = machine.node;
  visit("node", "ranks_per_node", node.default_ranks_per_node);
  visit("node", "cores", node.cores);
  visit("node", "memory", node.memory);
  visit("node", "last_level_cache", node.last_level_cache);
  visit("node", "memory_bandwidth", node.memory_bandwidth);
  visit("node", "reduction_rate", node.reduction_rate);
  visit("node", "reduction_rate_scalar", node.reduction_rate_scalar);
  visit("node", "reduction_cost", node.reduction_cost);
  visit("node", "cached_bytes", node.cached_bytes);
  visit("node", "reduction_rate_uncached", node.reduction_rate_uncached);
  visit("node", "scratch_kept", node.scratch_kept);
  visit("node", "scratch_rate", node.scratch_rate);
  visit("node", "flop_rate", node.flop_rate);
  visit("node", "shared_memory_bandwidth", node.shared_memory_bandwidth);
  visit("node", "shared_memory_latency", node.shared_memory_latency);
  for (auto& level : node.levels) {
    visit("node", level.bandwidth_key, level.bandwidth);
    visit("node", level.latency_key, level.latency);
    visit("node", level.link_key, level.link_bandwidth);
  }
  if (node.copies) {
    visit("copies", "send_cost", node.copies->send_cost);
    visit("copies", "slot", node.copies->slot);
    visit("copies", "copy_short", node.copies->copy_short);
    visit("copies", "streamed_bytes", node.copies->streamed_bytes);
    visit("copies", "streamed_latency", node.copies->streamed_latency);
    visit("copies", "core_cache", node.copies->core_cache);
    visit("copies", "copy_core", node.copies->copy_core);
    visit("copies", "copy_last_level", node.copies->copy_last_level);
    visit("copies", "copy_memory", node.copies->copy_memory);
    visit("copies", "stream_core", node.copies->stream_core);
    visit("copies", "stream_last_level", node.copies->stream_last_level);
    visit("copies", "stream_memory", node.copies->stream_memory);
    visit("copies", "sum_core", node.copies->sum_core);
    visit("copies", "sum_last_level", node.copies->sum_last_level);
    visit("copies", "sum_memory", node.copies->sum_memory);
    visit("copies", "processor_switch", node.copies->processor_switch);
  }
  auto& software = machine.software;
  visit("software", "message_cost", software.message_cost);
  visit("software", "relay_latency", software.relay_latency);
  visit("software", "segment_bytes", software.segment_bytes);
  visit("software", "eager_bytes", software.eager_bytes);
  visit("software", "rendezvous_latency", software.rendezvous_latency);
  visit("software", "eager_peers", software.eager_peers);
  visit("software", "eager_bytes_beyond", software.eager_bytes_beyond);
  visit("software", "processors", software.processors);
  visit("software", "processor_time", software.processor_time);
  visit("software", "receive_cost", software.receive_cost);
  visit("software", "eager_copy_rate", software.eager_copy_rate);
  visit("software", "lane_bandwidth", software.lane_bandwidth);
  visit("software", "put_setup", software.put_setup);
  visit("software", "short_put_bytes", software.short_put_bytes);
  visit("software", "short_put_latency", software.short_put_latency);
  visit("software", "register_bytes", software.register_bytes);
  visit("software", "register_latency", software.register_latency);
  visit("software", "put_latency", software.put_latency);
  visit("software", "put_sum_latency", software.put_sum_latency);
  visit("software", "put_turn_latency", software.put_turn_latency);
  visit("software", "segment_scale", software.segment_scale);
  visit("software", "unexpected_bytes", software.unexpected_bytes);
  visit("software", "input_copy_rate", software.input_copy_rate);
  visit("software", "inline_bytes", software.inline_bytes);
  visit("software", "fetch_latency", software.fetch_latency);
  visit("software", "pack_cost", software.pack_cost);
  visit("software", "pack_piece_cost", software.pack_piece_cost);
  if (machine.loggops) {
    visit("loggops", "L", machine.loggops->L);
    visit("loggops", "o", machine.loggops->o);
    visit("loggops", "g", machine.loggops->g);
    visit("loggops", "G", machine.loggops->G);
    visit("loggops", "O", machine.loggops->O);
    visit("loggops", "S", machine.loggops->S);
    visit("loggops", "R", machine.loggops->R);
    visit("loggops", "reduction_rate", machine.loggops->reduction_rate);
  }
  if (machine.offload) {
    visit("offload", "max_bytes", machine.offload->max_bytes);
    visit("offload", "max_elements", machine.offload->max_elements);
    visit("offload", "integer_operations", machine.offload->integer_operations);
    visit("offload", "float_operations", machine.offload->float_operations);
    visit("offload", "base_latency", machine.offload->base_latency);
    visit("offload", "stage_latency", machine.offload->stage_latency);
  }
}

} // namespace kumihimo
