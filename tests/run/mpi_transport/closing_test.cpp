// How long a rank waits for the others before it closes its connections.
#include "mpi_transport/networks/fabric/closing.hpp"

#include <gtest/gtest.h>

namespace kumihimo::mpi_transport {
namespace {

using Milliseconds = std::chrono::milliseconds;

struct Ranks {
  std::atomic<Milliseconds> patience{Milliseconds{3000}};
  bool lost = false, leaves = false;
  Milliseconds drained_after{0}, ended_after{Milliseconds::max()};
  int entered = 0;
  std::chrono::steady_clock::time_point begin{};

  Milliseconds since() const {
    return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
  }
  // How long it took.
  Milliseconds close(ClosingEnd& end) {
    begin = std::chrono::steady_clock::now();
    end = close_together({[&] { return !leaves; }, [&] { return since() >= drained_after; },
                          [&] { return ++entered > 0; }, [&] { return since() >= ended_after; }, [&] { return lost; }},
                         patience);
    return since();
  }
};

TEST(Closing, Ends_with_the_barrier_which_begins_when_all_is_drained) {
  Ranks ranks;
  ranks.drained_after = Milliseconds{50}, ranks.ended_after = Milliseconds{60};
  ClosingEnd end;
  EXPECT_GE(ranks.close(end), Milliseconds{60});
  EXPECT_TRUE(end.entered && end.ended);
  EXPECT_EQ(ranks.entered, 1);
  EXPECT_EQ(ranks.patience.load(), Milliseconds{3000});
}

TEST(Closing, Waits_not_long_for_a_rank_that_is_lost) {
  Ranks ranks;
  ranks.lost = true;
  ClosingEnd end;
  EXPECT_LT(ranks.close(end), Milliseconds{2000});
  EXPECT_TRUE(end.entered && !end.ended);
  ranks.ended_after = Milliseconds{400}; // it had come before it was lost
  ranks.close(end);
  EXPECT_TRUE(end.ended);
  EXPECT_EQ(ranks.patience.load(), Milliseconds{3000});
}

TEST(Closing, Leaves_at_once_with_a_loss_of_its_own) {
  Ranks ranks;
  ranks.leaves = true;
  ClosingEnd end;
  EXPECT_LT(ranks.close(end), Milliseconds{200});
  EXPECT_FALSE(end.entered || end.ended);
}

// The networks of a process, whose rank waits for one that never comes.
TEST(Closing, Waits_long_for_nothing_only_once) {
  Ranks ranks;
  ClosingEnd end;
  EXPECT_GE(ranks.close(end), Milliseconds{3000});
  EXPECT_TRUE(end.entered && !end.ended);
  for (int network = 0; network < 3; ++network) EXPECT_LT(ranks.close(end), Milliseconds{2000});
}

} // namespace
} // namespace kumihimo::mpi_transport
