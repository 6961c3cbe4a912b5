// How the ranks of a program meet for remote memory (fabric/remote_access.hpp): by an exchange that the program gives,
// they learn who is on their node, agree on the provider, and get each other's addresses.
#pragma once

#include "fabric/node_memory.hpp"
#include "fabric/port.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kumihimo::fabric {

// `bytes` bytes of each rank, in their order. Not 0: it failed.
using AccessExchange = std::function<int(const void* mine, void* all, std::size_t bytes)>;

struct AccessOptions {
  PortOptions port;
  std::chrono::microseconds progress{100}; // between the turns of a thread; 0: no thread
};

struct OpenedAccess {
  std::unique_ptr<FabricPort> port;
  std::unique_ptr<NodeMemory> node; // of this rank
  std::vector<std::byte> cards;     // of all ranks, of one length
  AccessOptions options;
};

// Collective: every rank calls `exchange` equally often, those with wrong options too: else the others would wait.
Result<OpenedAccess> open_access(std::int32_t rank, std::int32_t ranks, const AccessExchange& exchange,
                                 const Result<AccessOptions>& asked);

} // namespace kumihimo::fabric
