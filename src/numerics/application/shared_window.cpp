#include "application/shared_window.hpp"

#include "application/common_file.hpp"
#include "shared_memory/peer_process.hpp"
#include "shared_memory/spin_wait.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>

namespace kumihimo::application {
namespace {

using shared_memory::SharedFile;

constexpr std::int64_t page = 4096;
constexpr std::chrono::milliseconds time_between_looks{250};

// At the beginning of the file, which is zero at first; the processes of all ranks follow.
struct Barrier {
  std::atomic<std::int32_t> arrived;
  std::atomic<std::int32_t> failed;
  alignas(64) std::atomic<std::uint32_t> completed; // barriers so far
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Barrier& barrier_in(std::byte* memory) { return *reinterpret_cast<Barrier*>(memory); }
shared_memory::PeerProcess* processes_in(std::byte* memory) {
  return reinterpret_cast<shared_memory::PeerProcess*>(memory + sizeof(Barrier));
}

std::int64_t in_pages(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

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
  for (std::size_t other = 0; other < group_of_rank.size(); ++other)
    if (group_of_rank[other] == group_of_rank[rank]) made->members_.push_back(static_cast<std::int32_t>(other));
  std::vector<double> parts(nodes.size());
  parts[rank] = static_cast<double>(in_pages(bytes) / page);
  parts = processes.largest(parts);
  const std::int64_t head =
      in_pages(sizeof(Barrier) + nodes.size() * static_cast<std::int64_t>(sizeof(shared_memory::PeerProcess)));
  made->bytes_ = head;
  for (std::size_t other = 0; other < parts.size(); ++other) {
    made->first_.push_back(made->bytes_);
    if (group_of_rank[other] == group_of_rank[rank]) made->bytes_ += static_cast<std::int64_t>(parts[other]) * page;
  }

  const SharedFile file = TRY(common_file(processes, made->bytes_, group_of_rank));
  // Each rank allocates and touches its own part, so that it lies near the rank.
  const std::int64_t first = made->first_[rank], own = static_cast<std::int64_t>(parts[rank]) * page;
  Status mine = rank == first_of_group[static_cast<std::size_t>(group_of_rank[rank])] ? file.allocate(0, head)
                                                                                      : Status(Nothing{});
  if (mine && own > 0) mine = file.allocate(first, own);
  if (mine) {
    if (const Result<std::byte*> mapped = file.map(made->bytes_))
      made->memory_ = *mapped;
    else
      mine = mapped.error();
  }
  if (Status s = processes.agree(mine); !s) return s.error();
  processes_in(made->memory_)[rank] = shared_memory::own_process();
  processes.barrier();
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
  if (barrier.arrived.fetch_add(1, std::memory_order_acq_rel) != static_cast<std::int32_t>(members_.size()) - 1) return;
  barrier.arrived.store(0, std::memory_order_relaxed);
  barrier.completed.store(arrivals_, std::memory_order_release);
}

Status SharedWindow::wait() {
  const Barrier& barrier = barrier_in(memory_);
  shared_memory::SpinWait spin(oversubscribed_);
  auto looks_at = std::chrono::steady_clock::now() + time_between_looks;
  while (barrier.completed.load(std::memory_order_acquire) != arrivals_) {
    if (!spin.turn() || !transport_) continue;
    transport_->poll();
    if (transport_->has_failed()) return transport_->error();
    if (barrier.failed.load(std::memory_order_relaxed) != 0) return transport::failed_elsewhere();
    const auto now = std::chrono::steady_clock::now();
    if (now < looks_at) continue;
    looks_at = now + time_between_looks;
    if (Status s = look_for_lost_members(); !s) return s;
  }
  return Nothing{};
}

// No message is under way to a member, so the transport does not look for them. One that has ended may have arrived
// before.
Status SharedWindow::look_for_lost_members() const {
  for (const std::int32_t member : members_) {
    if (!shared_memory::has_ended(processes_in(memory_)[member])) continue;
    if (barrier_in(memory_).completed.load(std::memory_order_acquire) == arrivals_) return Nothing{};
    return failed(fmt::format("the process of rank {} of the communicator has ended", member), {},
                  "see what it wrote before");
  }
  return Nothing{};
}

void SharedWindow::fail() { barrier_in(memory_).failed.store(1, std::memory_order_relaxed); }

} // namespace kumihimo::application
