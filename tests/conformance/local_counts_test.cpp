// Programs bound to the blocks of their own rank alone, of other lengths and in other places from run to run: each
// gives what the counts of all mean, and touches nothing else. A rank's schedule is made without any counts at all.
#include "cases.hpp"
#include "collectives/named_neighbours.hpp"
#include "execute/engine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace conformance {
namespace {

using namespace kumihimo;
using Block = OwnBlocks::Block;

// Bytes of a block of a rank's input.
std::byte content(std::int64_t rank, std::int64_t block, std::int64_t at, std::int64_t turn) {
  return static_cast<std::byte>((rank * 31 + block * 17 + at * 7 + turn * 101) % 251);
}
constexpr std::byte hole{0xee};

// A collective whose counts the test knows, as one rank sees it.
struct Seen {
  const Collective& c;
  std::int32_t rank;

  bool one_in() const { return c.kind == CollectiveKind::gather; }
  bool one_out() const { return c.kind == CollectiveKind::scatter; }
  bool is_root() const { return rank == c.root.value; }
  std::int64_t table(std::int64_t at) const { return (*c.counts.table)[static_cast<std::size_t>(at)]; }

  std::int64_t in_count(std::int64_t b) const {
    if (c.neighbours) return elements_to(c, Rank{rank}, b);
    if (c.kind == CollectiveKind::alltoall) return table(rank * std::int64_t{c.ranks} + b);
    return one_in() ? (b == rank ? table(b) : 0) : is_root() ? table(b) : 0;
  }
  std::int64_t out_count(std::int64_t b) const {
    if (c.neighbours) return elements_from(c, Rank{rank}, b);
    if (c.kind == CollectiveKind::alltoall) return table(b * c.ranks + rank);
    return one_out() ? (b == rank ? table(b) : 0) : is_root() ? table(b) : 0;
  }
  // Whose block of which name arrives in block b.
  std::pair<std::int64_t, std::int64_t> origin(std::int64_t b) const {
    if (c.neighbours) {
      const Neighbourhood::End from = c.neighbours->sources(Rank{rank})[static_cast<std::size_t>(b)];
      return {from.rank, c.kind == CollectiveKind::neighbor_allgather ? 0 : from.block};
    }
    if (c.kind == CollectiveKind::alltoall) return {b, rank};
    return one_in() ? std::pair{b, b} : std::pair{std::int64_t{c.root.value}, std::int64_t{rank}};
  }
};

// One behind the other, or in another order with holes between them.
std::int64_t lay_out(std::vector<Block>& blocks, std::mt19937& random) {
  std::vector<std::size_t> order(blocks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool apart = random() % 2;
  if (apart) std::shuffle(order.begin(), order.end(), random);
  std::int64_t at = 0;
  for (const std::size_t b : order) {
    if (apart) at += static_cast<std::int64_t>(random() % 3);
    blocks[b].begin = at;
    at += blocks[b].count;
  }
  return at;
}

// One rank's memory for a run, and what must be in it afterwards.
struct Memory {
  OwnBlocks blocks;
  std::vector<std::byte> input, output, wanted;
  bool together = false;
};

Memory memory_of(const Seen& seen, std::int64_t turn, std::mt19937& random) {
  Memory m;
  const Collective own = with_local_counts(seen.c, Rank{seen.rank});
  m.blocks = *own.counts.own;
  m.together = seen.c.aliased(Rank{seen.rank});
  for (std::size_t b = 0; b < m.blocks.input.size(); ++b)
    m.blocks.input[b].count = seen.in_count(static_cast<std::int64_t>(b));
  for (std::size_t b = 0; b < m.blocks.output.size(); ++b)
    m.blocks.output[b].count = seen.out_count(static_cast<std::int64_t>(b));
  m.input.assign(static_cast<std::size_t>(lay_out(m.blocks.input, random)), hole);
  m.output.assign(static_cast<std::size_t>(lay_out(m.blocks.output, random)), hole);
  if (m.together && !seen.one_out()) {
    for (std::size_t b = 0; b < m.blocks.input.size(); ++b)
      if (m.blocks.input[b].count > 0) m.blocks.input[b].begin = m.blocks.output[b].begin;
    m.input = m.output;
  } else if (m.together) {
    m.blocks.output[static_cast<std::size_t>(seen.rank)] = m.blocks.input[static_cast<std::size_t>(seen.rank)];
    m.output = m.input;
  }
  const auto fill = [&](std::vector<std::byte>& memory, const Block& block, std::int64_t rank, std::int64_t name) {
    for (std::int64_t i = 0; i < block.count; ++i)
      memory[static_cast<std::size_t>(block.begin + i)] = content(rank, name, i, turn);
  };
  for (std::size_t b = 0; b < m.blocks.input.size(); ++b)
    fill(m.input, m.blocks.input[b], seen.rank, static_cast<std::int64_t>(b));
  m.wanted = m.together ? m.input : m.output;
  for (std::size_t b = 0; b < m.blocks.output.size(); ++b) {
    if (m.blocks.output[b].count == 0) continue;
    const auto [from, name] = seen.origin(static_cast<std::int64_t>(b));
    fill(m.wanted, m.blocks.output[b], from, name);
  }
  return m;
}

// Every run of one rank, by one program.
Status run_all(const Variant& v, const Place& place, const std::vector<Collective>& turns, Rank rank,
               transport::Transport& transport, const Parameters& p) {
  const Result<Schedule> schedule = v.build(with_local_counts(turns[0], rank), place.space, p);
  if (!schedule) return schedule.error();
  Result<execute::CompiledProgram> program = execute::compile(*schedule, rank);
  if (!program) return program.error();
  const auto execution = execute::Execution::prepare(*program, transport);
  if (!execution) return execution.error();
  std::mt19937 random(static_cast<std::uint32_t>(rank.value) + 1);
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    Memory m = memory_of({turns[turn], rank.value}, static_cast<std::int64_t>(turn), random);
    const std::vector<std::byte> before = m.input;
    if (Status s = program->bind(std::make_shared<const OwnBlocks>(m.blocks)); !s) return s;
    if (Status s = (*execution)->fit(); !s) return s;
    std::vector<std::byte>& result = m.together ? m.input : m.output;
    const execute::Buffers buffers{m.input.data(), result.data()};
    if (Status s = (*execution)->run(buffers, {}); !s) return s;
    if (result != m.wanted)
      return failed(fmt::format("rank {} gets its blocks in turn {}", rank.value, turn), "others");
    if (!m.together && m.input != before) return failed("the input as it was", "other bytes");
  }
  return Nothing{};
}

std::vector<Collective> turns_of(const Collective& c) {
  std::vector<Collective> turns;
  for (const char* spread : {"random:1", "zeros", "one_huge", "ramp", "random:2", "random:3", "one_huge"})
    turns.push_back(*with_counts(c, *spread_counts(spread, c)));
  turns.push_back(*with_counts(c, std::vector<std::int64_t>(turns[0].counts.table->size(), 0)));
  turns.push_back(turns[0]);
  return turns;
}

// Nothing: it does not fit. Else how the runs ended.
std::optional<Status> outcome(const Variant& v, const Place& place, Collective c, const Parameters& p) {
  c.type = DataType::uint8, c.type_bytes = 1;
  if (!v.build(with_local_counts(c, Rank{0}), place.space, p)) return std::nullopt;
  const std::vector<Collective> turns = turns_of(c);
  execute::LoopbackRun options;
  options.delays = true;
  transport::Loopback loopback(c.ranks, options);
  return transport::run_ranks(loopback, c.ranks, [&](Rank rank, transport::Transport& transport) {
    return run_all(v, place, turns, rank, transport, p);
  });
}

TEST(LocalCounts, EachRunIsOfItsOwnBlocks) {
  std::map<CollectiveKind, int> done;
  for (const Variant& v : Registry::standard().variants()) {
    const Counts::Known known = v.kind->irregular;
    if (known == Counts::Known::uniform || known == Counts::Known::global) continue;
    for (const Place& place : all_places()) {
      const std::int32_t ranks = place.space.ranks();
      if (ranks == 1 || ranks > 9) continue;
      for (const bool in_place : {false, true}) {
        Collective c = make_collective(v.kind, ranks, 40);
        if (c.neighbours && in_place) continue;
        c.in_place = in_place;
        if (c.has_root()) c.root = Rank{ranks / 2};
        if (c.neighbours && place.name.size() % 2) c = *with_neighbours(c, *named_neighbours("random:5", ranks));
        const std::optional<Status> ended = outcome(v, place, c, {});
        if (!ended) continue;
        EXPECT_TRUE(ended->ok()) << name_of(v.kind) << " " << v.name << ", " << place.name << ", in place " << in_place
                                 << ": " << ended->error().sentence();
        ++done[v.kind];
      }
    }
  }
  EXPECT_EQ(done.size(), 5U);
  for (const auto& [kind, cases] : done) EXPECT_GT(cases, 10) << name_of(kind);
}

// What would tell no fault proves nothing: of two ranks one believes that it gets less.
TEST(LocalCounts, LengthsThatDoNotMeetAreFound) {
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "pairwise");
  const Place place{"row 2", RankSpace::row(2)};
  const Collective c = make_collective(CollectiveKind::alltoall, 2, 4, DataType::uint8);
  transport::Loopback loopback(2, {});
  const Status ended = transport::run_ranks(loopback, 2, [&](Rank rank, transport::Transport& transport) -> Status {
    const auto own = [&](std::int64_t count) { return *with_counts(c, {4, count, 4, 4}); };
    return run_all(v, place, {own(rank.value == 0 ? 4 : 3)}, rank, transport, {});
  });
  EXPECT_FALSE(ended.ok());
}

} // namespace
} // namespace conformance
