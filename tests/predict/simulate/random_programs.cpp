#include "random_programs.hpp"

#include "program/named_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace kumihimo::simulate_test {
namespace {

constexpr std::int64_t most_elements = 1 << 18; // of a message

// By rank and lane, the rounds.
using Rounds = std::map<std::int32_t, std::vector<std::vector<Step>>>;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  Job job() {
    constexpr const char* names[] = {"k-computer", "fugaku", "hector-2a"};
    const char* const name = names[between(0, 2)];
    const Machine m = described(name, shape());
    const std::int64_t each = one_in(3) ? 2 : 1;
    return name == names[0] ? Job(m) : *Job::with_ranks_per_node(m, each);
  }

  // Each round of a lane is made of messages and computation in one order that all ranks follow, so that none waits for
  // ever. A rank starts its steps of a round together or one after another.
  std::vector<Rounds> programs(std::int32_t ranks) {
    std::vector<Rounds> all(static_cast<std::size_t>(ranks));
    ranks_ = ranks;
    length_ = spread(1, most_elements), equal_ = one_in(2);
    seconds_ = 1e-6 * std::exp(std::uniform_real_distribution<double>(0, std::log(1000))(random_));
    const std::int64_t lanes = one_in(3) ? 1 : between(1, 4);
    for (std::int32_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t round = between(1, 5); round > 0; --round) add_round(lane, all);
    return all;
  }

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  std::int64_t spread(std::int64_t least, std::int64_t most) {
    return std::llround(std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random_)));
  }
  std::string shape() {
    const std::int64_t dimensions = between(1, 3);
    std::string text;
    std::int64_t places = 1;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const std::int64_t length = spread(2, std::max<std::int64_t>(2, 32 / places));
      if (places * length > 32) break;
      places *= length;
      text += fmt::format("{}{}{}", d > 0 ? "x" : "", length, one_in(4) ? "m" : "");
    }
    return text;
  }
  std::int64_t length() { return equal_ ? length_ : spread(1, length_ + 1); }

  struct Pair {
    std::int32_t from = 0, to = 0;
  };
  // A shift, a matching, or any pairs.
  std::vector<Pair> pairs() {
    std::vector<Pair> pairs;
    std::vector<std::int32_t> order(static_cast<std::size_t>(ranks_));
    std::iota(order.begin(), order.end(), 0);
    const std::int64_t kind = between(0, 2), shift = between(1, ranks_ - 1), left_out = between(1, 4);
    if (kind > 0) std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (left_out == 1 && one_in(3)) continue;
      if (kind == 0) pairs.push_back({order[i], static_cast<std::int32_t>((order[i] + shift) % ranks_)});
      if (kind == 1 && i % 2 == 1) pairs.push_back({order[i - 1], order[i]});
      if (kind == 2) pairs.push_back({order[i], static_cast<std::int32_t>(between(0, ranks_ - 1))});
    }
    std::erase_if(pairs, [](const Pair& p) { return p.from == p.to; });
    return pairs;
  }

  void add_round(std::int32_t lane, std::vector<Rounds>& all) {
    std::vector<std::vector<Step>> steps(all.size());
    for (const Pair& pair : pairs()) {
      const Extent elements = parts(0, length(), most_elements);
      steps[static_cast<std::size_t>(pair.from)].push_back(send(pair.to, in[elements]));
      steps[static_cast<std::size_t>(pair.to)].push_back(receive(pair.from, out[elements]));
    }
    const std::int64_t computes = between(1, 6); // one rank in so many; else none
    const bool together = one_in(2), mixed = one_in(4);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      auto& rounds = all[rank][lane];
      const bool first = one_in(2);
      const auto add_compute = [&] {
        Work work;
        work.seconds = seconds_ * std::uniform_real_distribution<double>(0, 1)(random_);
        rounds.push_back({compute(work)});
      };
      const bool has_compute = computes < 4 && one_in(computes);
      if (has_compute && first) add_compute();
      if (mixed ? one_in(2) : together) {
        if (!steps[rank].empty()) rounds.push_back(steps[rank]);
      } else {
        for (const Step& step : steps[rank]) rounds.push_back({step});
      }
      if (has_compute && !first) add_compute();
    }
  }

  std::mt19937_64 random_;
  std::int32_t ranks_ = 0;
  std::int64_t length_ = 0; // of messages, or the most
  bool equal_ = false;
  double seconds_ = 0; // the most that a computation takes
};

Program program_of(const Rounds& lanes) {
  ProgramBuilder program;
  for (const auto& [id, rounds] : lanes) {
    LaneBuilder lane(LaneId{id}, "", 1);
    for (const std::vector<Step>& steps : rounds) lane.round(steps);
    program.add(std::move(lane));
  }
  return program.finish();
}

} // namespace

std::string RandomPrograms::text() const {
  const std::int32_t each = job.slots.on(NodeId{0});
  return fmt::format("program set {} --machine {} --shape {} --ranks-per-node {}", number, job.machine.name,
                     job.machine.shape.text(), each);
}

RandomPrograms RandomProgramSets::at(std::int64_t number) const {
  Draw draw(seed_ * 1'000'003 + static_cast<std::uint64_t>(number));
  RandomPrograms p{draw.job(), {}, number};
  const std::int32_t ranks = p.job.rank_space().ranks();
  p.set.data = one_buffer(ranks, most_elements);
  p.set.program = [all = draw.programs(ranks)](Rank rank) {
    return program_of(all[static_cast<std::size_t>(rank.value)]);
  };
  return p;
}

} // namespace kumihimo::simulate_test
