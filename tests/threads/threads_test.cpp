#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kumihimo::threads {
namespace {

TEST(Part, PartsCoverTheRangeInOrder) {
  for (const std::int64_t n : {0, 1, 7, 64, 1000}) {
    for (const std::int64_t m : {1, 2, 3, 64}) {
      std::int64_t end = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const Range range = part(n, i, m);
        EXPECT_EQ(range.begin, end);
        EXPECT_LE(range.size(), n / m + 1);
        end = range.end;
      }
      EXPECT_EQ(end, n);
    }
  }
}

TEST(Array, HoldsZerosAlignedToAPage) {
  for (const int team : {1, 2, 5}) {
    ASSERT_TRUE(use(team).ok());
    for (const std::int64_t size : {1, 511, 512, 513, 100000}) {
      const Result<Array<double>> made = Array<double>::zeros(size);
      ASSERT_TRUE(made);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->data()) % 4096, 0u);
      EXPECT_TRUE(std::all_of(made->begin(), made->end(), [](double x) { return x == 0; }));
    }
  }
  ASSERT_TRUE(use(1).ok());
}

TEST(Array, SaysThatMemoryIsMissing) {
  const auto made = Array<double>::zeros(std::numeric_limits<std::int64_t>::max() / 16);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().sentence().find("memory"), std::string::npos) << made.error().sentence();
}

TEST(Team, HasTheNumberOfThreadsThatIsAskedFor) {
  ASSERT_TRUE(use(3).ok());
  EXPECT_EQ(count(), 3);
  int seen = 0;
#pragma omp parallel reduction(+ : seen)
  ++seen;
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(use(0).ok());
  EXPECT_FALSE(use(-1).ok());
  EXPECT_FALSE(use(2000000000).ok());
  ASSERT_TRUE(use(1).ok());
}

// In a child process, as the binding of this one's threads would stay.
std::string bound_in_child(int team, int local_rank, int times = 1) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool used = use(team).ok();
    std::string text;
    for (int i = 0; i < times && used; ++i) text = bind(local_rank);
    ::_exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST(Team, IsBoundAfterThatOfTheRankBefore) {
  ::unsetenv("OMP_PROC_BIND");
  ::unsetenv("OMP_PLACES");
  const std::vector<int> processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  for (int rank = 0; rank < 5; ++rank) {
    const int first = processors[static_cast<std::size_t>(rank) % processors.size()];
    EXPECT_EQ(bound_in_child(1, rank), "1 thread on processor " + std::to_string(first)) << "ranks take turns";
  }
  const std::string two = bound_in_child(2, 0);
  EXPECT_EQ(bound_in_child(2, 0, 3), two) << "the third binding is that of the first";
  ::setenv("OMP_PROC_BIND", "true", 1);
  EXPECT_EQ(bound_in_child(1, 0), "bound by OMP_PROC_BIND");
  ::unsetenv("OMP_PROC_BIND");
}

} // namespace
} // namespace kumihimo::threads
