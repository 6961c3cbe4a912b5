#include "verify/local_order.hpp"

#include <algorithm>

namespace kumihimo::verify {
namespace {

constexpr std::int64_t most_kept = 1 << 24;

} // namespace

LocalOrder::LocalOrder(const std::vector<std::int64_t>& windows, const std::vector<std::vector<SegmentWait>>& waits,
                       std::int64_t segments)
    : lanes_(static_cast<std::int64_t>(windows.size())), segments_(segments),
      kept_(std::min(segments, std::max<std::int64_t>(most_kept / std::max<std::int64_t>(lanes_ * lanes_, 1), 64))),
      complete_(static_cast<std::size_t>(lanes_ * lanes_ * kept_), 0) {
  // Facts that hold when segment s begins hold when a later one begins, and when s is complete. Lanes are begun in any
  // order that the waits allow.
  std::vector<std::int64_t> begun(windows.size(), 0);
  const auto row = [&](std::int64_t lane, std::int64_t s) { return &complete_[(lane * kept_ + s) * lanes_]; };
  const auto has_begun = [&](std::int64_t lane, std::int64_t s) { return begun[lane] > std::min(s, kept_ - 1); };
  const auto ready = [&](std::int64_t l) { // what has begun is complete
    const LanePosition at{begun[l], begun[l]};
    return may_start(
        at, kept_, waits[l], [&](std::int64_t lane) { return begun[lane] == kept_; }, has_begun);
  };
  const auto learn = [&](std::int32_t* mine, std::int64_t other, std::int64_t s) { // segment s of `other` is complete
    if (s < 0) return;
    const std::int32_t* known = row(other, s);
    for (std::int64_t i = 0; i < lanes_; ++i) mine[i] = std::max(mine[i], known[i]);
    mine[other] = std::max(mine[other], static_cast<std::int32_t>(s + 1));
  };
  const auto begin = [&](std::int64_t l) {
    const std::int64_t s = begun[l]++;
    std::int32_t* mine = row(l, s);
    if (s > 0) std::copy_n(row(l, s - 1), lanes_, mine);
    learn(mine, l, s - windows[l]);
    for (const SegmentWait& w : waits[l]) {
      if (!w.all) {
        learn(mine, w.lane, s - w.behind);
        continue;
      }
      learn(mine, w.lane, kept_ - 1);
    }
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t l = 0; l < lanes_; ++l)
      while (ready(l)) begin(l), moved = true;
  }
}

} // namespace kumihimo::verify
