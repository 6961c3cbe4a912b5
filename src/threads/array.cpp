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
  // Long arrays ask for huge pages: a sparse product walks many of them at a time, more than the TLB knows.
  const std::int64_t alignment = bytes >= 2 * huge_page ? huge_page : page;
  const auto size = static_cast<std::size_t>((bytes + alignment - 1) / alignment * alignment);
  void* const memory = std::aligned_alloc(static_cast<std::size_t>(alignment), size);
  if (memory && alignment == huge_page) madvise(memory, size, MADV_HUGEPAGE); // if refused, pages stay small
  return memory;
}

void* allocate_zeros(std::int64_t bytes) {
  char* const memory = static_cast<char*>(allocate(bytes));
  if (!memory) return nullptr;
  const std::int64_t pages = pages_of(bytes);
  const int team = count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const Range mine = part(pages, i, team);
    std::memset(memory + mine.begin * page, 0, static_cast<std::size_t>(mine.size() * page));
  }
  return memory;
}

void free_array(void* memory) { std::free(memory); }

void advise_huge_pages(void* memory, std::int64_t bytes) {
  constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + huge - 1) / huge * huge, end = (address + bytes) / huge * huge;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

} // namespace kumihimo::threads
