// The fit of measured ping-pongs against times that the engine of the model itself gives.
#include "goal/text.hpp"
#include "loggp/engine.hpp"
#include "measure/loggops_fit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace kumihimo::loggp {
namespace {

constexpr std::int32_t messages = 16;

// The client's time in seconds, of `n` messages with `delay` between them and an answer.
double client_seconds(const LogGopsParameters& p, std::int64_t bytes, int n, double delay) {
  std::string client = "num_ranks 2\nrank 0 {\n", server = "rank 1 {\n";
  for (int i = 0; i < n; ++i) {
    if (i > 0) client += fmt::format("c{0}: calc {1}\nc{0} requires s{2}\n", i, std::llround(delay * 1e9), i - 1);
    client += fmt::format("s{}: send {}b to 1\n", i, bytes);
    if (i > 0) client += fmt::format("s{0} requires c{0}\n", i);
    server += fmt::format("r{}: recv {}b from 0\n", i, bytes);
    if (i > 0) server += fmt::format("r{} requires r{}\n", i, i - 1);
  }
  client += fmt::format("a: recv {}b from 1\na requires s{}\n}}\n", bytes, n - 1);
  server += fmt::format("a: send {}b to 0\na requires r{}\n}}\n", bytes, n - 1);
  const auto graphs = goal::parse_text(client + server, "trains.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  const auto outcome = run(*graphs, p);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return static_cast<double>(outcome->end[0]) * 1e-12;
}

measure::LogGops found_again(const LogGopsParameters& p, double scale = 1, std::size_t disturbed = SIZE_MAX) {
  std::vector<measure::Trains> trains;
  for (std::int64_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
    measure::Trains each{.bytes = bytes, .one = client_seconds(p, bytes, 1, 0)};
    each.delay = std::ceil(each.one * 1e9) * 1e-9; // a calc of GOAL has whole nanoseconds
    each.train = client_seconds(p, bytes, messages, 0);
    each.spaced = client_seconds(p, bytes, messages, each.delay) * scale;
    trains.push_back(each);
  }
  if (disturbed < trains.size()) trains[disturbed].train = 0.9 * trains[disturbed].one;
  return measure::fit_loggops(trains, messages, static_cast<std::int64_t>(p.S));
}

LogGopsParameters of(std::string_view text) {
  const auto parsed = parse_parameters(text, {});
  EXPECT_TRUE(parsed);
  return *parsed;
}

void expect_found(const LogGopsParameters& p) {
  const measure::LogGops found = found_again(p);
  const auto near = [](double seconds, double of) { EXPECT_NEAR(seconds, of, 1e-12 + 2e-3 * of); };
  near(found.L, static_cast<double>(p.L) * 1e-12);
  near(found.o, static_cast<double>(p.o) * 1e-12);
  near(found.g, static_cast<double>(p.g) * 1e-12);
  near(found.G, static_cast<double>(p.G) * 1e-15);
  near(found.O, static_cast<double>(p.O) * 1e-15);
  EXPECT_LT(found.largest_deviation, 2e-3);
}

TEST(Fit, FindsTheParametersOfTheEngineAgain) {
  expect_found(of("L=2500,o=500,g=1000,G=6,O=0,S=4194304"));
  expect_found(of("L=800,o=150,g=400,G=0.25,O=0.1,S=4194304"));
}

TEST(Fit, FindsRandomParametersAgain) {
  std::mt19937_64 random(3);
  const auto drawn = [&](std::uint64_t low, std::uint64_t high) { return low + random() % (high - low); };
  for (int i = 0; i < 50; ++i) {
    LogGopsParameters p{
        .L = drawn(100'000, 5'000'000), .o = drawn(50'000, 1'000'000), .g = 0, .G = 0, .O = 0, .S = 1U << 22};
    p.g = p.o + drawn(1'000, 1'000'000);
    p.G = drawn(10'000, 5'000'000);
    p.O = drawn(0, p.G);
    expect_found(p);
  }
}

// A message beyond S ends when its receive takes it, which is no overhead: O comes from those up to S alone.
TEST(Fit, LongMessagesDoNotCountAsOverhead) {
  const measure::LogGops found = found_again(of("L=2500,o=500,g=1000,G=6,O=0,S=4096"));
  EXPECT_NEAR(found.o, 500e-9, 1e-12);
  EXPECT_EQ(found.O, 0);
}

TEST(Fit, FindsTheRendezvous) {
  const measure::LogGops found = found_again(of("L=2500,o=500,g=1000,G=6,O=0,S=4096,R=3000"));
  EXPECT_NEAR(found.R, 3000e-9, 20e-9);
  EXPECT_NEAR(found.G, 6e-9, 0.1e-9);
  EXPECT_NEAR(found.L, 2500e-9, 5e-9);
  EXPECT_EQ(found_again(of("L=2500,o=500,g=1000,G=6,O=0,S=4194304")).R, 0);
}

// A step between short messages looks like bytes that cost more than their gap.
TEST(Fit, OverheadOfAByteIsAtMostItsGap) {
  std::vector<measure::Trains> trains;
  for (std::int64_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
    const double b = static_cast<double>(bytes - 1), step = bytes > 256 ? 1e-6 : 0;
    trains.push_back({.bytes = bytes, .one = 2e-6 + 2 * b * 1e-10, .train = 0, .spaced = 0, .delay = 1e-5});
    trains.back().train = trains.back().one + 15 * (4e-7 + b * 1e-10);
    trains.back().spaced = trains.back().one + 15 * (1e-5 + 2e-7 + step);
  }
  const measure::LogGops found = measure::fit_loggops(trains, messages, 4096);
  EXPECT_NEAR(found.G, 1e-10, 1e-14);
  EXPECT_EQ(found.O, found.G);
}

TEST(Fit, WhereOverheadHidesTheGapTheGapIsTheOverhead) {
  EXPECT_NEAR(found_again(of("L=2500,o=1500,g=1000,G=6,O=0,S=4194304")).g, 1500e-9, 2e-9);
}

// Other programs on the processors: a message that waits for one takes longer than 16 that do not.
TEST(Fit, ATrainThatIsFasterThanAMessageDoesNotCount) {
  const LogGopsParameters p = of("L=2500,o=500,g=1000,G=6,O=0,S=4096");
  for (const std::size_t disturbed : {1U, 5U, 8U}) {
    const measure::LogGops found = found_again(p, 1, disturbed);
    EXPECT_NEAR(found.G, 6e-9, 0.1e-9) << disturbed;
    EXPECT_NEAR(found.g, 1000e-9, 10e-9) << disturbed;
  }
}

TEST(Fit, WrongTimesGiveOtherParameters) {
  EXPECT_GT(std::abs(found_again(of("L=2500,o=500,g=1000,G=6,O=0,S=4194304"), 1.1).o - 500e-9), 50e-9);
}

} // namespace
} // namespace kumihimo::loggp
