// The part of RemoteAccess that waits: for operations, fences, flags and in barriers. What waits looks now and then
// whether the ranks that it waits for still run.
#include "fabric/remote_access.hpp"
#include "shared_memory/spin_wait.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <string>
#include <utility>

namespace kumihimo::fabric {
namespace {

constexpr std::int32_t turns_of_clock = 64, turns_of_spinning = 50;
constexpr std::int32_t looks_of_turn = 16; // for flags by stores, which need no turn of the provider
constexpr std::int32_t in_barrier = -2;    // in place of the rank that is watched
constexpr std::chrono::milliseconds time_between_lookups{250}, time_between_probes{1000};

} // namespace

bool RemoteAccess::turn() {
  has_turned_.store(true, std::memory_order_relaxed);
  const bool moved = port_->progress(*this);
  if (port_->failures() != failures_seen_) look_at_failures();
  return moved;
}

// Processes of this machine are looked up. Of others the connection says that they have ended, once something is sent.
void RemoteAccess::look_for_lost_peers(std::int32_t watched) {
  const Clock::time_point now = Clock::now();
  if (now < looks_at_) return;
  looks_at_ = now + time_between_lookups;
  const bool pings = now >= pings_at_;
  if (pings) pings_at_ = now + time_between_probes;
  for (auto& [rank, peer] : peers_) {
    const bool is_awaited =
        rank == watched || peer.open > 0 ||
        std::any_of(peer.lanes.begin(), peer.lanes.end(), [](const Lane& lane) { return lane.is_waiting(); });
    if (!peer.failure.empty() || rank == rank_ || !is_awaited) continue;
    if (shared_memory::has_ended(port_->process(peer.id))) {
      // What it has sent before may not have been taken yet.
      if (std::exchange(peer.seen_ended, true)) lose(peer, "its process has ended");
      continue;
    }
    if (pings) port_->ping(peer.id);
  }
}

void RemoteAccess::help(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock sleeping(mutex);
  while (!stop.stop_requested()) {
    never.wait_for(sleeping, stop, options_.progress, [] { return false; });
    if (has_turned_.exchange(false, std::memory_order_relaxed)) continue; // a call of the program does it
    const std::lock_guard lock(port_->mutex());
    port_->progress(*this);
    if (port_->failures() != failures_seen_) look_at_failures();
  }
}

template <class Ended, class Awaited>
AccessOutcome RemoteAccess::until(double seconds, std::int32_t watched, Ended&& ended, Awaited&& awaited) {
  const Clock::time_point start = Clock::now();
  for (std::int64_t turns = 1, idle = 0;; ++turns) {
    {
      const std::lock_guard lock(port_->mutex());
      if (std::optional<AccessOutcome> outcome = ended()) return *outcome;
      idle = turn() ? 0 : idle + 1;
      if (turns % turns_of_clock == 0) {
        if (seconds >= 0 && std::chrono::duration<double>(Clock::now() - start).count() > seconds)
          return {AccessCode::timed_out,
                  failed(fmt::format("{} did not end within {:g} s", awaited(), seconds)).sentence()};
        look_for_lost_peers(watched == in_barrier ? awaited_ : watched);
      }
    }
    if (idle > turns_of_spinning) sched_yield();
  }
}

AccessOutcome RemoteAccess::progress() {
  const std::lock_guard lock(port_->mutex());
  turn();
  return {};
}

AccessOutcome RemoteAccess::test(AccessCompletion& completion, bool& complete) {
  const std::lock_guard lock(port_->mutex());
  if (completion.open > 0) turn();
  complete = completion.open == 0;
  if (!complete || completion.failed == 0) return {};
  completion.failed = 0;
  return {AccessCode::peer_failed, last_failure_};
}

AccessOutcome RemoteAccess::wait(AccessCompletion& completion, double seconds) {
  return until(
      seconds, all_ranks,
      [&]() -> std::optional<AccessOutcome> {
        if (completion.open > 0) return std::nullopt;
        if (std::exchange(completion.failed, 0) > 0) return AccessOutcome{AccessCode::peer_failed, last_failure_};
        return AccessOutcome{};
      },
      [&] { return fmt::format("{} operation{}", completion.open, completion.open == 1 ? "" : "s"); });
}

std::optional<AccessOutcome> RemoteAccess::fenced(Peer& peer) {
  if (!peer.failure.empty()) return lost(peer);
  bool delivered = peer.open == 0;
  for (std::size_t engine = 0; engine < port_->engines(); ++engine) {
    Lane& lane = peer.lanes[engine];
    if (lane.asked < lane.ordered) flush(peer, engine);
    delivered = delivered && lane.is_delivered();
  }
  return delivered ? std::optional(AccessOutcome{}) : std::nullopt;
}

AccessOutcome RemoteAccess::fence(std::int32_t rank, double seconds) {
  if (rank != all_ranks)
    if (AccessOutcome fault = fault_of_rank(rank); !fault.ok()) return fault;
  std::atomic_thread_fence(std::memory_order_seq_cst); // of puts by stores
  return until(
      seconds, rank,
      [&]() -> std::optional<AccessOutcome> {
        AccessOutcome worst;
        for (auto& [each, stored] : stored_)
          if (rank == all_ranks || rank == each) is_lost_by_stores(each, stored);
        for (auto& [each, peer] : peers_) {
          if (rank != all_ranks && rank != each) continue;
          const std::optional<AccessOutcome> ended = fenced(peer);
          if (!ended) return std::nullopt;
          if (!ended->ok()) worst = *ended;
        }
        return worst;
      },
      [&] { return rank == all_ranks ? std::string("a fence") : fmt::format("a fence of rank {}", rank); });
}

AccessOutcome RemoteAccess::count_flags(std::int32_t flag, std::int64_t& count) {
  if (flag < 0 || flag >= flags) return bad(fmt::format("the flag must be from 0 to {}", flags - 1), flag);
  const std::lock_guard lock(port_->mutex());
  turn();
  count = put_times(flag);
  return {};
}

AccessOutcome RemoteAccess::wait_flag(std::int32_t flag, std::int64_t count, std::int32_t source, double seconds) {
  if (flag < 0 || flag >= flags) return bad(fmt::format("the flag must be from 0 to {}", flags - 1), flag);
  Peer* peer = nullptr;
  if (source != all_ranks) {
    if (AccessOutcome fault = fault_of_rank(source); !fault.ok()) return fault;
    const std::lock_guard lock(port_->mutex());
    if (source != rank_)
      if (AccessOutcome met = meet(source, peer); !peer) return met;
  }
  const auto found = [&] { return put_times(flag); };
  return until(
      seconds, source,
      [&]() -> std::optional<AccessOutcome> {
        for (std::int32_t look = 0; look < looks_of_turn; ++look) {
          if (found() >= count) return AccessOutcome{};
          shared_memory::relax();
        }
        if (peer && !peer->failure.empty()) return lost(*peer);
        return std::nullopt;
      },
      [&] { return fmt::format("flag {} has been put {} of {} times: the wait", flag, found(), count); });
}

// --- barrier: round k hears of 2^k ranks more

std::int32_t RemoteAccess::rounds() const {
  std::int32_t rounds = 0;
  for (std::int64_t reached = 1; reached < ranks_; reached *= 2) ++rounds;
  return rounds;
}

std::optional<AccessOutcome> RemoteAccess::past_barrier() {
  if (lost_in_barrier_ >= 0)
    return AccessOutcome{AccessCode::peer_failed,
                         failed(fmt::format("rank {} cannot be reached over {}", lost_in_barrier_, port_->provider()),
                                "another rank said so in a barrier", "see what that rank wrote before")
                             .sentence()};
  for (; round_ < rounds(); ++round_, told_round_ = false) {
    const auto step = static_cast<std::int32_t>((std::int64_t{1} << round_) % ranks_);
    Peer *to = nullptr, *from = nullptr;
    if (AccessOutcome met = meet((rank_ + step) % ranks_, to); !met.ok()) return met;
    if (!std::exchange(told_round_, true)) send(*to, 0, WireKind::meet, static_cast<std::uint64_t>(round_));
    if (meets_[static_cast<std::size_t>(round_)] >= barriers_) continue;
    if (AccessOutcome met = meet((rank_ + ranks_ - step) % ranks_, from); !met.ok()) return met;
    awaited_ = from->rank;
    return std::nullopt;
  }
  round_ = -1;
  passed_ = barriers_;
  return AccessOutcome{};
}

// Those that wait for this rank in a later round would not hear of its failure.
void RemoteAccess::fail_barrier() {
  const std::lock_guard lock(port_->mutex());
  const std::int32_t which = lost_in_barrier_ >= 0 ? lost_in_barrier_ : std::max(awaited_, 0);
  for (; round_ >= 0 && round_ < rounds(); ++round_) {
    const auto step = static_cast<std::int32_t>((std::int64_t{1} << round_) % ranks_);
    Peer* to = nullptr;
    if (meet((rank_ + step) % ranks_, to).ok())
      send(*to, 0, WireKind::meet, meets_.size() + static_cast<std::uint64_t>(which));
  }
  lost_in_barrier_ = which;
  round_ = 0;
}

// One that ran out of time is gone on with by the next call.
AccessOutcome RemoteAccess::barrier(double seconds) {
  std::int64_t mine = 0;
  {
    const std::lock_guard lock(port_->mutex());
    if (round_ < 0) ++barriers_, round_ = 0, told_round_ = false;
    mine = barriers_; // several threads may wait in one
  }
  AccessOutcome outcome = until(
      seconds, in_barrier,
      [&]() -> std::optional<AccessOutcome> { return passed_ >= mine ? AccessOutcome{} : past_barrier(); },
      [&] { return fmt::format("a barrier, which waits for rank {},", awaited_); });
  if (outcome.code == AccessCode::peer_failed && !std::exchange(has_failed_barrier_, true)) fail_barrier();
  return outcome;
}

// --- closing

AccessOutcome RemoteAccess::close(double seconds) {
  const Clock::time_point start = Clock::now();
  const auto left = [&] {
    return seconds < 0 ? seconds : std::max(0.0, seconds - std::chrono::duration<double>(Clock::now() - start).count());
  };
  AccessOutcome outcome = fence(all_ranks, seconds);
  // Who has passed the barrier may have gone before this rank hears it. Its own data are delivered by then.
  AccessOutcome met = barrier(left());
  if (outcome.ok() && met.code != AccessCode::peer_failed) outcome = std::move(met);
  until(
      seconds < 0 ? 5.0 : left(), all_ranks,
      [&]() -> std::optional<AccessOutcome> {
        if (port_->under_way(*this) == 0) return AccessOutcome{};
        return std::nullopt;
      },
      [] { return std::string(); });
  return outcome;
}

} // namespace kumihimo::fabric
