// WaitTime over a library that fails now and then: functions of ours stand for MPI's.
#include "record/wait_time.hpp"

#include <gtest/gtest.h>

#include <map>

using namespace kumihimo;
using namespace kumihimo::record;

namespace {

constexpr mpi::Handle not_started = 2, lost = 3;

struct Under {
  const std::int64_t* mine;
  std::int64_t* last;
  int n;
  int tests = 0;
};
int tests_needed = 3;
std::map<mpi::Handle, Under> under_way; // by communicator, which is the request too

int begin(const void* mine, void* last, int n, mpi::Handle, mpi::Handle, mpi::Handle communicator,
          mpi::Handle* request) {
  if (communicator == not_started) return 1;
  under_way[communicator] = {static_cast<const std::int64_t*>(mine), static_cast<std::int64_t*>(last), n};
  *request = communicator;
  return 0;
}

int test(mpi::Handle* request, int* done, mpi::StatusWords*) {
  if (*request == lost) return 1;
  Under& it = under_way.at(*request);
  *done = ++it.tests >= tests_needed;
  for (int i = 0; *done && i < it.n; ++i) it.last[i] = it.mine[i] + 40; // another rank enters 40 ns later
  return 0;
}

TEST(WaitTime, EndsAllThatItBegan) {
  mpi::Library library;
  library.call.Iallreduce = begin;
  library.call.Test = test;
  const Clock clock(library, 0);
  std::deque<Row> rows(5);
  std::deque<RecordedCommunicator> all(5);
  std::vector<RecordedCommunicator*> pointers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].handle = static_cast<mpi::Handle>(i);
    all[i].samples = {{1000, 1100, true, &rows[i], 1}, {1000, 1100, true, &rows[i], 4}, {1000, 1100, true, nullptr, 1}};
    pointers.push_back(&all[i]);
  }
  WaitTime(library, clock).split(pointers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool failed = all[i].handle == not_started || all[i].handle == lost;
    EXPECT_EQ(rows[i].split_calls, failed ? 0 : 2) << i;
    EXPECT_EQ(rows[i].split_ns, failed ? 0 : 5 * 100) << i << ": one stands for one call, the other for four";
    EXPECT_EQ(rows[i].waiting_ns, failed ? 0 : 5 * 40) << i;
    EXPECT_EQ(rows[i].transferring_ns, failed ? 0 : 5 * 60) << i;
    EXPECT_TRUE(all[i].samples.empty()) << i;
  }
  // The library may write to the buffers of the one that was lost for as long as the process lives.
  under_way.at(lost).last[0] = under_way.at(lost).mine[0];
}

int holds = 0;
int receive(void*, int, mpi::Handle, int, int, mpi::Handle, mpi::Handle*) { return ++holds, 0; }
int rank_of(mpi::Handle, int* rank) { return *rank = 0, 0; }
int cancel(mpi::Handle*) { return --holds, 0; }
int wait(mpi::Handle*, mpi::StatusWords*) { return 0; }

TEST(WaitTime, DoesNotWaitForLateRanksBeforeACommunicatorIsFreed) {
  mpi::Library library;
  library.call.Iallreduce = begin;
  library.call.Test = test;
  library.call.Irecv = receive;
  library.call.Comm_rank = rank_of;
  library.call.Cancel = cancel;
  library.call.Wait = wait;
  const Clock clock(library, 0);
  std::deque<Row> rows(2);
  std::deque<RecordedCommunicator> all(2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].handle = static_cast<mpi::Handle>(10 + i);
    all[i].samples = {{1000, 1100, true, &rows[i], 1}};
  }
  WaitTime wait_time(library, clock);
  tests_needed = 1;
  wait_time.split_before_free(all[0]);
  EXPECT_EQ(rows[0].waiting_ns, 40) << "all ranks are there";
  EXPECT_EQ(holds, 0);
  tests_needed = 1 << 30;
  wait_time.split_before_free(all[1]);
  EXPECT_EQ(rows[1].split_calls, 0);
  EXPECT_EQ(holds, 1) << "the library keeps the communicator";
  all.pop_back();
  wait_time.split({});
  EXPECT_EQ(holds, 1) << "another communicator's end does not wait for it";
  tests_needed = 1;
  RecordedCommunicator next;
  next.handle = 12;
  wait_time.split_before_free(next);
  EXPECT_EQ(rows[1].waiting_ns, 40) << "the next one that is freed looks at it again";
  EXPECT_EQ(holds, 0);
}

} // namespace
