// The cache of plans: what was kept is found, nothing else is, and plans run.
#include "collectives/registry.hpp"
#include "execute/engine.hpp"
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <new>
#include <random>

namespace kumihimo::plan {
namespace {

class OneRank : public testing::Test {
 protected:
  std::unique_ptr<Plan> make(const Collective& c) {
    const Result<Schedule> schedule = (*Registry::standard().find(c.kind, "ring"))->build(c, RankSpace::row(1));
    Result<std::unique_ptr<Plan>> plan = Plan::make(*schedule, Rank{0}, silent_, *find_reduction(c));
    EXPECT_TRUE(plan.ok());
    return std::move(*plan);
  }

  // One rank alone moves no message.
  struct Silent final : transport::Transport {
    Status prepare(const transport::Demands& demands) override {
      ++prepared;
      impossible = demands.impossible;
      return Nothing{};
    }
    std::uint64_t begin(transport::Stream) override { return ++instances; }
    void send(transport::SendRequest&) override { FAIL(); }
    void receive(transport::ReceiveRequest&) override { FAIL(); }
    Progress progress() override { return Progress::nothing; }
    void idle() override {}
    bool has_failed() const override { return false; }
    Error error() const override { return {}; }
    std::uint64_t instances = 0;
    int prepared = 0;
    bool impossible = false;
  };
  Silent silent_;
  PlanCache cache_;
};

Collective collective(std::int64_t count, Operation operation = Operation::sum, bool in_place = false) {
  return make_collective(CollectiveKind::allreduce, 1, count, DataType::float64, operation, Rank{0}, in_place);
}

TEST_F(OneRank, FindsWhatWasKeptAndNothingElse) {
  EXPECT_EQ(cache_.find(key_of(collective(1))), nullptr);
  std::mt19937_64 random(5);
  std::map<std::int64_t, Plan*> kept;
  for (int i = 0; i < 500; ++i) { // as many as force it to grow several times, powers of two among them
    const std::int64_t count = i < 60 ? std::int64_t{1} << i : static_cast<std::int64_t>(random() % 100'000);
    if (kept.count(count)) continue;
    kept[count] = &cache_.keep(key_of(collective(count)), make(collective(8)));
  }
  EXPECT_EQ(cache_.size(), static_cast<std::int64_t>(kept.size()));
  for (const auto& [count, plan] : kept) {
    EXPECT_EQ(cache_.find(key_of(collective(count))), plan);
    EXPECT_EQ(cache_.find(key_of(collective(count, Operation::max))), nullptr);
    EXPECT_EQ(cache_.find(key_of(collective(count, Operation::sum, true))), nullptr);
  }
  EXPECT_EQ(cache_.find(key_of(collective(100'001))), nullptr);
}

TEST_F(OneRank, AnotherPlanUnderTheSameKeyTakesItsPlace) {
  cache_.keep(key_of(collective(8)), make(collective(8)));
  Plan& second = cache_.keep(key_of(collective(8)), make(collective(8)));
  EXPECT_EQ(cache_.find(key_of(collective(8))), &second);
  EXPECT_EQ(cache_.size(), 1);
}

TEST_F(OneRank, APlanThatWasFoundRuns) {
  cache_.keep(key_of(collective(3)), make(collective(3)));
  const std::vector<double> input = {1.5, -2, 4};
  std::vector<double> output(3);
  ASSERT_TRUE(cache_.find(key_of(collective(3)))->run({input.data(), output.data()}).ok());
  EXPECT_EQ(output, input);
}

TEST_F(OneRank, OfThoseThatRanAtOnceFewExecutionsAreKept) {
  const std::unique_ptr<Plan> plan = make(collective(3));
  std::vector<execute::Execution*> borrowed;
  for (int i = 0; i < 100; ++i) borrowed.push_back(*plan->borrow());
  for (execute::Execution* execution : borrowed) plan->give_back(execution);
  EXPECT_EQ(plan->idle(), Plan::most_idle);
  execute::Execution* const again = *plan->borrow();
  EXPECT_EQ(plan->idle(), Plan::most_idle - 1);
  plan->give_back(again);
}

TEST_F(OneRank, ARankThatFindsNoProgramTellsTheOthersThatWaitForItsDemands) {
  Result<Schedule> schedule =
      (*Registry::standard().find(CollectiveKind::allreduce, "ring"))->build(collective(3), RankSpace::row(1));
  ASSERT_TRUE(schedule.ok());
  EXPECT_TRUE(Plan::make(*schedule, Rank{0}, silent_, {}).ok());
  EXPECT_EQ(silent_.prepared, 1);
  EXPECT_FALSE(silent_.impossible);
  EXPECT_FALSE(Plan::make(*schedule, Rank{7}, silent_, {}).ok()) << "there is no such rank";
  EXPECT_EQ(silent_.prepared, 2);
  EXPECT_TRUE(silent_.impossible);
  silent_.impossible = false;
  schedule->program = [](Rank) -> Program { throw std::bad_alloc(); };
  EXPECT_FALSE(Plan::make(*schedule, Rank{0}, silent_, {}).ok()) << "there was no memory";
  EXPECT_EQ(silent_.prepared, 3);
  EXPECT_TRUE(silent_.impossible);
}

TEST(CallKey, CountsOfTheirOwnAreComparedOneByOne) {
  const auto key = [](std::vector<std::int64_t> table) {
    return key_of(*with_counts(make_collective(CollectiveKind::allgather, 3, 0), std::move(table)));
  };
  EXPECT_EQ(key({1, 2, 3}), key({1, 2, 3}));
  EXPECT_NE(key({1, 2, 3}), key({1, 3, 2}));
  EXPECT_NE(key({2, 2, 2}), key_of(make_collective(CollectiveKind::allgather, 3, 2)));
  CallKey collides = key({1, 2, 3});
  collides.count = key({3, 2, 1}).count; // as if both had one hash
  EXPECT_NE(collides, key({3, 2, 1}));
}

TEST(CallKey, TheRootMattersOnlyWhereThereIsOne) {
  Collective bcast = make_collective(CollectiveKind::bcast, 4, 10), reduce = collective(10);
  bcast.root = Rank{2};
  Collective other = bcast;
  other.root = Rank{3};
  EXPECT_NE(key_of(bcast), key_of(other));
  Collective same = reduce;
  same.root = Rank{3};
  EXPECT_EQ(key_of(reduce), key_of(same));
}

TEST(CallKey, NeighboursArePartOfTheKey) {
  const Collective ring = make_collective(CollectiveKind::neighbor_alltoall, 4, 2);
  const auto with = [&](bool periodic) {
    Neighbourhood row = Neighbourhood::cartesian({{4, periodic}}, ring.neighbours->name());
    return key_of(*with_neighbours(ring, std::make_shared<const Neighbourhood>(std::move(row))));
  };
  EXPECT_EQ(with(true), key_of(ring)) << "made apart, and the same";
  EXPECT_NE(with(false), key_of(ring));
}

TEST_F(OneRank, APlanMadeAloneIsNotAgreedOnUntilItIsSaid) {
  const Collective c = collective(1);
  const Result<Schedule> schedule = (*Registry::standard().find(c.kind, "ring"))->build(c, RankSpace::row(1));
  const auto alone = Plan::make_alone(*schedule, Rank{0}, silent_, *find_reduction(c));
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(silent_.prepared, 0);
  EXPECT_FALSE((*alone)->is_agreed());
  (*alone)->set_agreed();
  EXPECT_TRUE((*alone)->is_agreed());
}

} // namespace
} // namespace kumihimo::plan
