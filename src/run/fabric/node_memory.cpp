#include "fabric/node_memory.hpp"

#include "shared_memory/signals_blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kumihimo::fabric {

// Of memory that is published; name 0: free.
struct NodeMemory::Row {
  std::atomic<std::uint64_t> name, turn; // the turn counts its uses: a name may come again
  std::int64_t bytes, file;
  std::uint64_t inode; // of the file: the number may become another file's
};

struct NodeMemory::Board {
  std::uint64_t word;
  std::array<Row, 1024> rows;
  std::array<std::atomic<std::int64_t>, flags> counts;
};

namespace {

constexpr int least_number = 256; // of a file, if the limit allows it

// Of the machine: a file is not limited by it, and taking more would end other processes.
bool exceeds_memory(std::int64_t bytes) {
  struct sysinfo facts {};
  if (sysinfo(&facts) != 0) return false;
  return static_cast<std::uint64_t>(bytes) > (std::uint64_t{facts.totalram} + facts.totalswap) * facts.mem_unit;
}

// With memory for all of it: without, a page that the system cannot give at its first use is a SIGBUS. -1: errno says
// why.
int new_file(std::int64_t bytes) {
  if (exceeds_memory(bytes)) return errno = ENOMEM, -1;
  rlimit limit{}; // beyond which the system sends a signal
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<std::uint64_t>(bytes) > limit.rlim_cur)
    return errno = EFBIG, -1;
  int file = memfd_create("kumihimo-remote-memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  // Others open it by its number later. Where a library closes a number twice, it is one of those that come and go.
  if (const int high = fcntl(file, F_DUPFD_CLOEXEC, least_number); high >= 0) close(std::exchange(file, high));
  const SignalsBlocked blocked; // at each signal, as of a profiler, older kernels give all back and begin again
  int error = 0;
  do error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error == 0) return file;
  close(file);
  return errno = error, -1;
}

// Null: the system refuses.
void* map_file(int file, std::int64_t bytes) {
  void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

int open_of(const shared_memory::PeerProcess& process, std::int64_t file) {
  std::array<char, 64> path{};
  fmt::format_to_n(path.begin(), path.size() - 1, "/proc/{}/fd/{}", process.id, file);
  return open(path.data(), O_RDWR | O_CLOEXEC);
}

} // namespace

NodeMemory::NodeMemory() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word) return;
  file_ = new_file(sizeof(Board));
  if (file_ < 0) return;
  board_ = map_board(file_);
  if (board_) board_->word = word;
}

NodeMemory::~NodeMemory() {
  for (auto& [rank, neighbour] : neighbours_) {
    for (auto& [name, mapped] : neighbour.mapped)
      if (mapped.data) munmap(mapped.data, static_cast<std::size_t>(mapped.bytes));
    if (neighbour.board) munmap(neighbour.board, sizeof(Board));
  }
  while (!own_.empty()) free(own_.begin()->first);
  if (board_) munmap(board_, sizeof(Board));
  if (file_ >= 0) close(file_);
}

NodeMemory::Board* NodeMemory::map_board(int file) { return static_cast<Board*>(map_file(file, sizeof(Board))); }

NodeMemory::Invitation NodeMemory::invitation() const {
  return {shared_memory::own_process(), board_ ? file_ : -1, board_ ? board_->word : 0};
}

void NodeMemory::meet(std::int32_t rank, const Invitation& other) {
  const std::int64_t here = shared_memory::own_process().id_space;
  if (board_ && other.file >= 0 && here != 0 && other.process.id_space == here) neighbours_[rank].invitation = other;
}

Result<std::byte*> NodeMemory::allocate(std::int64_t bytes) {
  const int file = new_file(bytes);
  void* const memory = file < 0 ? nullptr : map_file(file, bytes);
  if (!memory) {
    const int error = errno;
    if (file >= 0) close(file);
    return failed(fmt::format("cannot get {} bytes of shared memory", bytes), std::strerror(error));
  }
  auto* const data = static_cast<std::byte*>(memory);
  own_[data] = {bytes, file};
  return data;
}

void NodeMemory::publish(std::byte* data, std::uint64_t name) {
  if (!board_) return;
  Own& own = own_.at(data);
  for (Row& row : board_->rows) {
    if (row.name.load(std::memory_order_relaxed) != 0) continue;
    struct stat facts {};
    if (fstat(own.file, &facts) != 0) return;
    row.bytes = own.bytes, row.file = own.file, row.inode = facts.st_ino;
    row.turn.fetch_add(1, std::memory_order_relaxed);
    row.name.store(name, std::memory_order_release);
    own.row = &row;
    return;
  }
}

void NodeMemory::free(const std::byte* data) {
  const auto found = own_.find(data);
  Own& own = found->second;
  if (own.row) own.row->name.store(0, std::memory_order_release);
  // Others have it mapped until they map something new: its pages go now.
  fallocate(own.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(own.bytes));
  munmap(const_cast<std::byte*>(data), static_cast<std::size_t>(own.bytes));
  close(own.file);
  own_.erase(found);
}

std::int64_t NodeMemory::counted(std::int32_t flag) const {
  return board_ ? board_->counts[static_cast<std::size_t>(flag)].load(std::memory_order_acquire) : 0;
}

NodeMemory::Board* NodeMemory::board_of(Neighbour& neighbour) {
  if (neighbour.is_tried) return neighbour.board;
  neighbour.is_tried = true;
  const int file = open_of(neighbour.invitation.process, neighbour.invitation.file);
  if (file < 0) return nullptr;
  // A shorter file of another process would be a SIGBUS.
  Board* const board = lseek(file, 0, SEEK_END) == static_cast<off_t>(sizeof(Board)) ? map_board(file) : nullptr;
  close(file);
  if (!board) return nullptr;
  if (board->word == neighbour.invitation.word) return neighbour.board = board;
  munmap(board, sizeof(Board));
  return nullptr;
}

// Whether its owner has not freed it since.
bool NodeMemory::stands(const Mapped& mapped, std::uint64_t name) {
  return mapped.row->name.load(std::memory_order_acquire) == name && mapped.row->turn.load() == mapped.turn;
}

void NodeMemory::unmap_freed(Neighbour& neighbour) {
  std::erase_if(neighbour.mapped, [](const auto& entry) {
    const Mapped& mapped = entry.second;
    if (!mapped.data || mapped.holds > 0 || stands(mapped, entry.first)) return false;
    munmap(mapped.data, static_cast<std::size_t>(mapped.bytes));
    return true;
  });
}

NodeMemory::Mapped NodeMemory::map_of(Neighbour& neighbour, std::uint64_t name) {
  for (Row& row : neighbour.board->rows) {
    if (row.name.load(std::memory_order_acquire) != name) continue;
    const std::int64_t bytes = row.bytes;
    const std::uint64_t turn = row.turn.load(std::memory_order_relaxed);
    const std::uint64_t inode = row.inode;
    const int file = open_of(neighbour.invitation.process, row.file);
    if (file < 0) return {};
    struct stat facts {};
    const bool is_it = fstat(file, &facts) == 0 && facts.st_ino == inode && facts.st_size == static_cast<off_t>(bytes);
    void* const data = is_it ? map_file(file, bytes) : nullptr;
    close(file);
    if (!data) return {};
    const Mapped mapped{static_cast<std::byte*>(data), bytes, &row, turn};
    if (stands(mapped, name)) return mapped;
    munmap(data, static_cast<std::size_t>(bytes)); // it was freed meanwhile, and the file may be another
    return {};
  }
  return {};
}

std::byte* NodeMemory::find(std::int32_t rank, std::uint64_t name) {
  const auto of_rank = neighbours_.find(rank);
  if (of_rank == neighbours_.end()) return nullptr;
  Neighbour& neighbour = of_rank->second;
  if (const auto known = neighbour.mapped.find(name); known != neighbour.mapped.end()) {
    const Mapped& mapped = known->second;
    if (!mapped.data || stands(mapped, name)) return mapped.data;
  }
  unmap_freed(neighbour);
  if (neighbour.mapped.contains(name)) return nullptr; // the old one, which a copy still uses
  const Mapped mapped = board_of(neighbour) ? map_of(neighbour, name) : Mapped{};
  neighbour.mapped.emplace(name, mapped);
  return mapped.data;
}

void NodeMemory::count(std::int32_t rank, std::int32_t flag) {
  neighbours_.at(rank).board->counts[static_cast<std::size_t>(flag)].fetch_add(1, std::memory_order_release);
}

} // namespace kumihimo::fabric
