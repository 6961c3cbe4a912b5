#include "shared_memory/cross_memory_attach.hpp"

#include "base/hash.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace kumihimo::shared_memory {

MemoryProbe own_probe() {
  static const auto word = static_cast<std::int64_t>(
      mixed(static_cast<std::uint64_t>(getpid()),
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())));
  return {getpid(), static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&word)), word};
}

bool can_read(const MemoryProbe& probe) {
  std::int64_t word = 0;
  const RemotePiece piece{static_cast<std::uint64_t>(probe.address), sizeof word};
  const int code = RemoteReader(probe.process, {&piece, 1}).read(reinterpret_cast<std::byte*>(&word), sizeof word);
  return code == 0 && word == probe.word;
}

int RemoteReader::read(std::byte* to, std::int64_t bytes) {
  constexpr std::size_t most = 64; // pieces in one call of the system
  while (bytes > 0) {
    iovec remote[most];
    std::size_t count = 0;
    std::int64_t asked = 0;
    for (; count < std::min(most, pieces_.size()) && asked < bytes; ++count) {
      const std::int64_t behind = count == 0 ? done_ : 0;
      const std::int64_t now = std::min(bytes - asked, pieces_[count].bytes - behind);
      const std::uint64_t from = pieces_[count].address + static_cast<std::uint64_t>(behind);
      remote[count] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(from)), static_cast<std::size_t>(now)};
      asked += now;
    }
    const iovec local{to, static_cast<std::size_t>(asked)};
    const ssize_t got = process_vm_readv(static_cast<pid_t>(process_), &local, 1, remote, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EFAULT;
    advance(got);
    to += got;
    bytes -= got;
  }
  return 0;
}

void RemoteReader::advance(std::int64_t bytes) {
  for (done_ += bytes; !pieces_.empty() && done_ >= pieces_.front().bytes; pieces_ = pieces_.subspan(1))
    done_ -= pieces_.front().bytes;
}

} // namespace kumihimo::shared_memory
