#include "application/shared_window.hpp"

#include "application/common_file.hpp"
#include "shared_memory/spin_wait.hpp"
#include "threads/team.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>

namespace kumihimo::application {
namespace {

using shared_memory::SharedFile;

constexpr std::int64_t page = 4096;

// At the beginning of the file, which is zero at first.
struct Barrier {
  std::atomic<std::int32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> completed; // barriers so far
};
static_assert(sizeof(Barrier) <= page && std::atomic<std::uint32_t>::is_always_lock_free);

Barrier& barrier_in(std::byte* memory) { return *reinterpret_cast<Barrier*>(memory); }

// Whether the threads of all ranks outnumber the processors that any of them may run on.
bool is_oversubscribed(Processes& processes) {
  const std::vector<int>& own = threads::allowed_processors();
  const double highest = processes.largest({static_cast<double>(*std::max_element(own.begin(), own.end()))})[0];
  std::vector<double> allowed(static_cast<std::size_t>(highest) + 1);
  for (const int processor : own) allowed[static_cast<std::size_t>(processor)] = 1;
  allowed = processes.largest(allowed);
  return processes.total({static_cast<double>(threads::count())})[0] >
         std::accumulate(allowed.begin(), allowed.end(), 0.0);
}

} // namespace

Result<std::unique_ptr<SharedWindow>> SharedWindow::make(Processes& processes, std::int64_t bytes) {
  return make(processes, bytes, std::vector<std::int32_t>(static_cast<std::size_t>(processes.ranks())));
}

Result<std::unique_ptr<SharedWindow>> SharedWindow::make(Processes& processes, std::int64_t bytes,
                                                         const std::vector<std::int32_t>& group_of_rank) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  std::vector<std::size_t> first_of_group; // rank
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto group = static_cast<std::size_t>(group_of_rank[rank]);
    if (group >= first_of_group.size()) first_of_group.resize(group + 1, rank);
    if (nodes[first_of_group[group]] != nodes[rank])
      return not_applicable("ranks can share a window only on one node", {}, "use messages");
  }
  std::unique_ptr<SharedWindow> made(new SharedWindow(TRY(processes.transport())));
  made->oversubscribed_ = is_oversubscribed(processes);
  const auto rank = static_cast<std::size_t>(processes.rank());
  made->ranks_ = static_cast<std::int32_t>(std::ranges::count(group_of_rank, group_of_rank[rank]));
  std::vector<double> parts(nodes.size());
  parts[rank] = static_cast<double>((bytes + page - 1) / page);
  parts = processes.largest(parts);
  made->bytes_ = page;
  for (std::size_t other = 0; other < parts.size(); ++other) {
    made->first_.push_back(made->bytes_);
    if (group_of_rank[other] == group_of_rank[rank]) made->bytes_ += static_cast<std::int64_t>(parts[other]) * page;
  }

  const SharedFile file = TRY(common_file(processes, made->bytes_, group_of_rank));
  // Each rank allocates and touches its own part, so that it lies near the rank.
  const std::int64_t first = made->first_[rank], own = static_cast<std::int64_t>(parts[rank]) * page;
  Status mine = rank == first_of_group[static_cast<std::size_t>(group_of_rank[rank])] ? file.allocate(0, page)
                                                                                      : Status(Nothing{});
  if (mine && own > 0) mine = file.allocate(first, own);
  if (mine) {
    if (const Result<std::byte*> mapped = file.map(made->bytes_))
      made->memory_ = *mapped;
    else
      mine = mapped.error();
  }
  if (Status s = processes.agree(mine); !s) return s.error();
#ifdef MADV_POPULATE_WRITE // advice: without it the first use of each page is slower
  if (own > 0) static_cast<void>(madvise(made->memory_ + first, static_cast<std::size_t>(own), MADV_POPULATE_WRITE));
#endif
  return made;
}

SharedWindow::~SharedWindow() {
  if (memory_) munmap(memory_, static_cast<std::size_t>(bytes_));
}

void SharedWindow::arrive() {
  Barrier& barrier = barrier_in(memory_);
  ++arrivals_;
  if (barrier.arrived.fetch_add(1, std::memory_order_acq_rel) != ranks_ - 1) return;
  barrier.arrived.store(0, std::memory_order_relaxed);
  barrier.completed.store(arrivals_, std::memory_order_release);
}

Status SharedWindow::wait() {
  const Barrier& barrier = barrier_in(memory_);
  shared_memory::SpinWait spin(oversubscribed_);
  while (barrier.completed.load(std::memory_order_acquire) != arrivals_) {
    if (!spin.turn() || !transport_) continue;
    transport_->poll();
    if (transport_->has_failed()) return transport_->error();
  }
  return Nothing{};
}

} // namespace kumihimo::application
