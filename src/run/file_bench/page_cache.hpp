// What of a file is in this node's memory: asked, and put out of it.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace kumihimo::file_bench {

struct Residency {
  std::int64_t pages = 0, resident = 0;
};

// Of the bytes from `begin` on, `bytes` or to the end (mincore(2)). An empty or missing file has no pages.
Residency residency_of(const std::string& path, std::int64_t begin = 0, std::int64_t bytes = -1);

// Writes what is still to be written, and lets go of the pages (fsync, posix_fadvise). Other nodes keep theirs.
Status evict(const std::string& path);

// Lets go of all clean pages, directory entries and inodes of the whole node. Error: the user is not root.
Status drop_all_caches();

// Whether the files of this folder are in memory and nowhere else (tmpfs, ramfs).
bool is_in_memory(const std::string& folder);

} // namespace kumihimo::file_bench
