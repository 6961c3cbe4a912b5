#include "application/node_lock.hpp"

#include "shared_memory/shared_file.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <vector>

namespace kumihimo::application {
namespace {

using shared_memory::SharedFile;

constexpr std::int64_t page = 4096;

pthread_mutex_t& mutex_in(std::byte* memory) { return *reinterpret_cast<pthread_mutex_t*>(memory); }

void make_mutex(std::byte* memory) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex_in(memory), &kind);
  pthread_mutexattr_destroy(&kind);
}

} // namespace

Result<std::unique_ptr<NodeLock>> NodeLock::make(Processes& processes) {
  std::unique_ptr<NodeLock> made(new NodeLock);
  const std::vector<std::int64_t> node_of_rank = processes.node_of_rank();
  const auto rank = static_cast<std::size_t>(processes.rank());
  const std::int64_t node = node_of_rank[rank];
  std::map<std::int64_t, std::size_t> place; // of a node among all
  for (const std::int64_t each : node_of_rank) place.try_emplace(each, place.size());
  for (std::size_t other = 0; other < node_of_rank.size(); ++other)
    if (node_of_rank[other] == node && other < rank) ++made->local_rank_;
  made->local_ranks_ = static_cast<std::int32_t>(std::count(node_of_rank.begin(), node_of_rank.end(), node));

  std::optional<SharedFile> file;
  Status mine = Nothing{};
  const auto keep = [&](Result<SharedFile> opened) {
    if (opened)
      file.emplace(std::move(*opened));
    else
      mine = opened.error();
  };
  const bool is_first = made->local_rank_ == 0;
  if (is_first) keep(SharedFile::create(page));
  if (mine && is_first) mine = file->allocate(0, page);
  if (Status s = processes.agree(mine); !s) return s.error();
  // The names of all nodes' files, as two numbers that doubles hold exactly.
  std::vector<double> halves(2 * place.size());
  const std::size_t at = 2 * place[node];
  if (is_first) {
    const auto name = static_cast<std::uint64_t>(file->name());
    halves[at] = static_cast<double>(name >> 32);
    halves[at + 1] = static_cast<double>(name & 0xFFFFFFFFU);
  }
  halves = processes.largest(halves);
  if (!is_first)
    keep(SharedFile::open(static_cast<std::int64_t>(static_cast<std::uint64_t>(halves[at]) << 32 |
                                                    static_cast<std::uint64_t>(halves[at + 1]))));
  if (mine) {
    if (const Result<std::byte*> mapped = file->map(page))
      made->memory_ = *mapped;
    else
      mine = mapped.error();
  }
  if (mine && is_first) make_mutex(made->memory_);
  if (Status s = processes.agree(mine); !s) return s.error(); // all have opened it, and the mutex is made
  file->unlink();
  return made;
}

NodeLock::~NodeLock() {
  if (memory_) munmap(memory_, page);
}

void NodeLock::lock() {
  if (pthread_mutex_lock(&mutex_in(memory_)) == EOWNERDEAD) pthread_mutex_consistent(&mutex_in(memory_));
}

void NodeLock::unlock() { pthread_mutex_unlock(&mutex_in(memory_)); }

} // namespace kumihimo::application
