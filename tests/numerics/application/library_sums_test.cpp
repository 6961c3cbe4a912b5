// The sums of an MPI library that gives each rank another last bit, as MPI allows.
#include "application/library_sums.hpp"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cmath>
#include <limits>
#include <thread>

namespace kumihimo::application {
namespace {

constexpr int ranks = 3;
thread_local int this_rank = 0;

// Ranks that are threads. Each call is made by all of them.
struct World {
  std::barrier<> barrier{ranks};
  std::array<const double*, ranks> given{};
};
World& world() {
  static World one;
  return one;
}

int allreduce(const void* from, void* to, int count, mpi::Handle, mpi::Handle, mpi::Handle) {
  World& w = world();
  w.given[static_cast<std::size_t>(this_rank)] = static_cast<const double*>(from);
  w.barrier.arrive_and_wait();
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (const double* each : w.given) sum += each[i];
    for (int r = 0; r < this_rank; ++r) sum = std::nextafter(sum, std::numeric_limits<double>::infinity());
    static_cast<double*>(to)[i] = sum;
  }
  w.barrier.arrive_and_wait();
  return 0;
}

int iallreduce(const void* from, void* to, int count, mpi::Handle type, mpi::Handle op, mpi::Handle on,
               mpi::Handle* request) {
  *request = 7;
  return allreduce(from, to, count, type, op, on);
}

int bcast(void* values, int count, mpi::Handle, int root, mpi::Handle) {
  World& w = world();
  w.given[static_cast<std::size_t>(this_rank)] = static_cast<const double*>(values);
  w.barrier.arrive_and_wait();
  if (this_rank != root) std::copy_n(w.given[static_cast<std::size_t>(root)], count, static_cast<double*>(values));
  w.barrier.arrive_and_wait();
  return 0;
}

int wait(mpi::Handle* request, mpi::StatusWords*) { return *request == 7 ? 0 : 1; }

TEST(LibrarySums, GiveAllRanksTheBitsOfRank0) {
  mpi::Library library;
  library.call.Allreduce = allreduce;
  library.call.Iallreduce = iallreduce;
  library.call.Bcast = bcast;
  library.call.Wait = wait;
  std::array<std::vector<double>, ranks> found;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      this_rank = rank;
      LibrarySums sums(library, 1);
      std::vector<double>& mine = found[static_cast<std::size_t>(rank)];
      mine = {1.0 + rank, 0.1 * rank};
      EXPECT_TRUE(sums.sum(mine).ok());
      std::vector<double> second{2.0 + rank};
      EXPECT_TRUE(sums.start(second).ok());
      EXPECT_TRUE(sums.wait().ok());
      mine.push_back(second[0]);
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(found[0], (std::vector<double>{6, 0.1 * 1 + 0.1 * 2, 9}));
  for (const std::vector<double>& each : found) EXPECT_EQ(each, found[0]);
}

} // namespace
} // namespace kumihimo::application
