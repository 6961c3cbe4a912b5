#include "application/shared_window.hpp"

#include "shared_memory/shared_file.hpp"
#include "shared_memory/spin_wait.hpp"
#include "threads/team.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <optional>

namespace kumihimo::application {
namespace {

constexpr std::int64_t page = 4096;

// At the beginning of the file, which is zero at first.
struct MeetingPlace {
  std::atomic<std::int32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> meetings;
};
static_assert(sizeof(MeetingPlace) <= page && std::atomic<std::uint32_t>::is_always_lock_free);

// A name as two numbers that doubles hold exactly, known to all ranks.
shared_memory::SharedFile::Name name_of_rank_0(Processes& processes,
                                               const std::optional<shared_memory::SharedFile>& own) {
  const auto name = static_cast<std::uint64_t>(own ? own->name() : 0);
  const std::vector<double> halves =
      processes.largest({static_cast<double>(name >> 32), static_cast<double>(name & 0xFFFFFFFFU)});
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(halves[0]) << 32 | static_cast<std::uint64_t>(halves[1]));
}

} // namespace

Result<std::unique_ptr<SharedWindow>> SharedWindow::make(Processes& processes, std::int64_t bytes) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  if (std::adjacent_find(nodes.begin(), nodes.end(), std::not_equal_to<>()) != nodes.end())
    return not_applicable("ranks can share a window only on one node", {}, "use messages");
  std::unique_ptr<SharedWindow> made(new SharedWindow);
  made->ranks_ = processes.ranks();
  made->oversubscribed_ = made->ranks_ > static_cast<std::int32_t>(threads::allowed_processors().size());
  std::vector<double> parts(static_cast<std::size_t>(made->ranks_));
  parts[static_cast<std::size_t>(processes.rank())] = static_cast<double>((bytes + page - 1) / page);
  made->bytes_ = page;
  for (const double pages : processes.largest(parts)) {
    made->first_.push_back(made->bytes_);
    made->bytes_ += static_cast<std::int64_t>(pages) * page;
  }

  std::optional<shared_memory::SharedFile> file;
  Status mine = Nothing{};
  if (processes.rank() == 0) {
    if (Result<shared_memory::SharedFile> created = shared_memory::SharedFile::create(made->bytes_))
      file.emplace(std::move(*created)), mine = file->allocate(0, made->bytes_);
    else
      mine = created.error();
  }
  if (Status s = processes.agree(mine); !s) return s.error();
  const shared_memory::SharedFile::Name name = name_of_rank_0(processes, file);
  if (processes.rank() != 0) {
    if (Result<shared_memory::SharedFile> opened = shared_memory::SharedFile::open(name))
      file.emplace(std::move(*opened));
    else
      mine = opened.error();
  }
  if (mine) {
    if (const Result<std::byte*> mapped = file->map(made->bytes_))
      made->memory_ = *mapped;
    else
      mine = mapped.error();
  }
  if (Status s = processes.agree(mine); !s) return s.error();
#ifdef MADV_POPULATE_WRITE // else the first use of each page is slow
  madvise(made->memory_, static_cast<std::size_t>(made->bytes_), MADV_POPULATE_WRITE);
#endif
  processes.barrier();
  return made;
}

SharedWindow::~SharedWindow() {
  if (memory_) munmap(memory_, static_cast<std::size_t>(bytes_));
}

void SharedWindow::arrive() {
  auto& place = *reinterpret_cast<MeetingPlace*>(memory_);
  ++meeting_;
  if (place.arrived.fetch_add(1, std::memory_order_acq_rel) != ranks_ - 1) return;
  place.arrived.store(0, std::memory_order_relaxed);
  place.meetings.store(meeting_, std::memory_order_release);
}

void SharedWindow::wait() {
  const auto& place = *reinterpret_cast<const MeetingPlace*>(memory_);
  shared_memory::SpinWait spin(oversubscribed_);
  while (place.meetings.load(std::memory_order_acquire) != meeting_) spin.turn();
}

} // namespace kumihimo::application
