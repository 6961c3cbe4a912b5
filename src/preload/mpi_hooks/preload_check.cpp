#include "mpi_hooks/preload_check.hpp"

#include "base/hash.hpp"
#include "mpi_hooks/sessions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

namespace kumihimo::mpi_hooks {
namespace {

// For processes that enter MPI_Init after others have left it. Among the known libraries only MPICH allows that, if
// sessions came first. Then they may come at any time.
constexpr std::chrono::milliseconds patience_with_marks{100}, patience_after_sessions{10'000};

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// A number of 0 or more; -1 if the text is none.
std::int32_t environment_number(const char* name) {
  const std::string_view text = environment(name);
  std::int32_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

// The process that started those of this node: the other end of their socket. Process numbers are used again, so its
// start time belongs to its name.
std::string hydra_proxy() {
  const std::int32_t socket = environment_number("PMI_FD");
  ucred other{};
  socklen_t length = sizeof other;
  if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) != 0 || other.pid <= 0) return {};
  std::ifstream file(fmt::format("/proc/{}/stat", other.pid));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(0, text.rfind(')') + 1); // of its own name, which may hold anything
  constexpr int begun = 19;           // of the numbers that follow, in ticks since the machine was started
  std::size_t at = 0;
  for (int i = 0; i <= begun && at != std::string::npos; ++i) at = text.find(' ', at + (i > 0));
  if (at == std::string::npos) return {};
  return fmt::format("hydra {}{}", other.pid, text.substr(at, text.find(' ', at + 1) - at));
}

// A folder in memory, if the node has one.
std::string list_folder() {
  struct stat facts {};
  return stat("/dev/shm", &facts) == 0 && S_ISDIR(facts.st_mode) ? "/dev/shm" : "/tmp";
}

// The part of a name by which the starter of the job finds files that it left: letters and digits; or nothing.
std::string mark_of_job() {
  const std::string_view mark = environment("KUMIHIMO_MARK");
  const bool is_one =
      !mark.empty() && std::all_of(mark.begin(), mark.end(), [](unsigned char c) { return isalnum(c); });
  return is_one ? fmt::format("{}-", mark) : "";
}

struct ProcessState {
  std::once_flag entered;
  bool has_list = false;
  std::mutex mutex;
  std::unique_ptr<PreloadCheck> list; // null: no list, or it is closed
  std::optional<bool> all_are_here;
};
ProcessState& of_process() {
  static ProcessState& kept = *new ProcessState; // used until the end of the process
  return kept;
}

} // namespace

// Processes of Hydra within a job of Open MPI have both environments. If Hydra's socket is open, Hydra is the nearer
// launcher, because Open MPI's launcher gives its processes none.
std::optional<PlaceOnNode> place_on_node() {
  PlaceOnNode place;
  std::int32_t all = -1; // of the job
  if (place.job = hydra_proxy(); !place.job.empty()) {
    if (!environment("PMI_SPAWNED").empty()) return std::nullopt;
    place.ranks = environment_number("MPI_LOCALNRANKS");
    place.rank = environment_number("MPI_LOCALRANKID");
    all = environment_number("PMI_SIZE");
  } else if (const std::string_view name = environment("PMIX_NAMESPACE"); !name.empty()) {
    place.job = fmt::format("pmix {}", name);
    for (const char* const server : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21",
                                     "PMIX_SERVER_URI2"}) // the port that it listens at tells it from the ones before
      place.job += fmt::format(" {}", environment(server));
    place.ranks = environment_number("OMPI_COMM_WORLD_LOCAL_SIZE");
    place.rank = environment_number("OMPI_COMM_WORLD_LOCAL_RANK");
    all = environment_number("OMPI_COMM_WORLD_SIZE");
  }
  if (place.job.empty() || place.ranks < 1 || place.rank < 0 || place.rank >= place.ranks) return std::nullopt;
  if (place.ranks != all) return std::nullopt;
  return place;
}

PreloadCheck::PreloadCheck(const PlaceOnNode& place)
    : path_(fmt::format("{}/kumihimo-{}-{}{:016x}", list_folder(), getuid(), mark_of_job(), hash_of(place.job))),
      ranks_(place.ranks), rank_(place.rank) {
  const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  int error = 0; // new bytes are zeros, old ones stay
  do error = posix_fallocate(file, 0, static_cast<off_t>(bytes()));
  while (error == EINTR);
  if (error == 0) {
    void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) list_ = static_cast<List*>(memory);
  }
  close(file);
  if (list_) list_->here[place.rank] = 1;
}

PreloadCheck::~PreloadCheck() {
  if (list_) munmap(list_, bytes());
}

std::int32_t PreloadCheck::absent() const {
  return static_cast<std::int32_t>(
      std::count_if(list_->here, list_->here + ranks_, [](const auto& mark) { return mark.load() == 0; }));
}

// The first decision holds for all. A process that opens the list later finds a new one, in which the earlier ones are
// missing: they were not complete without it.
bool PreloadCheck::record_verdict(Verdict found) {
  Verdict first = Verdict::none;
  const std::int32_t without_mark = absent();
  if (!list_->verdict.compare_exchange_strong(first, found)) return first == Verdict::complete;
  unlink(path_.c_str());
  if (found == Verdict::incomplete) missed_ = std::max(without_mark, 1);
  return found == Verdict::complete;
}

std::optional<bool> PreloadCheck::look() {
  if (!list_) return std::nullopt;
  if (const Verdict made = list_->verdict; made != Verdict::none) return made == Verdict::complete;
  if (absent() > 0) return std::nullopt;
  return record_verdict(Verdict::complete);
}

bool PreloadCheck::decide(std::chrono::milliseconds how_long) {
  if (!list_) return missed_ = 1, false;
  const auto end = std::chrono::steady_clock::now() + how_long;
  for (;;) {
    if (const std::optional<bool> known = look()) return *known;
    if (std::chrono::steady_clock::now() >= end) return record_verdict(Verdict::incomplete);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void PreloadCheck::enter(std::string_view object) {
  std::call_once(of_process().entered, [&] {
    if (std::optional<PlaceOnNode> place = place_on_node()) {
      place->job += fmt::format(" {}", object);
      of_process().list = std::make_unique<PreloadCheck>(*place);
      of_process().has_list = true;
    } else
      of_process().all_are_here = true;
  });
}

void PreloadCheck::leave() {
  ProcessState& m = of_process();
  const std::lock_guard lock(m.mutex);
  if (!m.list || m.all_are_here) return;
  m.all_are_here = m.list->look();
  if (m.all_are_here) m.list.reset();
}

void PreloadCheck::abandon() {
  ProcessState& m = of_process();
  const std::unique_lock lock(m.mutex, std::try_to_lock); // its holder is about to decide
  if (lock && m.list) unlink(m.list->path_.c_str());
}

bool PreloadCheck::has_list(std::string_view object) {
  enter(object);
  return of_process().has_list;
}

bool PreloadCheck::everyone_is_here(std::string_view object, std::int32_t& missed) {
  enter(object);
  leave();
  ProcessState& m = of_process();
  const std::lock_guard lock(m.mutex);
  missed = 0;
  if (!m.all_are_here) {
    m.all_are_here = m.list->decide(ProgramSessions::came_first() ? patience_after_sessions : patience_with_marks);
    missed = m.list->missed();
    m.list.reset();
  }
  return *m.all_are_here;
}

} // namespace kumihimo::mpi_hooks
