// This machine: what hwloc says of the host, and what a calibration measured on it, as a Machine of one node.
#pragma once

#include "machine/machine.hpp"

namespace kumihimo {

struct Host {
  std::string processor; // "AMD EPYC 7B13", empty where the system does not say
  std::int64_t cores = 1;
  std::int64_t hardware_threads = 1;
  std::int64_t numa_nodes = 1;
  Bytes memory;
  std::optional<Bytes> last_level_cache; // one of them; none where the system does not say
  std::optional<Bytes> core_cache;       // the largest that serves one core
  // Of cores, outermost first: packages, NUMA nodes, shared caches; those of unequal size left out.
  std::vector<Level> levels;
  std::vector<Level> not_nested; // left out because they do not nest in the level around them
  std::vector<Level> unnamed;    // groups and dies, of other cores than the levels: left out too
};

// Of the whole machine as far as this process may use it. Errors: hwloc cannot read the system.
Result<Host> discover_host();
// What hwloc wrote of another host as XML (lstopo --of xml). Errors: no such file, or no topology of hwloc.
Result<Host> read_host(const std::string& xml_path);

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
