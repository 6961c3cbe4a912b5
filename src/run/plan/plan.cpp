#include "plan/plan.hpp"

#include <new>
#include <utility>

namespace kumihimo::plan {

void Plan::refuse(transport::Transport& transport) {
  transport::Demands none;
  none.impossible = true;
  static_cast<void>(transport.prepare(none)); // where the other ranks wait for this one's demands
}

Result<std::unique_ptr<Plan>> Plan::make(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                         const transport::Reduction& reduction, Hints hints) {
  Result<std::unique_ptr<Plan>> plan = failed("out of memory", {}, "see ulimit -v");
  try {
    Result<execute::CompiledProgram> program = execute::compile(schedule, rank, {hints, schedule.claims.in_place_safe});
    if (program)
      plan = std::unique_ptr<Plan>(new Plan(std::move(*program), transport, reduction));
    else
      plan = program.error();
  } catch (const std::bad_alloc&) { // refuse() tells the other ranks
  }
  if (!plan) return refuse(transport), plan.error();
  (*plan)->execution_ = TRY(execute::Execution::prepare((*plan)->program_, transport));
  return plan;
}

Result<std::unique_ptr<Plan>> Plan::make_alone(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                               const transport::Reduction& reduction, Hints hints) {
  execute::CompiledProgram program = TRY(execute::compile(schedule, rank, {hints, schedule.claims.in_place_safe}));
  std::unique_ptr<Plan> plan(new Plan(std::move(program), transport, reduction));
  plan->execution_ = TRY(execute::Execution::make(plan->program_, transport));
  return plan;
}

Status Plan::bind(std::shared_ptr<const OwnBlocks> blocks) {
  if (Status s = program_.bind(std::move(blocks)); !s) return s;
  if (Status s = execution_->fit(); !s) return s;
  for (const auto& idle : idle_)
    if (Status s = idle->fit(); !s) return s;
  return Nothing{};
}

Result<execute::Execution*> Plan::borrow() {
  idle_.reserve(most_idle + 1); // nothing may fail when it is given back
  if (idle_.empty()) {
    std::unique_ptr<execute::Execution> execution = TRY(execute::Execution::make(program_, transport_));
    idle_.push_back(std::move(execution));
  }
  if (Status s = idle_.back()->reserve(); !s) return s.error();
  execute::Execution* const execution = idle_.back().release();
  idle_.pop_back();
  return execution;
}

void Plan::give_back(execute::Execution* execution) {
  std::unique_ptr<execute::Execution> returned(execution);
  if (idle_.size() < most_idle) idle_.push_back(std::move(returned));
}

} // namespace kumihimo::plan
