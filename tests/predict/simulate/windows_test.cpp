// Windows of sends and receives: what waits in a round, and does not where sends and receives are apart.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

// Two ranks exchange long blocks, which lie in different rounds of both; all other blocks are short. `rounds`: one
// message at a time each way; else one send and one receive.
double seconds(const Job& job, bool rounds, ScheduleModel model) {
  constexpr std::int64_t ranks = 4, length = 10 * million;
  std::vector<std::int64_t> counts(ranks * ranks, 1);
  counts[0 * ranks + 1] = counts[1 * ranks + 0] = length;
  const Collective c = *with_counts(make_collective(CollectiveKind::alltoall, ranks, 1), counts);
  Parameters p;
  if (rounds)
    p.throttle = 1;
  else
    p.send_window = p.receive_window = 1;
  const Schedule s = *algorithm("linear", CollectiveKind::alltoall).build(c, job.rank_space(), p);
  return predicted(s, job, model).seconds.value;
}

// Rank 1 has the long block of rank 0 in its first round, and sends its own in its last: in rounds it waits until the
// first is complete, so that the two follow each other.
TEST(Windows, ASendDoesNotWaitForAReceive) {
  const Machine m = plain("4");
  for (const ScheduleModel model : {ScheduleModel::flow, ScheduleModel::exact}) {
    const double rounds = seconds(m, true, model), apart = seconds(m, false, model);
    EXPECT_NEAR(rounds, 20e-3, 0.2e-3);
    EXPECT_NEAR(apart, 10e-3, 0.2e-3);
  }
}

// Of equal blocks in step there is nothing to wait for.
TEST(Windows, RoundsInStepTakeAsLong) {
  const Machine m = plain("8");
  Parameters rounds, apart;
  rounds.throttle = 1, apart.send_window = apart.receive_window = 1;
  const Variant& linear = algorithm("linear", CollectiveKind::alltoall);
  const double in_step = predicted(built(linear, m, 1'000'000, rounds), m).seconds.value;
  EXPECT_NEAR(predicted(built(linear, m, 1'000'000, apart), m).seconds.value / in_step, 1, 0.05);
}

// All send to all at once, each receives one message at a time: as many are under way as there are ranks.
TEST(Windows, AReceiveWindowAloneLimitsWhatIsUnderWay) {
  const Machine m = plain("4x4");
  const Variant& linear = algorithm("linear", CollectiveKind::alltoall);
  const auto seconds_with = [&](std::optional<std::int64_t> sends, std::optional<std::int64_t> receives) {
    Parameters p;
    p.send_window = sends, p.receive_window = receives;
    return predicted(built(linear, m, 1'000'000, p), m, ScheduleModel::exact).seconds.value;
  };
  const double one = seconds_with(std::nullopt, 1), all = seconds_with(std::nullopt, std::nullopt);
  Parameters pairwise;
  pairwise.throttle = 1;
  EXPECT_NE(one, all);
  EXPECT_LE(one, 1.05 * predicted(built(linear, m, 1'000'000, pairwise), m, ScheduleModel::exact).seconds.value);
}

} // namespace
} // namespace kumihimo::simulate_test
