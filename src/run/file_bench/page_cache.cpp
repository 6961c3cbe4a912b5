#include "file_bench/page_cache.hpp"

#include "file_bench/system_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace kumihimo::file_bench {

Residency residency_of(const std::string& path, std::int64_t begin, std::int64_t bytes) {
  Residency found;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0) return found;
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t all = fstat(file, &about) == 0 ? about.st_size : 0;
  const std::int64_t end = bytes < 0 ? all : std::min(all, begin + bytes);
  constexpr std::int64_t window = std::int64_t{1} << 30; // mapped at once
  std::vector<unsigned char> pages;
  for (std::int64_t at = begin / page * page; at < end; at += window) {
    const auto length = static_cast<std::size_t>(std::min(window, end - at));
    void* const map = mmap(nullptr, length, PROT_READ, MAP_SHARED, file, at);
    if (map == MAP_FAILED) break;
    pages.assign((length + static_cast<std::size_t>(page) - 1) / static_cast<std::size_t>(page), 0);
    if (mincore(map, length, pages.data()) == 0) {
      found.pages += static_cast<std::int64_t>(pages.size());
      found.resident += std::count_if(pages.begin(), pages.end(), [](unsigned char each) { return (each & 1) != 0; });
    }
    munmap(map, length);
  }
  close(file);
  return found;
}

Status evict(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refused_by_system(fmt::format("{} cannot be opened", path), errno);
  static_cast<void>(fsync(file));
  static_cast<void>(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)); // residency_of() says what came of it
  close(file);
  return Nothing{};
}

Status drop_all_caches() {
  sync();
  const int file = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
  const bool is_done = file >= 0 && write(file, "3", 1) == 1;
  const int error = errno;
  if (file >= 0) close(file);
  if (is_done) return Nothing{};
  if (error == EACCES || error == EPERM || error == EROFS)
    return not_applicable("--cache drop needs root on every node", {}, "use --cache evict or --cache direct");
  return refused_by_system("/proc/sys/vm/drop_caches cannot be written", error);
}

bool is_in_memory(const std::string& folder) {
  struct statfs found {};
  if (statfs(folder.c_str(), &found) != 0) return false;
  const auto type = static_cast<unsigned long>(found.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

} // namespace kumihimo::file_bench
