#include "shared_memory/peer_process.hpp"

#include "base/hash.hpp"
#include "shared_memory/machine_number.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

namespace kumihimo::shared_memory {
namespace {

struct State {
  char state = 0; // 0: unknown; as of ps(1)
  long threads = 0;
  long long begun = 0;
  // The state is the main thread's, which may end before the others; a process that has ended has one thread.
  bool has_ended() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

// /proc/ID/stat, of which the state, and the 18th and the 20th field, are counted from behind the name, in parentheses,
// which may hold anything.
State state_of(const char* process) {
  std::array<char, 64> path{};
  std::array<char, 1024> text{};
  std::snprintf(path.data(), path.size(), "/proc/%s/stat", process);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno == ENOENT || errno == ESRCH ? 'X' : '\0'};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return {length < 0 && errno == ESRCH ? 'X' : '\0'};
  const char* at = std::strrchr(text.data(), ')');
  if (!at || at[1] != ' ') return {};
  State found{at[2]};
  constexpr int fields_before_threads = 17;
  at += 2;
  for (int i = 0; at && i < fields_before_threads; ++i) at = std::strchr(at + 1, ' ');
  if (at) std::sscanf(at, "%ld %*s %lld", &found.threads, &found.begun);
  return found;
}

// The first pid namespace has the same number on every machine, so the machine's boot counts, too.
std::int64_t own_id_space() {
  struct stat facts {};
  const std::int64_t kernel = kernel_number();
  if (kernel == no_machine_number || stat("/proc/self/ns/pid", &facts) != 0) return 0;
  return static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(kernel), facts.st_ino) >> 1);
}

} // namespace

PeerProcess own_process() { return {getpid(), own_id_space(), state_of("self").begun}; }

bool has_ended(const PeerProcess& peer) {
  static const std::int64_t here = own_id_space();
  if (here == 0 || peer.id_space != here || peer.begun == 0) return false;
  const State now = state_of(std::to_string(peer.id).c_str());
  if (now.has_ended()) return true;
  return now.begun != 0 && now.begun != peer.begun;
}

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
