// Memory and golden results for tests that run an allreduce in the loopback.
#pragma once

#include "golden/reductions.hpp"
#include "loopback/run_loopback.hpp"

#include <gtest/gtest.h>

namespace kumihimo::testing {

using golden::Buffer;

struct Ran {
  std::vector<Buffer> inputs, outputs;
  execute::LoopbackReport report;
};

// One vector collective (reduce, allreduce, bcast ...) on drawn inputs.
inline Result<Ran> run_vectors(const Schedule& schedule, const execute::LoopbackRun& options = {}) {
  const Collective& c = schedule.collective();
  Ran ran;
  std::vector<execute::Buffers> buffers;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    ran.inputs.push_back(golden::draw_vector(c.type, c.operation, c.counts.each, 7 + static_cast<std::uint64_t>(r)));
    ran.outputs.push_back(c.aliased(Rank{r}) ? ran.inputs.back() : Buffer(ran.inputs.back().size()));
  }
  for (std::size_t r = 0; r < ran.inputs.size(); ++r)
    buffers.push_back(
        {c.aliased(Rank{static_cast<std::int32_t>(r)}) ? nullptr : ran.inputs[r].data(), ran.outputs[r].data()});
  auto report = execute::run_loopback(schedule, buffers, options);
  if (!report) return report.error();
  ran.report = *std::move(report);
  return ran;
}

inline void expect_allreduce(const Collective& c, const Result<Ran>& ran) {
  ASSERT_TRUE(ran.ok()) << ran.error().sentence();
  for (std::size_t r = 0; r < ran->outputs.size(); ++r) {
    const auto wrong = golden::wrong_reduction(c.type, c.operation, ran->inputs, ran->outputs[r]);
    EXPECT_EQ(wrong, std::nullopt) << "rank " << r << ": " << wrong.value_or("");
    EXPECT_EQ(ran->outputs[r], ran->outputs[0]) << "rank " << r;
  }
}

} // namespace kumihimo::testing
