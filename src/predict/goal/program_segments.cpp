#include "goal/program_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace kumihimo::goal {

ProgramSegments::ProgramSegments(const ProgramSet& set, WorkRates rates)
    : set_(set), of_set_{set, std::move(rates), {}, {}}, most_(of_set_.rates.most),
      ranks_(static_cast<std::size_t>(set.ranks())) {
  for (std::int32_t rank = 0; rank < set.ranks() && status_.ok(); ++rank) status_ = open(rank);
}

Status ProgramSegments::open(std::int32_t rank) {
  OfRank& r = of(rank);
  const bool by_parts = set_.reader && set_.reader->steps(Rank{rank}) > short_program;
  r.program = by_parts ? set_.reader->outline(Rank{rank}) : set_.program(Rank{rank});
  const auto distance = [this, rank](std::int32_t peer) { return peer >= rank ? peer - rank : ranks() - rank + peer; };
  r.rounds = std::make_unique<RoundOperations>(of_set_, Rank{rank}, distance, false);
  auto waits = waits_of(r.program, set_.segments);
  r.lanes.reserve(waits.size());
  for (std::size_t l = 0; l < waits.size(); ++l) {
    OfLane lane;
    lane.lane = &r.program.lanes[l];
    lane.waits = std::move(waits[l]);
    lane.rounds = TRY(r.rounds->open(*lane.lane, static_cast<std::uint32_t>(l)));
    rounds_ += std::ssize(lane.rounds.rounds.vertices);
    if (rounds_ > 2 * most_) // a round takes half of the memory of an operation
      return r.rounds->at_rank(wrong_value(fmt::format("programs of all ranks must have at most {} rounds", 2 * most_),
                                           "more", "take fewer ranks or segments"));
    lane.is_long = by_parts;
    if (by_parts) lane.next = 0;
    lane.window = std::clamp<std::int64_t>(lane.lane->window, 1, set_.segments.count);
    lane.complete.resize(static_cast<std::size_t>(lane.window));
    ranks_of_.resize(std::max<std::size_t>(ranks_of_.size(), lane.rounds.index + 1));
    ++ranks_of_[lane.rounds.index];
    r.lanes.push_back(std::move(lane));
  }
  unfinished_ += static_cast<std::int64_t>(r.lanes.size());
  most_lanes_ = std::max(most_lanes_, static_cast<std::int32_t>(r.lanes.size()));
  return Nothing{};
}

std::int32_t ProgramSegments::ranks_of_lane(std::int32_t rank, const GraphOperation& operation) const {
  return ranks_of_[of(rank).lanes[lane_of(operation)].rounds.index];
}

bool ProgramSegments::may_begin(const OfRank& r, const OfLane& lane) const {
  const std::int64_t segments = set_.segments.count;
  const auto other = [&](std::int32_t l) -> const OfLane& { return r.lanes[static_cast<std::size_t>(l)]; };
  return may_start(
      {lane.started, lane.done, lane.window}, segments, lane.waits,
      [&](std::int32_t l) { return other(l).done == segments; },
      [&](std::int32_t l, std::int64_t segment) {
        return segment < other(l).done ||
               (segment < other(l).started && other(l).complete[static_cast<std::size_t>(segment % other(l).window)]);
      });
}

// Of a long lane the next ones that have operations.
Status ProgramSegments::add_rounds(std::int32_t rank, OfLane& lane, std::int64_t segment) {
  const OfRank& r = of(rank);
  do {
    if (lane.is_long) {
      RoundPiece piece = set_.reader->piece(Rank{rank}, lane.lane->id, *lane.next, steps_at_a_time);
      lane.next = piece.next;
      lane.lane->body.assign(std::make_move_iterator(piece.rounds.begin()),
                             std::make_move_iterator(piece.rounds.end()));
      if (Status s = r.rounds->read(lane.rounds, *lane.lane); !s) return s;
    }
    if (const auto end = r.rounds->add(builder_, lane.rounds, segment, {}); !end) return end.error();
  } while (builder_.size() == 0 && lane.next);
  return Nothing{};
}

// Mostly the operations of an earlier segment with other lengths and tags.
ProgramSegments::Part* ProgramSegments::next_part(std::int32_t rank, OfLane& lane, std::int64_t segment) {
  std::vector<Part*>& unused = set_.segments.count > 1 ? lane.spare : unused_;
  if (unused.empty()) unused.push_back(parts_.emplace_back(std::make_unique<Part>()).get());
  Part* const part = unused.back();
  const Part* const latest = std::exchange(lane.latest, nullptr);
  if (latest && latest != part) part->graph = latest->graph;
  if (!latest || !of(rank).rounds->renew(part->graph, lane.rounds, latest->segment, segment)) {
    if (status_ = add_rounds(rank, lane, segment); !status_ || builder_.size() == 0) return nullptr;
    builder_.finish(part->graph);
  }
  if (!lane.is_long && set_.segments.count > 1) lane.latest = part;
  unused.pop_back();
  return part;
}

ProgramSegments::Part* ProgramSegments::make(std::int32_t rank, std::uint32_t l, std::int64_t segment) {
  if (!status_) return nullptr; // what an error has left of it is no part
  OfRank& r = of(rank);
  Part* const part = next_part(rank, r.lanes[l], segment);
  if (!part) return nullptr;
  const auto& operations = part->graph.operations;
  part->first = (r.first_page + static_cast<std::uint32_t>(r.pages.size())) * in_page;
  part->lane = l, part->segment = segment;
  part->to_end = part->left = static_cast<std::uint32_t>(operations.size());
  part->states.clear();
  for (const GraphOperation& each : operations) {
    part->states.push_back({each.waits_for, {}});
    part->left += each.kind == Kind::send;
    wanted_ += each.kind != Kind::join;
  }
  r.pages.push(part, (operations.size() + in_page - 1) / in_page);
  held_ += part->to_end;
  if (held_ <= most_) return part;
  status_ = wrong_value(fmt::format("programs must have at most {} operations under way at once", most_), "more",
                        "take fewer ranks, or fewer messages at once");
  return nullptr;
}

void ProgramSegments::complete(OfLane& lane, std::int64_t segment, Time time) {
  const auto is_complete = [&](std::int64_t s) -> char& {
    return lane.complete[static_cast<std::size_t>(s % lane.window)];
  };
  is_complete(segment) = 1;
  while (lane.done < lane.started && is_complete(lane.done)) is_complete(lane.done++) = 0;
  if (lane.done == set_.segments.count) lane.end = time, --unfinished_;
}

void ProgramSegments::let_go(std::int32_t rank, Part& part) {
  if (--part.left > 0) return;
  OfRank& r = of(rank);
  for (std::uint32_t page = part.first / in_page; page * in_page < part.first + part.states.size(); ++page)
    r.pages[page - r.first_page] = nullptr;
  while (!r.pages.empty() && r.pages.front() == nullptr) r.pages.pop(), ++r.first_page;
  held_ -= static_cast<std::int64_t>(part.states.size());
  OfLane& lane = r.lanes[part.lane];
  (set_.segments.count > 1 ? lane.spare : unused_).push_back(&part);
}

} // namespace kumihimo::goal
