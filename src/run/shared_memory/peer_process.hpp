// Whether another process of this machine has ended: killed, say, under a launcher that lets the others go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kumihimo::shared_memory {

struct PeerProcess {
  std::int64_t id = 0;
  std::int64_t id_space = 0; // of a machine, its pid namespace: in another one the id is another process's; 0: unknown
  std::int64_t begun = 0;    // ids come again
};
PeerProcess own_process();

// True also for a zombie, false where threads outlive the main one. False for a process of another pid namespace, and
// where /proc does not say.
bool has_ended(const PeerProcess& peer);

// Cross-memory attach: reads the memory of another process of this machine (process_vm_readv(2)). One copy of a
// message, where a ring in shared memory takes two. The kernel may refuse.

// With this, other processes find out whether they can read the memory of this one: they compare the word at the
// address, because in another pid namespace the number may belong to another process.
struct MemoryProbe {
  std::int64_t process = 0, address = 0, word = 0;
};
MemoryProbe own_probe();
bool can_read(const MemoryProbe& probe);

// A run of bytes, at its address in the other process.
struct RemotePiece {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
};

// Reads pieces of a process's memory in order.
class RemoteReader {
 public:
  RemoteReader(std::int64_t process, std::span<const RemotePiece> pieces) : process_(process), pieces_(pieces) {}
  // Reads the next `bytes` bytes, which must exist. Returns 0 or errno; after an error it cannot go on, and the target
  // holds anything.
  int read(std::byte* to, std::int64_t bytes);

 private:
  void advance(std::int64_t bytes);

  std::int64_t process_;
  std::span<const RemotePiece> pieces_; // from the current one on
  std::int64_t done_ = 0;               // bytes of it
};

} // namespace kumihimo::shared_memory
