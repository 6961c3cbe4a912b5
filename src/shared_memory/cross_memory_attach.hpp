// The memory of another process of this machine. Where the kernel lets us it copies from there (process_vm_readv(2)):
// one copy of a message, where a ring in memory that both have mapped takes two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kumihimo::shared_memory {

// What a process tells the others so that they find out whether they may read its memory. They look for the word at the
// address: in another namespace the number may be that of another process.
struct MemoryProbe {
  std::int64_t process = 0, address = 0, word = 0;
};
MemoryProbe own_probe();
bool can_read(const MemoryProbe& probe);

// A run of bytes as its own process addresses it.
struct RemotePiece {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
};

// Reads pieces of a process's memory, one after another, from the front.
class RemoteReader {
 public:
  RemoteReader(std::int64_t process, std::span<const RemotePiece> pieces) : process_(process), pieces_(pieces) {}
  // The next `bytes` bytes, which there are. 0, or the system's number of an error: then it cannot go on, and what it
  // has written is unspecified.
  int read(std::byte* to, std::int64_t bytes);

 private:
  void advance(std::int64_t bytes);

  std::int64_t process_;
  std::span<const RemotePiece> pieces_; // from the current one on
  std::int64_t done_ = 0;               // bytes of it
};

} // namespace kumihimo::shared_memory
