// The mechanism on an invented problem, the sum of a list: variants with parameters, of which one is wrong on one input
// and one is slow. Time is that of loops that really run.
#include "problem/plan_cache.hpp"
#include "problem/tuner.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>

namespace kumihimo::problem {
namespace {

using List = std::vector<std::int64_t>;

std::int64_t plain(const List& list) {
  std::int64_t sum = 0;
  for (const std::int64_t value : list) sum += value;
  return sum;
}
std::int64_t blocked(const List& list, std::int64_t block) {
  std::int64_t sum = 0;
  for (std::size_t first = 0; first < list.size(); first += static_cast<std::size_t>(block)) {
    const auto end = std::min(list.size(), first + static_cast<std::size_t>(block));
    sum += std::accumulate(list.begin() + static_cast<std::ptrdiff_t>(first),
                           list.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
  }
  return sum;
}
std::int64_t forgets_the_last_of_nine(const List& list) { return plain(list) - (list.size() == 9 ? list.back() : 0); }
void idle(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

constexpr Parameter block{.name = "block", .meaning = "elements", .tuning_values = {16, 64}};
constexpr Parameter wait{.name = "wait", .meaning = "microseconds", .min = 0, .tuning_values = {30}};

constexpr TakenParameter of_blocked[] = {{&block, 16}, {&wait, 0}};

class Sum final : public Problem {
 public:
  std::string untuned_variant = "plain";

  std::vector<VariantDescription> variants(const Key& key) const override {
    std::vector<VariantDescription> all = {{"plain", "one by one", {}}, {"slow", "waits a while", {}}};
    if (key[0].second == "integer") {
      all.push_back({"blocked", "by blocks", of_blocked});
      all.push_back({"sabotaged", "wrong on nine", {}});
    }
    return all;
  }
  Candidate untuned(const Key&, std::int64_t) const override { return {untuned_variant, {}}; }
  Status check(const Key&, const Candidate& candidate) const override {
    ++checks;
    std::mt19937_64 random(1);
    for (std::size_t length = 0; length < 20; ++length) {
      List list(length);
      for (std::int64_t& value : list) value = static_cast<std::int64_t>(random() % 1000) + 1;
      if (const std::int64_t found = result(candidate, list), expected = plain(list); found != expected)
        return failed(fmt::format("{} of {} elements", expected, length), fmt::format("{}", found));
    }
    return Nothing{};
  }
  Result<std::unique_ptr<Trial>> trial(const Key&, std::int64_t size) const override {
    if (size > 1'000'000) return failed("out of memory for the list");
    struct Runs final : Trial {
      List list;
      std::int64_t sum = 0;
      void run(const Candidate& candidate, std::int64_t times) override {
        for (std::int64_t i = 0; i < times; ++i) sum += result(candidate, list);
      }
      void run_bound(std::int64_t times) override { sum += times; }
    };
    auto runs = std::make_unique<Runs>();
    runs->list.assign(static_cast<std::size_t>(size), 1);
    return std::unique_ptr<Trial>(std::move(runs));
  }

  mutable int checks = 0;

 private:
  static std::int64_t result(const Candidate& candidate, const List& list) {
    if (candidate.variant == "sabotaged") return forgets_the_last_of_nine(list);
    if (candidate.variant == "plain" && list.size() > 20) idle(20); // so that a faster one can be found by its time
    if (candidate.variant == "slow" && list.size() > 20) idle(200);
    if (candidate.variant != "blocked") return plain(list);
    if (list.size() > 20) idle(static_cast<int>(candidate.parameters.at("wait")));
    return blocked(list, candidate.parameters.at("block"));
  }
};

const Key integer{{"type", "integer"}}, real{{"type", "real"}};
const TuningEffort quick{.seconds = 0.01, .sample_seconds = 1e-4};

const Tried& of(const Decision& decision, std::string_view text) {
  for (const Tried& each : decision.tried)
    if (each.candidate.text() == text) return each;
  ADD_FAILURE() << text;
  return decision.tried[0];
}

TEST(Candidates, AreAllCombinationsOfDeclaredValues) {
  std::string all;
  static constexpr Parameter a{.name = "a", .meaning = "", .tuning_values = {2}},
      b{.name = "b", .meaning = "", .tuning_values = {3, 4}};
  static constexpr TakenParameter taken[] = {{&a, 1}, {&b, 3}};
  for (const Candidate& each : candidates_of({"v", "", taken})) all += each.text() + "; ";
  EXPECT_EQ(all, "v, a 1, b 3; v, a 1, b 4; v, a 2, b 3; v, a 2, b 4; ");
  EXPECT_EQ(candidates_of({"v", "", {}}).size(), 1u);
}

TEST(Tuner, ChoosesTheFastestThatIsRight) {
  const Sum sum;
  Tuner tuner(sum);
  const Result<Decision> decision = tuner.decide(integer, 100, quick);
  ASSERT_TRUE(decision) << decision.error().sentence();
  ASSERT_EQ(decision->tried.size(), 7u);
  EXPECT_EQ(decision->tried[decision->untuned].candidate.text(), "plain");
  const Tried& chosen = decision->tried[decision->chosen];
  EXPECT_EQ(chosen.candidate.variant, "blocked");
  EXPECT_EQ(chosen.candidate.parameters.at("wait"), 0);
  EXPECT_LT(chosen.untuned.interval.high, 1);
  EXPECT_LT(decision->bound_seconds, chosen.seconds.median);
  EXPECT_GE(chosen.seconds.samples, 7);
  EXPECT_TRUE(of(*decision, "slow").dropped);
  EXPECT_EQ(of(*decision, "slow").seconds.samples, 3);
}

TEST(Tuner, RefusesAWrongVariantAndNamesTheInput) {
  const Sum sum;
  Tuner tuner(sum);
  const Result<Decision> decision = tuner.decide(integer, 100, quick);
  ASSERT_TRUE(decision);
  const Tried& wrong = of(*decision, "sabotaged");
  EXPECT_NE(wrong.refused.find("of 9 elements"), std::string::npos) << wrong.refused;
  EXPECT_EQ(wrong.seconds.samples, 0) << "it is not even measured";
  for (const Tried& each : decision->tried) EXPECT_EQ(each.refused.empty(), &each != &wrong) << each.candidate.text();
}

TEST(Tuner, KeepsWhatRunsUntunedUnlessAnotherIsFaster) {
  const Sum sum;
  Tuner tuner(sum);
  const Result<Decision> decision = tuner.decide(real, 100, quick); // only the slow one beside it
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->chosen, decision->untuned);
}

TEST(Tuner, ChecksACandidateOnceForAllSizes) {
  const Sum sum;
  Tuner tuner(sum);
  ASSERT_TRUE(tuner.decide(real, 100, quick));
  ASSERT_TRUE(tuner.decide(real, 200, quick));
  EXPECT_EQ(sum.checks, 2);
}

TEST(Tuner, WhatItCannotDoIsAnError) {
  Sum sum;
  Tuner tuner(sum);
  EXPECT_EQ(tuner.decide(real, 2'000'000, quick).error().sentence(), "out of memory for the list");
  sum.untuned_variant = "sabotaged";
  EXPECT_NE(tuner.decide(integer, 100, quick).error().sentence().find("the untuned variant sabotaged"),
            std::string::npos);
}

TEST(PlanCache, FindsPlansOfAnyProblemByTheirKeys) {
  struct ToyKey {
    std::int64_t size = 0;
    char kind = 'a';
    bool operator==(const ToyKey&) const = default;
    std::uint64_t hash() const { return static_cast<std::uint64_t>(size % 3) << 32; } // nearly all collide
  };
  PlanCache<ToyKey, std::string> cache;
  for (std::int64_t size = 0; size < 100; ++size)
    cache.keep({size, 'a'}, std::make_unique<std::string>(fmt::format("{}", size)));
  cache.keep({7, 'a'}, std::make_unique<std::string>("seven"));
  EXPECT_EQ(cache.size(), 100);
  EXPECT_EQ(*cache.find({7, 'a'}), "seven");
  EXPECT_EQ(*cache.find({99, 'a'}), "99");
  EXPECT_EQ(cache.find({7, 'b'}), nullptr);
}

} // namespace
} // namespace kumihimo::problem
