// An exception that leaves a parallel region ends the program, so lack of memory is an error value only if no region
// allocates. This program's operator new counts the allocations within regions.
#include "matrices.hpp"
#include "sparse/incomplete_cholesky.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int> in_regions{0};

} // namespace

// Not inlined: GCC would warn of free() for what it takes for another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (omp_in_parallel()) ++in_regions;
  if (void* const made = std::malloc(size > 0 ? size : 1)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* from) noexcept { std::free(from); }
[[gnu::noinline]] void operator delete(void* from, std::size_t) noexcept { std::free(from); }

namespace kumihimo::sparse {
namespace {

TEST(Allocations, AreCountedInParallelRegions) {
  ASSERT_TRUE(threads::use(2));
  in_regions = 0;
#pragma omp parallel num_threads(2)
  ::operator delete(::operator new(100)); // a call that compilers may not leave out
  EXPECT_EQ(in_regions, 2);
  ASSERT_TRUE(threads::use(1));
}

TEST(Allocations, ColouringAndFactorHaveNoneInParallelRegions) {
  ASSERT_TRUE(threads::use(3));
  for (const Named& named : matrices()) {
    in_regions = 0;
    const RowNumbering numbering = number(named.matrix, cm_rcm(named.matrix, 4), RowOrder::coalesced, 3);
    const SplitMatrix made = split(named.matrix, numbering);
    for (const OffDiagonals kind : {OffDiagonals::own, OffDiagonals::of_matrix})
      EXPECT_TRUE(factorise(made, numbering, kind)) << named.name;
    EXPECT_EQ(in_regions, 0) << named.name;
  }
  ASSERT_TRUE(threads::use(1));
}

} // namespace
} // namespace kumihimo::sparse
