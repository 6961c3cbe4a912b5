// Where shifts of the torus are symmetries one rank stands for several: the figures are those of a walk of all ranks.
#include "halo/halo.hpp"
#include "simulate/flow/compiled.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <functional>

namespace kumihimo::simulate_test {
namespace {

// `whole`: every rank is walked. Else symmetry is looked for, and no sample is drawn.
SchedulePrediction walked(const ProgramSet& s, const Machine& m, bool whole) {
  SimulateOptions options;
  options.keep_link_bytes = true;
  const Job job(m);
  const simulation::NetworkPaths network = *simulation::NetworkPaths::make(job, s.ranks(), {}, false);
  const double steps = simulation::compile(s, &network)->walked_steps();
  EXPECT_LE(steps, options.most_steps) << "it is to be walked whole";
  if (!whole) options.most_steps = 0.999 * steps; // a sample of so many would not be worth it
  const auto p = simulate(s, m, {}, options);
  EXPECT_TRUE(p.ok()) << (p ? "" : p.error().sentence());
  return *p;
}

void expect_same(const SchedulePrediction& some, const SchedulePrediction& all) {
  EXPECT_FALSE(some.sampled);
  const double off = 1e-9 * all.seconds.value;
  EXPECT_NEAR(some.seconds.value, all.seconds.value, off);
  EXPECT_NEAR(some.latency.value, all.latency.value, off);
  EXPECT_NEAR(some.transfer.value, all.transfer.value, off);
  EXPECT_NEAR(some.reduction.value, all.reduction.value, off);
  EXPECT_NEAR(some.compute.value, all.compute.value, off);
  EXPECT_NEAR(some.doubtful_sharing, all.doubtful_sharing, 1e-9);
  EXPECT_DOUBLE_EQ(some.links_waiting_share, all.links_waiting_share);
  EXPECT_EQ(some.limiting, all.limiting);
  EXPECT_EQ(some.accuracy, all.accuracy);
  ASSERT_EQ(some.phases.size(), all.phases.size());
  for (std::size_t i = 0; i < all.phases.size(); ++i)
    EXPECT_NEAR(some.phases[i].seconds.value, all.phases[i].seconds.value, off);
  ASSERT_EQ(some.link_bytes.size(), all.link_bytes.size());
  for (std::size_t l = 0; l < all.link_bytes.size(); ++l)
    ASSERT_NEAR(some.link_bytes[l], all.link_bytes[l], 1e-9 * all.link_bytes_max) << "link " << l;
}

struct Case {
  CollectiveKind kind;
  const char *algorithm, *shape;
  bool tofu;          // K itself, or a torus of its own with K's numbers
  std::int64_t alike; // ranks that one stands for
};

class OneForSeveral : public testing::TestWithParam<Case> {};

TEST_P(OneForSeveral, IsTheSame) {
  const auto& [kind, name, shape, tofu, alike] = GetParam();
  const Machine m = tofu ? job_on("k-computer", shape) : described("k-computer", shape);
  for (const std::int64_t bytes : {std::int64_t{120}, std::int64_t{48} << 10}) {
    const Schedule s = built(algorithm(name, kind), m, bytes);
    const SchedulePrediction all = walked(s, m, true), some = walked(s, m, false);
    EXPECT_EQ(all.ranks_alike, 1);
    EXPECT_EQ(some.ranks_alike, alike);
    EXPECT_EQ(nlohmann::json::parse(to_json(some))["ranks_alike"], alike);
    expect_same(some, all);
  }
}

constexpr auto alltoall = CollectiveKind::alltoall;
INSTANTIATE_TEST_SUITE_P(
    Simulate, OneForSeveral,
    testing::Values(Case{alltoall, "paced", "6x5x4", false, 30}, Case{alltoall, "paced", "12x7", false, 42},
                    Case{alltoall, "paced", "2x9", false, 18}, Case{alltoall, "paced", "8x6x8", true, 4},
                    Case{alltoall, "paced", "12x3x6", true, 4}, Case{alltoall, "paced", "24x6x16", true, 4},
                    Case{alltoall, "paced", "5x8x6", true, 4}, Case{alltoall, "two_phase", "10x9", false, 45},
                    Case{alltoall, "three_phase", "6x6x8", true, 4}, Case{alltoall, "pairwise", "16", false, 8},
                    Case{alltoall, "pairwise", "6x6x8", true, 2}, // by numbers: X' alone
                    Case{alltoall, "linear", "9", false, 9},
                    Case{CollectiveKind::reduce_scatter, "pairwise", "12", false, 6}),
    [](const auto& test) {
      return std::string(name_of(test.param.kind)) + "_" + test.param.algorithm + "_" + test.param.shape +
             (test.param.tofu ? "_tofu" : "");
    });

// Steps that no loop repeats count, too.
TEST(Symmetry, IsThatOfHaloExchanges) {
  const Machine torus = described("k-computer", "6x5x4"), tofu = job_on("k-computer", "8x6x8");
  for (const char* text : {"16x16x16", "4x5x6,points=27,fields=2", "8x8x8,compute=1e-5", "4x4x4,points=27,mesh"})
    for (const Machine* m : {&torus, &tofu}) {
      const Shape shape = m->topology->shifts().shape;
      std::vector<std::int32_t> lengths;
      for (const Axis& axis : shape.axes()) lengths.push_back(axis.length);
      const Halo halo = *on_ranks(*Halo::parse(text), lengths, {true, true, true});
      const ProgramSet set = programs_of(halo).set;
      const SchedulePrediction all = walked(set, *m, true), some = walked(set, *m, false);
      EXPECT_EQ(all.ranks_alike, 1) << text;
      if (halo.periodic[0])
        EXPECT_GE(some.ranks_alike, 4) << text;
      else
        EXPECT_EQ(some.ranks_alike, 1) << text;
      expect_same(some, all);
    }
}

// A machine of which one part differs is no symmetric one.
TEST(Symmetry, IsNotThatOfUnequalParts) {
  const Machine even = job_on("k-computer", "8x6x8");
  const Schedule s = built(algorithm("paced", alltoall), even, 4096);
  ASSERT_EQ(walked(s, even, false).ranks_alike, 4);
  Machine slow_link = even, slow_node = even;
  slow_link.slow_links.push_back({NodeId{0}, NodeId{1}, LinkId{0}, 0.25});
  slow_node.slow_nodes.push_back({NodeId{100}, 0.5});
  for (const Machine& m : {slow_link, slow_node}) {
    const SchedulePrediction p = walked(s, m, false);
    EXPECT_EQ(p.ranks_alike, 1);
    EXPECT_GT(p.seconds.value, walked(s, even, true).seconds.value);
    expect_same(p, walked(s, m, true));
  }
}

// What one rank does otherwise than the others.
enum class Odd : std::uint8_t { none, copies_once_more, copies_more, adds, paces, has_more_in_flight };

// 8 ranks that exchange blocks of equal lengths with the partners of `tables`, one after another; then with their
// neighbours, and copy a block. Rank 5 is odd.
Schedule exchanging(std::function<std::pair<Table, Table>(std::int32_t)> tables, Odd odd = Odd::none) {
  Schedule s = by_hand(8, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    const auto [to, from] = tables(r);
    const auto to_table = std::make_shared<const Table>(to), from_table = std::make_shared<const Table>(from);
    const Chunk sent = in[blocks(Layout::input_blocks, 0)], received = out[blocks(Layout::output_blocks, 0)];
    const auto is = [&](Odd what) { return r == 5 && odd == what; };
    LaneBuilder lane(LaneId{0}, "all", 1);
    lane.loop(
        static_cast<std::int64_t>(to.size()),
        [=](Variable i) {
          return exchange(Expression::look_up(to_table, i), sent, Expression::look_up(from_table, i), into(received));
        },
        is(Odd::has_more_in_flight) ? 2 : 1);
    lane.round({send((r + 1) % 8, sent), receive((r + 7) % 8, received)}, is(Odd::paces) ? 5 : 0);
    const std::int64_t copied = is(Odd::copies_more) ? 2 : 1;
    lane.step(is(Odd::adds)
                  ? reduce(received, received, sent)
                  : copy(out[blocks(Layout::output_blocks, 0, copied)], in[blocks(Layout::input_blocks, 0, copied)]));
    if (is(Odd::copies_once_more)) lane.step(copy(received, sent));
    p.add(std::move(lane));
  });
  s.set_collective(make_collective(alltoall, 8, million));
  return s;
}

TEST(Symmetry, IsNotThatOfOneRankThatDiffers) {
  const Machine m = plain("8");
  const auto shifts = [](std::int32_t r) {
    return std::pair{Table{(r + 1) % 8, (r + 3) % 8, (r + 4) % 8}, Table{(r + 7) % 8, (r + 5) % 8, (r + 4) % 8}};
  };
  for (const Odd odd :
       {Odd::none, Odd::copies_once_more, Odd::copies_more, Odd::adds, Odd::paces, Odd::has_more_in_flight}) {
    const Schedule s = exchanging(shifts, odd);
    const SchedulePrediction p = walked(s, m, false);
    EXPECT_EQ(p.ranks_alike, odd == Odd::none ? 4 : 1) << static_cast<int>(odd);
    expect_same(p, walked(s, m, true));
  }
}

// Peers of the last iteration alone: 0 and 1, 2 and 3 ..., or 4 and 6, 5 and 7.
TEST(Symmetry, LooksAtTheLastIterationToo) {
  const Machine m = plain("8");
  for (const bool crossed : {false, true}) {
    const Schedule s = exchanging([=](std::int32_t r) {
      const std::int64_t last = !crossed || r < 4 ? r ^ 1 : r ^ 2;
      return std::pair{Table{(r + 2) % 8, (r + 4) % 8, last}, Table{(r + 6) % 8, (r + 4) % 8, last}};
    });
    const SchedulePrediction p = walked(s, m, false);
    EXPECT_EQ(p.ranks_alike, crossed ? 1 : 4);
    expect_same(p, walked(s, m, true));
  }
}

// Half along the first axis is half of the rank numbers: pairwise has it too, and no use for it where half of the walk
// is too long yet; on many nodes not even programs are compared, which would be P^2 steps.
TEST(Symmetry, LeavesLongerWalksToASample) {
  for (const char* shape : {"8x6x8", "48x6x32"}) {
    const Machine m = job_on("k-computer", shape);
    const Schedule s = built(algorithm("pairwise", alltoall), m, 4096);
    SimulateOptions options;
    options.most_steps = 50.0 * s.ranks();
    const SchedulePrediction p = *simulate(s, m, {}, options);
    EXPECT_EQ(p.ranks_alike, 1);
    EXPECT_TRUE(p.sampled);
  }
}

// What was a sample of 108 of 228 rounds is exact.
TEST(Symmetry, MakesPacedOnManyNodesExact) {
  const Machine m = job_on("k-computer", "48x6x32");
  const SchedulePrediction p = *simulate(built(algorithm("paced", alltoall), m, std::int64_t{64} << 10), m);
  EXPECT_EQ(p.ranks_alike, 4);
  EXPECT_FALSE(p.sampled);
  EXPECT_NE(to_json(p).find("\"sampled\":null"), std::string::npos);
}

} // namespace
} // namespace kumihimo::simulate_test
