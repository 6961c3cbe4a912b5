// Sums over ranks by an allreduce schedule of the registry, which the engine runs.
#pragma once

#include "application/program_run.hpp"
#include "krylov/linear_system.hpp"
#include "topology/rank_space.hpp"

#include <map>
#include <memory>
#include <string>

namespace kumihimo::application {

class ScheduledSums final : public krylov::Sums {
 public:
  // `algorithm`: an allreduce of the registry that gives all ranks the same bits. Error: there is none of this name, or
  // it does not fit the ranks.
  static Result<std::unique_ptr<ScheduledSums>> make(const std::string& algorithm, RankSpace space, Rank rank,
                                                     UnderWay& under_way);

  Status sum(std::span<double> values) override;
  Status start(std::span<double> values) override;
  Status wait() override;

 private:
  ScheduledSums(const std::string& algorithm, RankSpace space, Rank rank, UnderWay& under_way)
      : algorithm_(algorithm), space_(std::move(space)), rank_(rank), under_way_(under_way) {}
  // The run for vectors of this length. Collective at its first use.
  Result<ProgramRun*> run_of(std::size_t length, transport::Stream stream);
  std::string algorithm_;
  RankSpace space_;
  Rank rank_;
  UnderWay& under_way_;
  std::map<std::pair<std::size_t, transport::Stream>, std::unique_ptr<ProgramRun>> runs_;
  ProgramRun* started_ = nullptr;
};

} // namespace kumihimo::application
