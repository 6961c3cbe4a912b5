#include "threads/array.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace kumihimo::threads {

constexpr std::int64_t page = 4096, huge_page = std::int64_t{2} << 20;

void* allocate_zeros(std::int64_t bytes) {
  if (bytes <= 0 || bytes > std::int64_t{1} << 46) return nullptr;
  // Long arrays ask for huge pages: a sparse product walks many of them at a time, more than the TLB knows.
  const std::int64_t alignment = bytes >= 2 * huge_page ? huge_page : page;
  const std::int64_t pages = (bytes + alignment - 1) / alignment * (alignment / page);
  const auto size = static_cast<std::size_t>(pages * page);
  char* const memory = static_cast<char*>(std::aligned_alloc(static_cast<std::size_t>(alignment), size));
  if (!memory) return nullptr;
  if (alignment == huge_page) madvise(memory, size, MADV_HUGEPAGE); // if the system refuses, pages stay small
  const int team = count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const Range mine = part(pages, i, team);
    std::memset(memory + mine.begin * page, 0, static_cast<std::size_t>(mine.size() * page));
  }
  return memory;
}

void free_zeros(void* memory) { std::free(memory); }

} // namespace kumihimo::threads
