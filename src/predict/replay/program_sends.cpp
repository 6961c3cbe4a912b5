#include "replay/program_sends.hpp"

#include "replay/rank_graph.hpp"

#include <map>
#include <unordered_map>

namespace kumihimo::replay {

struct ProgramSends::State {
  State(const Source& from, std::vector<Choice> by, std::optional<RankSpace> space)
      : source(from), choices(std::move(by)), collectives(from, choices, options, TagNumbers(from).first_block()) {
    options.space = std::move(space);
  }

  std::int32_t receiver(std::int32_t rank, std::int32_t distance) const {
    const std::int32_t left = source.ranks() - rank;
    return distance < left ? rank + distance : distance - left;
  }

  const Source& source;
  std::vector<Choice> choices;
  ReplayOptions options;
  CollectiveFragments collectives;
};

ProgramSends::ProgramSends(const Source& source, std::vector<Choice> choices, std::optional<RankSpace> space)
    : state_(std::make_unique<State>(source, std::move(choices), std::move(space))) {}
ProgramSends::~ProgramSends() = default;

std::int32_t ProgramSends::ranks() const { return state_->source.ranks(); }

Result<std::vector<goal::SentTo>> ProgramSends::of(std::int32_t rank) {
  const Source& source = state_->source;
  goal::SendSums sums;
  std::unordered_map<std::uint32_t, std::size_t> begun; // collectives, by communicator
  std::map<std::uint32_t, std::uint64_t> performed;     // how often, by call
  const auto add = [&](std::span<const Event> events, std::size_t) -> Status {
    for (const Event& e : events) {
      if (is_send(e.kind) && is_message(e))
        sums.add(e.message().peer, static_cast<std::uint64_t>(e.message().bytes));
      else if (is_collective(e.kind))
        ++performed[source.call_of(e.collective().communicator, begun[e.collective().communicator]++)];
    }
    return Nothing{};
  };
  if (Status s = for_each_part(source.stream(rank), add); !s) return s.error();
  for (const auto& [call, times] : performed) {
    const auto fragment = TRY(state_->collectives.of(call, rank));
    for (const goal::GraphOperation& each : fragment->graph.operations)
      if (each.kind == goal::Kind::send) sums.add(state_->receiver(rank, each.peer), times * each.size, times);
  }
  state_->collectives.forget(rank);
  return sums.rows();
}

} // namespace kumihimo::replay
