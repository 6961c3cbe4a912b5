// Whether another process of this machine has ended: killed, say, under a launcher that lets the others go on.
#pragma once

#include <cstdint>

namespace kumihimo::shared_memory {

struct PeerProcess {
  std::int64_t id = 0;
  std::int64_t id_space = 0; // pid namespace: in another one the id is another process's; 0: unknown
  std::int64_t begun = 0;    // ids come again
};
PeerProcess own_process();

// True also for a zombie. False for a process of another pid namespace, and where /proc does not say.
bool has_ended(const PeerProcess& peer);

} // namespace kumihimo::shared_memory
