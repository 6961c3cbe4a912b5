// The plan of a collective call: a compiled program with its executions.
#pragma once

#include "execute/engine.hpp"
#include "plan/call_key.hpp"
#include "problem/plan_cache.hpp"
#include "schedule/schedule.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::plan {

// The built-in loop of a collective; none for those that do not reduce. Error: as that of execute.
inline Result<transport::Reduction> find_reduction(const Collective& c) {
  return execute::find_reduction(c.type, c.reduces() ? std::optional(c.operation) : std::nullopt);
}

// A schedule made ready to be run on this rank, as often as wanted.
class Plan {
 public:
  // Errors: those of execute::compile and Execution::prepare. As collective as the transport's prepare(), which a rank
  // that finds no program calls too. The transport must outlive the plan.
  static Result<std::unique_ptr<Plan>> make(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                            const transport::Reduction& reduction, Hints hints = {});
  // In place of make() on a rank that has no schedule, where the others may have one.
  static void refuse(transport::Transport& transport);

  // The same as make(), by this rank alone: for a transport that takes every program.
  static Result<std::unique_ptr<Plan>> make_alone(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                                  const transport::Reduction& reduction, Hints hints = {});

  // Of a schedule of counts of its rank's own: for the blocks of the next run. Not while one is under way.
  Status bind(std::shared_ptr<const OwnBlocks> blocks);

  // `reduction`: of this run, in place of the plan's.
  Status run(const execute::Buffers& buffers, const transport::Reduction* reduction = nullptr) {
    return execution_->run(buffers, reduction ? *reduction : reduction_);
  }

  // For runs of which several are under way at once: an execution of its own for each, with its memory. It is the
  // borrower's until it is given back; a few are kept for the next.
  static constexpr std::size_t most_idle = 2;
  Result<execute::Execution*> borrow();
  void give_back(execute::Execution* execution);
  std::size_t idle() const { return idle_.size(); }
  const transport::Reduction& reduction() const { return reduction_; }
  // About what one of them needs while it is under way, here and for messages that come too early.
  std::int64_t bytes() const { return program_.buffer_bytes() + program_.scratch_bytes(); }

  // Whether it is known that every rank has it.
  bool is_agreed() const { return agreed_; }
  void set_agreed() { agreed_ = true; }

 private:
  Plan(execute::CompiledProgram program, transport::Transport& transport, const transport::Reduction& reduction)
      : program_(std::move(program)), transport_(transport), reduction_(reduction) {}
  execute::CompiledProgram program_;
  transport::Transport& transport_;
  transport::Reduction reduction_;
  bool agreed_ = false;
  std::unique_ptr<execute::Execution> execution_;
  std::vector<std::unique_ptr<execute::Execution>> idle_; // for the next borrower
};

using PlanCache = problem::PlanCache<CallKey, Plan>;

} // namespace kumihimo::plan
