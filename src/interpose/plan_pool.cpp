// Plans of calls whose lengths each rank knows of its own blocks alone (ADR 0019): there is one for each kind and root,
// or several where several are under way, and never one for a length.
#include "interpose/communicator.hpp"

#include <algorithm>
#include <atomic>

namespace kumihimo::interpose {
namespace {

constexpr std::size_t most_idle = 4; // of one question; more were under way at once, and may not be again

bool is_idle(const std::shared_ptr<plan::Plan>& plan) { return plan.use_count() == 1; }

// One that is idle; of the others that are, few stay.
std::shared_ptr<plan::Plan> idle_of(std::vector<std::shared_ptr<plan::Plan>>& plans) {
  const auto found = std::find_if(plans.begin(), plans.end(), is_idle);
  if (found == plans.end()) return nullptr;
  std::shared_ptr<plan::Plan> idle = *found;
  std::atomic_thread_fence(std::memory_order_acquire); // after whoever gave it back
  std::size_t more = 0;
  std::erase_if(plans, [&](const auto& plan) { return is_idle(plan) && ++more > most_idle; });
  return idle;
}

} // namespace

std::variant<Communicator::Loan, Reason, Error> Communicator::borrow_plan(const Collective& question, Form form) {
  if (!agrees_) return why_not();
  const Choice* const chosen = (*choices_)[question.kind].for_local_counts;
  if (!chosen) return Reason::not_chosen;
  if (form == Form::nonblocking) {
    if (!completion_is_caught_) return Reason::unseen;
    if (resources_->transport && !resources_->transport->is_single_node()) return Reason::far;
  }
  plan::CallKey key = plan::key_of(question);
  key.in_place = false; // both are made
  const auto pool = pool_for(question, key, form);
  if (const Reason* reason = std::get_if<Reason>(&pool)) return *reason;
  if (const Error* error = std::get_if<Error>(&pool)) return *error;
  auto& plans = std::get<PlanPool*>(pool)->plans[question.in_place];
  if (std::shared_ptr<plan::Plan> idle = idle_of(plans)) return Loan{std::move(idle), chosen->place};
  // All ranks have such a plan, and so what it asks of the transport is granted.
  Result<PlanPool> made = make_pool(question, *chosen, Asking::nobody);
  if (!made) return made.error();
  plans.push_back(std::move(made->plans[question.in_place].front()));
  return Loan{plans.back(), chosen->place};
}

std::variant<PlanPool*, Reason, Error> Communicator::pool_for(const Collective& question, const plan::CallKey& key,
                                                              Form form) {
  const bool waits = form == Form::blocking;
  const auto found = resources_->pools.find(key);
  if (found != resources_->pools.end() && (found->second.agreed || !waits)) return &found->second;
  if (found == resources_->pools.end())
    if (const auto reason = obstacle(key)) return *reason;
  if (!resources_->transport && !waits) return Reason::not_connected;
  if (!resources_->transport && !open_transport()) return crowded_out_ ? Reason::crowded_out : Reason::no_plan;
  const Choice& chosen = *(*choices_)[question.kind].for_local_counts;
  if (!fits(question, chosen)) { // on all ranks alike: it is asked of the question
    resources_->refused.insert(key);
    return Reason::no_plan;
  }
  Result<PlanPool> made = PlanPool{};
  Status joined = Nothing{};
  if (found != resources_->pools.end())
    joined = join(found->second);
  else
    made = make_pool(question, chosen, waits ? Asking::all_ranks : Asking::nobody);
  const std::optional<Error> error = !made     ? std::optional(made.error())
                                     : !joined ? std::optional(joined.error())
                                               : std::nullopt;
  if (error && !waits) return *error; // a lack of memory, of which the others cannot be told here
  if (error && note_.empty() && !error->elsewhere) note_ = error->sentence();
  if (waits && !all(!error)) {
    resources_->pools.erase(key);
    resources_->refused.insert(key);
    return Reason::no_plan;
  }
  PlanPool& pool =
      found != resources_->pools.end() ? found->second : resources_->pools.emplace(key, std::move(*made)).first->second;
  pool.agreed = waits;
  return &pool;
}

// In place and not: either may be asked for on any rank.
bool Communicator::fits(Collective question, const Choice& choice) const {
  question.in_place = false;
  if (!schedule_of(question, choice)) return false;
  question.in_place = may_be_in_place(question.kind);
  return schedule_of(question, choice).ok();
}

// As the others make theirs, which ask the transport once for each.
Status Communicator::join(const PlanPool& pool) const {
  Status joined = Nothing{};
  for (const auto& plans : pool.plans) {
    if (plans.empty()) continue;
    if (resources_->transport->has_failed()) resources_->transport->refuse();
    if (Status s = plans.front()->join(); !s && joined) joined = s;
  }
  return joined;
}

// Of blocks without data: what is asked of the transport, and so the answer, knows no lengths.
Result<PlanPool> Communicator::make_pool(Collective question, const Choice& choice, Asking asking) {
  PlanPool pool = {};
  std::optional<Error> error;
  for (const bool in_place : {false, true}) {
    if (in_place && !may_be_in_place(question.kind)) break;
    question.in_place = in_place;
    const Result<Schedule> schedule = schedule_of(question, choice);
    if (!schedule) return schedule.error(); // on all ranks alike: it is asked of the question
    if (asking == Asking::all_ranks && resources_->transport->has_failed()) resources_->transport->refuse();
    const auto make = asking == Asking::all_ranks ? &plan::Plan::make : &plan::Plan::make_alone;
    Result<std::unique_ptr<plan::Plan>> made =
        make(*schedule, Rank{rank_}, *resources_->transport, transport::Reduction{},
             choice.parameters.hints());
    if (made)
      pool.plans[in_place].push_back(std::move(*made));
    else if (!error)
      error = made.error();
  }
  if (error) return *error;
  return pool;
}

} // namespace kumihimo::interpose
