// The processes that run an application, as the frame sees them: one process without MPI, those of an MPI job, or in
// tests threads. The frame needs a transport and agreement of them; the rest it makes itself.
#pragma once

#include "application/array_exchange.hpp"
#include "base/result.hpp"
#include "krylov/linear_system.hpp"
#include "topology/rank_space.hpp"
#include "transport/transport.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::application {

// Some processes that exchange messages. Those that are `collective` are called by all ranks in the same order.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default; // collective
  virtual std::int32_t rank() const = 0;
  virtual std::int32_t ranks() const = 0;
  virtual std::vector<std::int64_t> node_of_rank() const = 0;
  // As algorithms see these ranks: a torus, where the job's surroundings tell its shape.
  virtual RankSpace space() const { return RankSpace::on_nodes(node_of_rank()); }
  // Null for one process. Collective at its first call.
  virtual Result<transport::Transport*> transport() = 0;
  // An exchange of boxes of arrays by the MPI library (array_exchange.hpp). Collective. Error: there is none.
  virtual Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>& to,
                                                                const std::vector<ArrayBox>& from) = 0;
};

// All of them.
class Processes : public ProcessGroup {
 public:
  // The processes that give the same colour, in their order, with a transport of their own. Collective. The group does
  // not outlive these processes. Errors: those of the transport, which all ranks of the group get.
  virtual Result<std::unique_ptr<ProcessGroup>> split(std::int32_t colour) = 0;
  // Sums by the MPI library's own (non-blocking) allreduce, of which all ranks get rank 0's bits. Error: there is no
  // MPI library.
  virtual Result<std::unique_ptr<krylov::Sums>> library_sums() = 0;

  // The error of the lowest rank that has one. Collective.
  virtual Status agree(const Status& mine) = 0;
  // Element by element over the ranks. Collective.
  virtual std::vector<double> largest(const std::vector<double>& mine) = 0;
  virtual std::vector<double> total(const std::vector<double>& mine) = 0;
  virtual void barrier() = 0;

  // Ends the job for an error of this rank alone, while others wait for it in an exchange. Returns where nobody waits.
  virtual void give_up(const Error&) {}

  virtual void print(const nlohmann::json& line) = 0; // by rank 0

  virtual std::string message_library() const { return {}; } // version of the MPI library; empty: there is none

  template <class T>
  Status agree_on(const Result<T>& mine) {
    return agree(mine ? Status(Nothing{}) : Status(mine.error()));
  }
};

// This process alone.
class OneProcess final : public Processes {
 public:
  std::int32_t rank() const override { return 0; }
  std::int32_t ranks() const override { return 1; }
  std::vector<std::int64_t> node_of_rank() const override { return {0}; }
  Result<transport::Transport*> transport() override { return static_cast<transport::Transport*>(nullptr); }
  Result<std::unique_ptr<ProcessGroup>> split(std::int32_t) override {
    return std::unique_ptr<ProcessGroup>(std::make_unique<OneProcess>());
  }
  Result<std::unique_ptr<krylov::Sums>> library_sums() override;
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>& to,
                                                        const std::vector<ArrayBox>& from) override;
  Status agree(const Status& mine) override { return mine; }
  std::vector<double> largest(const std::vector<double>& mine) override { return mine; }
  std::vector<double> total(const std::vector<double>& mine) override { return mine; }
  void barrier() override {}
  void print(const nlohmann::json& line) override;
};

} // namespace kumihimo::application
