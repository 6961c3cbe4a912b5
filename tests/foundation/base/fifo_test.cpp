// What is pushed comes out in its order, whatever has moved up in between: against a deque.
#include "base/fifo.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace kumihimo {
namespace {

TEST(Fifo, IsADeque) {
  std::mt19937 random(1);
  Fifo<int> fifo;
  std::deque<int> deque;
  for (int turn = 0; turn < 5000; ++turn) {
    const bool grows = turn / 500 % 2 == 0; // to some hundred elements, and back to few
    if (deque.empty() || random() % 4 < (grows ? 3 : 1)) {
      const std::size_t times = random() % 3;
      fifo.push(turn, times);
      deque.insert(deque.end(), times, turn);
    } else {
      fifo.pop();
      deque.pop_front();
    }
    ASSERT_EQ(fifo.size(), deque.size());
    ASSERT_EQ(fifo.empty(), deque.empty());
    for (std::size_t i = 0; i < deque.size(); ++i) ASSERT_EQ(fifo[i], deque[i]) << turn;
    if (!deque.empty()) {
      ASSERT_EQ(fifo.front(), deque.front());
    }
  }
}

} // namespace
} // namespace kumihimo
