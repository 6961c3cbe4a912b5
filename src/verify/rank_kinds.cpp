#include "verify/rank_kinds.hpp"

#include <algorithm>

namespace kumihimo::verify {
namespace {

void forget_peers(Body& body) {
  for (Node& node : body) {
    if (Loop* const loop = std::get_if<Loop>(&node)) {
      forget_peers(loop->body);
      continue;
    }
    for (Step& step : std::get<Round>(node).steps) step.peer = 0;
  }
}

} // namespace

RankKinds::RankKinds(const DataLayout& data) : data_(data) {
  for (const BlockLayout& layout : data.blocks) applies_ &= !layout.elements_at && !layout.blocks_at;
  applies_ &= data.own == nullptr;
}

std::int32_t RankKinds::add(Program program, Rank rank) {
  if (!applies_) return none;
  for (Lane& lane : program.lanes) forget_peers(lane.body);
  const BufferPair buffers = data_.buffers ? data_.buffers(rank) : BufferPair();
  // Neighbours are mostly of one kind: the last one that was met is the first.
  const auto at = std::find_if(kinds_.rbegin(), kinds_.rend(),
                               [&](const Kind& kind) { return kind.buffers == buffers && kind.program == program; });
  if (at != kinds_.rend()) {
    ++at->ranks;
    std::swap(*at, kinds_.back());
    return kinds_.back().number;
  }
  applies_ = kinds_.size() < most_kinds;
  if (!applies_) return kinds_.clear(), none;
  const auto number = static_cast<std::int32_t>(kinds_.size());
  kinds_.push_back({number, std::move(program), buffers, rank, 1});
  return number;
}

} // namespace kumihimo::verify
