#include "verify/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace kumihimo::verify {
namespace {

const Lane* find_lane(const Program& program, std::int32_t id) {
  for (const Lane& lane : program.lanes)
    if (lane.id.value == id) return &lane;
  return nullptr;
}

} // namespace

Matching::Matching(const Subject& schedule, const VerifyOptions& options)
    : schedule_(schedule), options_(options), left_(options.most_pairs) {}

void Matching::add(const Program& program, const Binding& binding) {
  const std::int32_t rank = binding.rank().value;
  for (const Lane& lane : program.lanes) {
    if (std::count(sampled_lanes_.begin(), sampled_lanes_.end(), lane.id.value)) continue;
    const auto list = summaries(lane, binding, left_);
    if (!list) {
      sampled_lanes_.push_back(lane.id.value);
      continue;
    }
    left_ -= static_cast<std::int64_t>(list->size());
    for (const StreamSummary& s : *list) {
      const StreamChannel& c = s.channel;
      if (c.side == StreamSide::sends)
        sends_.push_back({rank, c.peer, lane.id.value, c.signal, s.hash, s.positions});
      else
        receives_.push_back({c.peer, rank, lane.id.value, c.signal, s.hash, s.positions});
    }
  }
}

void Matching::check(std::vector<Finding>& findings) {
  const auto sampled = [&](const Entry& e) {
    return std::count(sampled_lanes_.begin(), sampled_lanes_.end(), e.lane) > 0;
  };
  std::erase_if(sends_, sampled);
  std::erase_if(receives_, sampled);
  const auto key = [](const Entry& e) { return std::tuple(e.from, e.to, e.lane, e.signal); };
  const auto before = [&](const Entry& a, const Entry& b) { return key(a) < key(b); };
  std::sort(sends_.begin(), sends_.end(), before);
  std::sort(receives_.begin(), receives_.end(), before);
  for (std::size_t i = 0, j = 0; i < sends_.size() || j < receives_.size();) {
    if (findings.size() >= options_.most_findings) return;
    const bool send = j == receives_.size() || (i < sends_.size() && !before(receives_[j], sends_[i]));
    const bool receive = i == sends_.size() || (j < receives_.size() && !before(sends_[i], receives_[j]));
    if (!send || !receive || sends_[i].hash != receives_[j].hash) {
      aligned_ = false;
      compare_pair(send ? sends_[i] : receives_[j], findings);
    } else {
      aligned_ &= sends_[i].positions == receives_[j].positions;
    }
    i += send;
    j += receive;
  }
  for (const std::int32_t lane : sampled_lanes_) check_sampled(lane, findings);
}

// The slow way, for one pair: its streams in full, from programs made again.
void Matching::compare_pair(const Entry& e, std::vector<Finding>& findings) {
  const Program from = schedule_.program(Rank{e.from}), to = schedule_.program(Rank{e.to});
  const Binding sender(schedule_, Rank{e.from}), receiver(schedule_, Rank{e.to});
  const Lane *a = find_lane(from, e.lane), *b = find_lane(to, e.lane);
  const MessageStream sends = a ? stream_of(*a, sender, {e.to, StreamSide::sends, e.signal}) : MessageStream{};
  const MessageStream receives =
      b ? stream_of(*b, receiver, {e.from, StreamSide::receives, e.signal}) : MessageStream{};
  const auto d = compare(sends, receives, {sender, receiver});
  if (!d) return;
  StepLocation place = d->at;
  place.rank = d->on_sending_side ? e.from : e.to;
  place.peer = d->on_sending_side ? e.to : e.from;
  place.lane = e.lane;
  findings.push_back({Check::matching, std::move(place), d->what});
}

// Too many pairs to list: all pairs of a spread of ranks, first and last among them.
void Matching::check_sampled(std::int32_t lane, std::vector<Finding>& findings) {
  constexpr std::int64_t wanted = 48;
  std::set<std::int32_t> ranks;
  for (std::int64_t i = 0; i < wanted; ++i)
    ranks.insert(static_cast<std::int32_t>(i * (schedule_.ranks() - 1) / (wanted - 1)));
  for (const std::int32_t from : ranks)
    for (const std::int32_t to : ranks)
      for (const bool signal : {false, true}) {
        if (findings.size() >= options_.most_findings) return;
        sends_.push_back({from, to, lane, signal, 0, 0});
        compare_pair(sends_.back(), findings);
      }
}

} // namespace kumihimo::verify
