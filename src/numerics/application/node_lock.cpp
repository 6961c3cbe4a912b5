#include "application/node_lock.hpp"

#include "application/common_file.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
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

  std::vector<std::int32_t> node_place; // by rank
  for (const std::int64_t each : node_of_rank) node_place.push_back(static_cast<std::int32_t>(place[each]));
  SharedFile file = TRY(common_file(processes, page, node_place));
  const bool is_first = made->local_rank_ == 0;
  Status mine = is_first ? file.allocate(0, page) : Status(Nothing{});
  if (Status s = processes.agree(mine); !s) return s.error();
  if (mine) {
    if (const Result<std::byte*> mapped = file.map(page))
      made->memory_ = *mapped;
    else
      mine = mapped.error();
  }
  if (mine && is_first) make_mutex(made->memory_);
  if (Status s = processes.agree(mine); !s) return s.error(); // all have opened it, and the mutex is made
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
