#include "file_bench/item_phases.hpp"

#include "file_bench/pattern.hpp"
#include "file_bench/phase_clock.hpp"
#include "file_bench/system_error.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

namespace kumihimo::file_bench {
namespace {

using mpi_job::MpiJob;
using nlohmann::json;

class ItemPhases {
 public:
  ItemPhases(const MpiJob& job, const std::string& folder, ItemCase& c)
      : job_(job), c_(c), root_(fmt::format("{}/items-{}", folder, c.name)),
        owner_((job.rank() + c.shift) % job.ranks()), bytes_(static_cast<std::size_t>(c.bytes)) {}

  Result<json> run(const std::string& what) {
    if (what == "plant") return plant();
    if (what == "clear") return clear();
    if (what == "create") return create();
    if (what == "stat") return of_each([this](const std::string& path) { return stat_item(path); });
    if (what == "read") return of_each([this](const std::string& path) { return read_item(path); });
    if (what == "rename") return rename_all();
    if (what == "remove") return of_each([this](const std::string& path) { return remove_item(path); });
    return wrong_value("a phase of items must be plant, create, stat, read, rename, remove or clear", "'" + what + "'");
  }

 private:
  std::string folder_of(std::int32_t owner) const {
    return c_.has_one_folder ? root_ : fmt::format("{}/rank-{}", root_, owner);
  }
  // The path of item `number` of `owner` is put into `path`, which has room.
  void name_item(std::string& path, std::size_t base, std::int32_t owner, std::int64_t number, bool is_renamed) const {
    path.resize(base);
    fmt::format_to(std::back_inserter(path), "/{}.{}.{}",
                   is_renamed       ? "renamed"
                   : c_.are_folders ? "dir"
                                    : "file",
                   owner, number);
  }

  static Status refused(const std::string& path, const char* what) {
    return refused_by_system(fmt::format("{} cannot be {}", path, what), errno);
  }

  // --- what is done with one item

  Status create_item(const std::string& path) {
    if (c_.are_folders) return mkdir(path.c_str(), 0777) == 0 ? Status(Nothing{}) : refused(path, "made");
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return refused(path, "made");
    Status status = Nothing{};
    for (std::size_t done = 0; status && done < bytes_.size();) {
      const ssize_t now = ::write(file, bytes_.data() + done, bytes_.size() - done);
      if (now < 0 && errno == EINTR) continue;
      if (now == 0) errno = ENOSPC;
      if (now <= 0) status = refused(path, "written");
      done += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    }
    if (status && c_.syncs && fsync(file) != 0) status = refused(path, "brought to the disk (fsync)");
    if (close(file) != 0 && status) status = refused(path, "closed");
    return status;
  }
  Status stat_item(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? Status(Nothing{}) : refused(path, "asked about (stat)");
  }
  Status read_item(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return refused(path, "opened");
    Status status = Nothing{};
    for (std::size_t done = 0; status && done < bytes_.size();) {
      const ssize_t now = ::read(file, bytes_.data() + done, bytes_.size() - done);
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) status = refused(path, "read");
      if (now == 0) status = failed(fmt::format("{} ends at byte {}", path, done), "it was written further");
      done += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    }
    if (const auto place = BytePattern(c_.seed, c_.name, owner_).first_difference(bytes_, 0); status && place)
      status = failed(fmt::format("{} differs at byte {} from what was written", path, *place));
    close(file);
    return status;
  }
  Status remove_item(const std::string& path) {
    const int code = c_.are_folders ? rmdir(path.c_str()) : unlink(path.c_str());
    return code == 0 ? Status(Nothing{}) : refused(path, "removed");
  }

  // --- phases

  json rate_of(const PhaseClock& clock, double begin, double end, std::int64_t mine) const {
    const double items = job_.sum({static_cast<double>(mine)})[0];
    return {{"items", static_cast<std::int64_t>(items)}, {"seconds", clock.span(begin, end)}};
  }

  Result<json> of_each(const std::function<Status(const std::string&)>& work) {
    std::string path = folder_of(owner_);
    const std::size_t base = path.size();
    const PhaseClock clock(job_);
    Status status = Nothing{};
    const double begin = clock.now();
    for (std::int64_t i = 0; i < c_.per_rank && status; ++i) {
      name_item(path, base, owner_, i, c_.are_renamed);
      status = work(path);
    }
    const double end = clock.now();
    if (Status s = job_.agree(status); !s) return s.error();
    return rate_of(clock, begin, end, c_.per_rank);
  }

  Result<json> create() {
    c_.are_renamed = false;
    BytePattern(c_.seed, c_.name, job_.rank()).fill(bytes_, 0);
    std::string path = folder_of(job_.rank());
    const std::size_t base = path.size();
    const PhaseClock clock(job_);
    Status status = Nothing{};
    const double begin = clock.now();
    std::int64_t done = 0;
    const auto make_next = [&] {
      name_item(path, base, job_.rank(), done, false);
      status = create_item(path);
      if (status) ++done;
    };
    while (done < c_.per_rank && status && (c_.limit <= 0 || clock.now() - begin < c_.limit)) make_next();
    const double at_limit = clock.now();
    const std::int64_t done_at_limit = done;
    if (c_.limit > 0) {
      const auto most = static_cast<std::int64_t>(job_.largest({static_cast<double>(done)})[0]);
      while (done < most && status) make_next();
      c_.per_rank = most; // the phases that follow know how many there are
    }
    const double end = clock.now();
    if (Status s = job_.agree(status); !s) return s.error();
    json found = rate_of(clock, begin, end, done);
    if (c_.limit > 0) {
      found["limit_seconds"] = clock.span(begin, at_limit);
      found["items_at_limit"] = static_cast<std::int64_t>(job_.sum({static_cast<double>(done_at_limit)})[0]);
    }
    return found;
  }

  Result<json> rename_all() {
    std::string to = folder_of(owner_);
    const std::size_t base = to.size();
    std::int64_t number = 0;
    Result<json> found = of_each([&](const std::string& path) -> Status {
      name_item(to, base, owner_, number++, true);
      return ::rename(path.c_str(), to.c_str()) == 0 ? Status(Nothing{}) : refused(path, "renamed");
    });
    if (found) c_.are_renamed = true;
    return found;
  }

  // The root by rank 0, then each rank's own.
  Result<json> plant() {
    const PhaseClock clock(job_);
    const double begin = clock.now();
    Status status = Nothing{};
    if (job_.rank() == 0 && mkdir(root_.c_str(), 0777) != 0) status = refused(root_, "made");
    if (Status s = job_.agree(status); !s) return s.error();
    if (const std::string own = folder_of(job_.rank()); !c_.has_one_folder && mkdir(own.c_str(), 0777) != 0)
      status = refused(own, "made");
    const double end = clock.now();
    if (Status s = job_.agree(status); !s) return s.error();
    return rate_of(clock, begin, end, folders_of_this_rank());
  }

  Result<json> clear() {
    const PhaseClock clock(job_);
    const double begin = clock.now();
    Status status = Nothing{};
    if (const std::string own = folder_of(job_.rank()); !c_.has_one_folder && rmdir(own.c_str()) != 0)
      status = refused(own, "removed");
    if (Status s = job_.agree(status); !s) return s.error();
    if (job_.rank() == 0 && rmdir(root_.c_str()) != 0) status = refused(root_, "removed");
    const double end = clock.now();
    if (Status s = job_.agree(status); !s) return s.error();
    return rate_of(clock, begin, end, folders_of_this_rank());
  }
  std::int64_t folders_of_this_rank() const { return (job_.rank() == 0 ? 1 : 0) + (c_.has_one_folder ? 0 : 1); }

  const MpiJob& job_;
  ItemCase& c_;
  std::string root_;
  std::int32_t owner_;
  std::vector<std::byte> bytes_;
};

// Of one folder; each rank asks about its part.
struct FoundItems {
  std::int64_t seen = 0, matches = 0;
};

// Some file systems do not say it in the entry.
bool is_folder(const dirent& entry, const std::string& path) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

Status find_below(const MpiJob& job, const std::string& folder, const std::string& part, std::int64_t bytes,
                  FoundItems& found) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  if (!open) return refused_by_system(fmt::format("{} cannot be listed", folder), errno);
  for (std::int64_t number = 0;;) {
    errno = 0;
    const dirent* const entry = readdir(open.get());
    if (!entry && errno != 0) return refused_by_system(fmt::format("{} cannot be listed", folder), errno);
    if (!entry) return Nothing{};
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string path = folder + "/" + name;
    if (is_folder(*entry, path)) {
      if (Status s = find_below(job, path, part, bytes, found); !s) return s;
      continue;
    }
    if (number++ % job.ranks() != job.rank()) continue;
    ++found.seen;
    struct stat about {};
    if (name.find(part) != std::string::npos && stat(path.c_str(), &about) == 0 && about.st_size == bytes)
      ++found.matches;
  }
}

} // namespace

Result<ItemCase> parse_item_case(const json& given) {
  ItemCase c;
  c.name = given.at("name").get<std::string>();
  c.are_folders = given.value("folders", false);
  c.has_one_folder = given.value("one_folder", false);
  c.per_rank = given.value("per_rank", std::int64_t{1000});
  c.bytes = given.value("bytes", std::int64_t{0});
  c.syncs = given.value("sync", false);
  c.shift = given.value("shift", 0);
  c.limit = given.value("limit", 0.0);
  c.seed = given.value("seed", std::uint64_t{1});
  if (c.per_rank < 1 || c.bytes < 0 || c.bytes > (std::int64_t{1} << 30) || c.shift < 0 || c.limit < 0)
    return wrong_value("items must be at least 1 a rank, of at most 1 GiB", c.per_rank);
  return c;
}

Result<json> run_item_phase(const MpiJob& job, const std::string& folder, ItemCase& c, const std::string& what) {
  return ItemPhases(job, folder, c).run(what);
}

Result<json> find_items(const MpiJob& job, const std::string& folder, const std::string& part, std::int64_t bytes) {
  const PhaseClock clock(job);
  FoundItems found;
  const double begin = clock.now();
  const Status status = find_below(job, folder, part, bytes, found);
  const double end = clock.now();
  if (Status s = job.agree(status); !s) return s.error();
  const std::vector<double> all = job.sum({static_cast<double>(found.seen), static_cast<double>(found.matches)});
  return json{{"items", static_cast<std::int64_t>(all[0])},
              {"matches", static_cast<std::int64_t>(all[1])},
              {"seconds", clock.span(begin, end)}};
}

} // namespace kumihimo::file_bench
