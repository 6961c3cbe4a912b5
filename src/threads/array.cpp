#include "threads/array.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <cstdlib>
#include <cstring>

namespace kumihimo::threads {

constexpr std::int64_t page = 4096;

void* allocate_zeros(std::int64_t bytes) {
  if (bytes <= 0 || bytes > std::int64_t{1} << 46) return nullptr;
  const std::int64_t pages = (bytes + page - 1) / page;
  char* const memory = static_cast<char*>(std::aligned_alloc(page, static_cast<std::size_t>(pages * page)));
  if (!memory) return nullptr;
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
