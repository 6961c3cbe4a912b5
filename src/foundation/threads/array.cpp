#include "threads/array.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace kumihimo::threads {

constexpr std::int64_t page = 4096, huge_page = std::int64_t{2} << 20;

static std::int64_t pages_of(std::int64_t bytes) { return (bytes + page - 1) / page; }

void* allocate(std::int64_t bytes) {
  if (bytes <= 0 || bytes > std::int64_t{1} << 46) return nullptr;
  void* const memory = std::aligned_alloc(page, static_cast<std::size_t>(pages_of(bytes) * page));
  // A sparse product walks many arrays at a time, more than the TLB knows. Their starts stay where they are: arrays
  // that all begin at 2 MiB would share the sets of a cache.
  if (memory && bytes >= 2 * huge_page) advise_huge_pages(memory, bytes);
  return memory;
}

void* allocate_zeros(std::int64_t bytes) {
  char* const memory = static_cast<char*>(allocate(bytes));
  if (!memory) return nullptr;
  const std::int64_t pages = pages_of(bytes);
  const int team = count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const IndexRange mine = part(pages, i, team);
    std::memset(memory + mine.begin * page, 0, static_cast<std::size_t>(mine.size() * page));
  }
  return memory;
}

void free_array(void* memory) { std::free(memory); }

void advise_huge_pages(void* memory, std::int64_t bytes) {
  constexpr auto huge = static_cast<std::uintptr_t>(huge_page);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + huge - 1) / huge * huge, end = (address + bytes) / huge * huge;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

} // namespace kumihimo::threads
