// Runs of lu on threads in the place of ranks, for its tests.
#pragma once

#include "application/checkpoints.hpp"
#include "application/request.hpp"
#include "applications.hpp"
#include "loopback/run_application.hpp"
#include "lu_app/check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::lu_app {

using application::Processes, application::run_processes, application::Runtime;
using nlohmann::json;

inline json with_blas(json options) {
  if (!blas::Blas::open("", "blas")) options["blas"] = "libblas.so.3";
  return options;
}

class LuOverRanks : public testing::Test {
 protected:
  void SetUp() override {
    const std::string library = with_blas(json::object()).value("blas", "");
    if (const auto blas = blas::Blas::open(library, "blas"); !blas) GTEST_SKIP() << blas.error().sentence();
  }
};

inline Result<json> run(const json& task_text, std::int32_t ranks, std::uint64_t seed = 1) {
  return application::run_application(task_text, applications(), ranks, seed);
}

inline json task_of(std::string_view variant, std::int64_t n, const json& options,
                    const json& parameters = json::object()) {
  return {{"application", "lu"},
          {"size", fmt::format("{}", n)},
          {"options", with_blas(options)},
          {"candidates", {{{"variant", variant}, {"parameters", parameters}}}}};
}

// The factors and pivots of a run on P x Q ranks.
struct Factored {
  std::vector<double> lu;
  std::vector<std::int64_t> pivots;
};
inline Factored factored(std::int32_t p, std::int32_t q, int lookahead, LuVariant::Pivoting pivoting,
                         const application::CheckpointOptions& checkpoints = {},
                         const std::string& broadcast = "chain") {
  Factored found;
  const auto [status, printed] = run_processes(p * q, false, 5, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    application::RunIdentity identity{.application = "lu", .restart_on = application::RestartOn::same_ranks};
    identity.of_problem = identity.of_variant = identity.of_ranks = json::object();
    if (Status s = runtime->start_checkpoints(checkpoints, std::move(identity)); !s) return s;
    const LuProblem problem{.n = 157, .block = 8, .p = p, .q = q, .lookahead = lookahead, .broadcast = broadcast};
    LuRequest request;
    request.pivoting = pivoting;
    std::shared_ptr<const blas::Blas> blas = TRY(blas::Blas::open(with_blas(json::object()).value("blas", ""), "blas"));
    ProcessGrid grid = TRY(ProcessGrid::make(p, q, false, *runtime));
    std::unique_ptr<LuFactorisation> factors = TRY(LuFactorisation::make(problem, request, grid, *blas));
    if (Status s = factors->accept_messages(processes); !s) return s;
    if (Status s = factors->factor(runtime->checkpoints()); !s) return s;
    std::vector<double> lu = TRY(gathered(*factors, *runtime));
    if (processes.rank() == 0) found = {std::move(lu), factors->pivots()};
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  return found;
}

} // namespace kumihimo::lu_app
