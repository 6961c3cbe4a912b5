#include "application/shared_window.hpp"

#include "shared_memory/shared_file.hpp"
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

// The names of all groups' files, each as two numbers that doubles hold exactly.
std::vector<SharedFile::Name> names_of(Processes& processes, const std::optional<SharedFile>& own, std::size_t group,
                                       std::size_t groups) {
  std::vector<double> halves(2 * groups);
  if (own) {
    const auto name = static_cast<std::uint64_t>(own->name());
    halves[2 * group] = static_cast<double>(name >> 32);
    halves[2 * group + 1] = static_cast<double>(name & 0xFFFFFFFFU);
  }
  halves = processes.largest(halves);
  std::vector<SharedFile::Name> names;
  for (std::size_t i = 0; i < groups; ++i)
    names.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(halves[2 * i]) << 32 |
                                              static_cast<std::uint64_t>(halves[2 * i + 1])));
  return names;
}

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

// The file of the first rank of each group, open on all of its ranks and without a name: if a rank is killed, the
// system frees its memory. Nothing is allocated yet. Collective.
Result<SharedFile> common_file(Processes& processes, std::int64_t bytes,
                               const std::vector<std::int32_t>& group_of_rank) {
  const auto rank = static_cast<std::size_t>(processes.rank());
  const auto group = static_cast<std::size_t>(group_of_rank[rank]);
  const bool is_first = std::ranges::find(group_of_rank, group_of_rank[rank]) - group_of_rank.begin() ==
                        static_cast<std::ptrdiff_t>(rank);
  std::optional<SharedFile> file;
  Status mine = Nothing{};
  const auto keep = [&](Result<SharedFile> opened) {
    if (opened)
      file.emplace(std::move(*opened));
    else
      mine = opened.error();
  };
  if (is_first) keep(SharedFile::create(bytes));
  if (Status s = processes.agree(mine); !s) return s.error();
  const auto groups = static_cast<std::size_t>(*std::ranges::max_element(group_of_rank)) + 1;
  const SharedFile::Name name = names_of(processes, file, group, groups)[group];
  if (!is_first) keep(SharedFile::open(name));
  if (Status s = processes.agree(mine); !s) return s.error();
  file->unlink();
  return std::move(*file);
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
