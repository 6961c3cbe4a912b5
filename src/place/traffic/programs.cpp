#include "traffic/programs.hpp"

#include "program/binding.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace kumihimo {
namespace {

// --- traffic of programs ---------------------------------------------------------------------------------------------

struct Amount {
  std::int64_t bytes = 0, messages = 0; // at most the largest number there is
};

// Messages that one rank sends, by receiver.
class RankSends {
 public:
  RankSends(const ProgramSet& set, Rank rank) : set_(set), binding_(set, rank) {}

  Status add(const Program& program) {
    for (const Lane& lane : program.lanes)
      if (Status s = turns(0, set_.segments.count, lane.body, 1); !s) return s;
    return Nothing{};
  }

  Status add(const RoundReader& reader) {
    for (const Lane& lane : reader.outline(binding_.rank()).lanes) {
      std::optional<std::int64_t> position = 0;
      while (position) {
        const RoundPiece piece = reader.piece(binding_.rank(), lane.id, *position, steps_of_a_piece);
        for (const Round& round : piece.rounds)
          if (Status s = add(round, 1, 1); !s) return s;
        position = piece.next;
      }
    }
    return Nothing{};
  }

  Status hand_over(TrafficBuilder& traffic) const {
    for (const auto& [to, amount] : amounts_) {
      if (to < 0 || to >= set_.ranks())
        return wrong_value(
            fmt::format("rank {} must send to a rank from 0 to {}", binding_.rank().value, set_.ranks() - 1), to);
      if (Status s = traffic.add(binding_.rank(), Rank{static_cast<std::int32_t>(to)}, amount.bytes, amount.messages);
          !s)
        return s;
    }
    return Nothing{};
  }

 private:
  static constexpr std::int64_t steps_of_a_piece = 4096;

  // All turns of a loop at this depth, each `times` times; of one turn, if all are the same.
  Status turns(std::int32_t depth, std::int64_t trip, const Body& body, std::int64_t times) {
    const bool same = !depends_on(body, Variable{depth});
    for (values_[depth] = 0; values_[depth] < (same ? std::min<std::int64_t>(trip, 1) : trip); ++values_[depth])
      for (const Node& node : body) {
        const std::int64_t each = same ? saturated(Wide{times} * trip) : times;
        const Loop* loop = std::get_if<Loop>(&node);
        const Status s =
            loop ? turns(depth + 1, loop->trip, loop->body, each) : add(std::get<Round>(node), depth + 1, each);
        if (!s) return s;
      }
    return Nothing{};
  }

  Status add(const Round& round, std::int32_t depth, std::int64_t times) {
    const Values values(values_.data(), static_cast<std::size_t>(depth));
    for (const Step& step : round.steps) {
      if (step.kind == StepKind::offload)
        return not_applicable("traffic between ranks needs programs that send messages",
                              fmt::format("an offload to the network's engine on rank {}", binding_.rank().value));
      if (!step.sends()) continue;
      const std::int64_t elements = step.is_signal() ? 0 : binding_.length(step.extent(), values);
      if (elements == 0 && !step.is_signal()) continue;
      Amount& amount = amounts_[step.peer.evaluate(values)];
      amount.bytes = saturated(amount.bytes + Wide{times} * (elements * set_.data->type_bytes));
      amount.messages = saturated(Wide{amount.messages} + times);
    }
    return Nothing{};
  }

  bool depends_on(const Body& body, Variable variable) const {
    return std::any_of(body.begin(), body.end(), [&](const Node& node) {
      if (const Loop* loop = std::get_if<Loop>(&node)) return depends_on(loop->body, variable);
      const std::vector<Step>& steps = std::get<Round>(node).steps;
      return std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return depends_on(step, variable); });
    });
  }

  // Whether the receiver or the length of a send may change with the variable.
  bool depends_on(const Step& step, Variable variable) const {
    if (!step.sends()) return false;
    if (step.peer.depends_on(variable)) return true;
    if (step.is_signal()) return false;
    const Extent& extent = step.extent();
    for (const RunList& list : extent.runs)
      if (list.count.depends_on(variable)) return true;
    if (units_are_equal(extent)) return false;
    if (variable.depth == 0 || extent.part.depends_on(variable)) return true;
    return std::any_of(extent.runs.begin(), extent.runs.end(),
                       [&](const RunList& list) { return list.first.depends_on(variable); });
  }

  // Whether all units that such an extent may name have as many elements.
  bool units_are_equal(const Extent& extent) const {
    const std::int64_t parts = set_.segments.count * extent.parts;
    if (extent.layout == Layout::vector) return set_.data->elements % parts == 0;
    const BlockLayout& blocks = set_.data->layout(extent.layout);
    return blocks.uniform() && blocks.each % parts == 0;
  }

  const ProgramSet& set_;
  Binding binding_;
  LoopValues values_{};
  std::unordered_map<std::int64_t, Amount> amounts_;
};

// --- programs of traffic ---------------------------------------------------------------------------------------------

// Exchange of each rank, in bytes that are sent.
struct Exchange {
  struct Part {
    std::int32_t peer = 0;
    std::int64_t bytes = 0;
  };
  std::vector<std::int64_t> first_sent, first_received; // of each rank
  std::vector<Part> sent, received;
  std::int64_t elements = 0; // of a rank's input, and of its output: the most that one sends or receives

  std::int64_t shared_bytes() const {
    return static_cast<std::int64_t>((first_sent.size() + first_received.size()) * sizeof(std::int64_t) +
                                     (sent.size() + received.size()) * sizeof(Part));
  }
};

std::int64_t scaled(std::int64_t bytes, double share) {
  if (bytes == 0 || share == 1) return bytes;
  return std::clamp<std::int64_t>(std::llround(static_cast<double>(bytes) * share), 1, bytes);
}

Exchange exchange_of(const Traffic& traffic, double share) {
  Exchange all;
  const auto ranks = static_cast<std::size_t>(traffic.ranks());
  std::vector<std::int64_t> in_bytes(ranks);
  all.first_sent.assign(1, 0);
  all.first_received.assign(ranks + 1, 0);
  for (std::int32_t from = 0; from < traffic.ranks(); ++from) {
    std::int64_t out_bytes = 0;
    for (const Traffic::Flow& flow : traffic.from(Rank{from})) {
      const std::int64_t bytes = scaled(flow.bytes, share);
      if (bytes == 0) continue;
      all.sent.push_back({flow.to.value, bytes});
      ++all.first_received[static_cast<std::size_t>(flow.to.value) + 1];
      in_bytes[static_cast<std::size_t>(flow.to.value)] += bytes;
      out_bytes += bytes;
    }
    all.first_sent.push_back(static_cast<std::int64_t>(all.sent.size()));
    all.elements = std::max(all.elements, out_bytes);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    all.first_received[r + 1] += all.first_received[r];
    all.elements = std::max(all.elements, in_bytes[r]);
  }
  all.received.resize(all.sent.size());
  std::vector<std::int64_t> next = all.first_received;
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::int64_t i = all.first_sent[from]; i < all.first_sent[from + 1]; ++i) {
      const Exchange::Part& part = all.sent[static_cast<std::size_t>(i)];
      std::int64_t& at = next[static_cast<std::size_t>(part.peer)];
      all.received[static_cast<std::size_t>(at++)] = {static_cast<std::int32_t>(from), part.bytes};
    }
  return all;
}

Program program_of(const Exchange& all, Rank rank) {
  std::vector<Step> steps;
  // Data lies in a buffer without gaps, in the order of peers.
  const auto each_part = [&](const std::vector<std::int64_t>& first, const std::vector<Exchange::Part>& parts,
                             auto&& step) {
    const auto r = static_cast<std::size_t>(rank.value);
    std::int64_t begin = 0;
    for (std::int64_t i = first[r]; i < first[r + 1]; ++i) {
      const Exchange::Part& part = parts[static_cast<std::size_t>(i)];
      steps.push_back(step(part.peer, kumihimo::parts(begin, part.bytes, all.elements)));
      begin += part.bytes;
    }
  };
  each_part(all.first_received, all.received, [](std::int32_t peer, Extent e) { return receive(peer, out[e]); });
  each_part(all.first_sent, all.sent, [](std::int32_t peer, Extent e) { return send(peer, in[e]); });
  return program_of_one_round(std::move(steps), "exchange");
}

} // namespace

Result<Traffic> traffic_of(const ProgramSet& set) {
  if (set.data->own)
    return not_applicable("traffic needs the blocks of all ranks", {}, "take programs that know those of every rank");
  auto builder = TRY(TrafficBuilder::make(set.ranks()));
  for (std::int32_t r = 0; r < set.ranks(); ++r) {
    RankSends sends(set, Rank{r});
    if (Status s = set.reader ? sends.add(*set.reader) : sends.add(set.program(Rank{r})); !s) return s.error();
    if (Status s = sends.hand_over(builder); !s) return s.error();
  }
  return std::move(builder).build();
}

ProgramSet programs_of(const Traffic& traffic, double share) {
  assert(share > 0 && share <= 1);
  const auto all = std::make_shared<const Exchange>(exchange_of(traffic, share));
  DataLayout data;
  data.ranks = traffic.ranks();
  data.type = DataType::uint8;
  data.type_bytes = 1;
  data.vector = true;
  data.elements = all->elements;
  data.buffers = [elements = all->elements](Rank) {
    BufferPair buffers;
    buffers.input = buffers.output = elements;
    return buffers;
  };
  ProgramSet set;
  set.data = std::make_shared<const DataLayout>(std::move(data));
  set.program = [all](Rank rank) { return program_of(*all, rank); };
  set.shared_bytes = all->shared_bytes();
  return set;
}

} // namespace kumihimo
