#include "mpi_transport/networks/fabric/closing.hpp"

#include <algorithm>
#include <thread>

namespace kumihimo::mpi_transport {
namespace {

constexpr std::chrono::milliseconds time_between_questions{250};
// For what a lost rank has sent before, and for a rank that has come and whose process has ended since.
constexpr std::chrono::milliseconds time_after_loss{500};

} // namespace

std::atomic<std::chrono::milliseconds>& closing_patience() {
  static std::atomic<std::chrono::milliseconds> patience{std::chrono::milliseconds{20'000}};
  return patience;
}

ClosingEnd close_together(const ClosingCalls& calls, std::atomic<std::chrono::milliseconds>& patience) {
  using Clock = std::chrono::steady_clock;
  ClosingEnd end;
  const Clock::time_point begin = Clock::now();
  Clock::time_point late = begin + std::max(patience.load(), time_after_loss), asks_at = begin + time_between_questions;
  bool is_lost = false;
  for (Clock::time_point now = begin; now < late; now = Clock::now()) {
    if (!calls.move()) return end;
    if (!end.entered && calls.ready()) end.entered = calls.enter();
    if (end.entered && calls.ended()) return end.ended = true, end;
    if (!is_lost && now >= asks_at) {
      is_lost = calls.lost();
      if (is_lost) late = std::min(late, now + time_after_loss);
      asks_at = now + time_between_questions;
    }
    std::this_thread::yield();
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  if (!is_lost) patience = std::max(patience.load() - waited, std::chrono::milliseconds{0});
  return end;
}

} // namespace kumihimo::mpi_transport
