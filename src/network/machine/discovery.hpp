// This machine: what hwloc says of the host, and what a calibration measured on it, as a Machine of one node.
#pragma once

#include "machine/machine.hpp"

#include <span>

namespace kumihimo {

struct Host {
  std::string processor; // "AMD EPYC 7B13", empty where the system does not say
  std::int64_t cores = 1;
  std::int64_t hardware_threads = 1;
  std::int64_t numa_nodes = 1;
  Bytes memory;
  std::optional<Bytes> last_level_cache; // one of them; none where the system does not say
  std::optional<Bytes> core_cache;       // the largest that serves one core
  // Of cores, outermost first: packages, NUMA nodes, shared caches.
  std::vector<Level> levels;
  // Left out:
  std::vector<Level> not_nested; // they do not divide the level around them, or not all of it
  std::vector<Level> unnamed;    // groups and dies, of other cores than the levels
  std::vector<Level> uneven;     // objects of one kind with different numbers of cores: an entry for each number
};

// One object of a node: hwloc found it, or wrote it as XML. Its units are the numbers of the processing units in it.
struct NodePart {
  enum class Kind : std::uint8_t { package, die, group, numa, l3, l2, l1, core, unit };
  Kind kind = Kind::unit;
  std::vector<std::int32_t> units; // those that may be used; none: the part has memory alone
  std::int64_t bytes = 0;          // of a cache
};
std::optional<NodePart::Kind> node_part_of(std::string_view name); // "numa"

// A processing unit outside every core stands for a core: some systems list no cores. Pure.
Host host_of(std::string processor, Bytes memory, std::span<const NodePart> parts);

// Of the whole machine as far as this process may use it. Errors: hwloc cannot read the system.
Result<Host> discover_host();

// Figures taken on this host by a calibration run; `method` says how, and becomes the numbers' source.
struct Calibration {
  std::string method;
  std::int64_t ranks = 1; // processes of a job on this node
  BytesPerSecond memory_bandwidth;
  BytesPerSecond copy_bandwidth; // one rank copying from another rank's buffer
  Seconds message_latency;       // between two ranks
  BytesPerSecond reduction_rate;
  BytesPerSecond reduction_rate_scalar;
  Seconds message_cost;
  Seconds relay_latency;
  Bytes segment_bytes; // chosen, not measured
};

// Pure. Errors: a figure that is not positive and finite; levels that do not nest.
Result<Machine> this_machine(const Host& host, const Calibration& calibration);

} // namespace kumihimo
