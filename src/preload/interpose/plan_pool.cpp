// Plans of calls in which each rank knows the lengths of its own blocks only (ADR 0019): one for each kind and root,
// for all lengths, and more while several calls are under way.
#include "interpose/communicator.hpp"
#include "interpose/memory_reserve.hpp"

#include <algorithm>
#include <atomic>

namespace kumihimo::interpose {
namespace {

constexpr std::size_t most_idle = 4; // of one call; more were under way at once, and may not be again

bool is_idle(const std::shared_ptr<plan::Plan>& plan) { return plan.use_count() == 1; }

// An idle plan, or null. Frees all but a few of the other idle ones.
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

std::variant<Communicator::BorrowedPlan, Reason, Error> Communicator::borrow_plan(const Collective& collective,
                                                                                  CallForm form, bool on_device) {
  if (!agrees_) return why_not();
  const WisdomChoice* const chosen = (*choices_)[collective.kind].for_local_counts.get();
  if (!chosen) return Reason::not_chosen;
  if (form == CallForm::nonblocking)
    if (const auto reason = declines_nonblocking(false)) return *reason;
  plan::CallKey key = plan::key_of(collective);
  key.in_place = false; // both are made
  const auto pool = pool_for(collective, key, form, on_device);
  if (const Reason* reason = std::get_if<Reason>(&pool)) return *reason;
  if (const Error* error = std::get_if<Error>(&pool)) return *error;
  auto& plans = std::get<PlanPool*>(pool)->plans[collective.in_place];
  if (std::shared_ptr<plan::Plan> idle = idle_of(plans)) return BorrowedPlan{std::move(idle), chosen->place};
  // The transport grants it, because all ranks have such a plan.
  std::unique_ptr<plan::Plan> made = TRY(make_one(collective, *chosen, false));
  return BorrowedPlan{plans.emplace_back(std::move(made)), chosen->place};
}

// Of blocks without data: what is asked of the transport, and so the answer, knows no lengths.
std::variant<PlanPool*, Reason, Error> Communicator::pool_for(const Collective& collective, const plan::CallKey& key,
                                                              CallForm form, bool on_device) {
  const bool waits = form == CallForm::blocking;
  const auto known = resources_->pools.find(key);
  if (known != resources_->pools.end() && (known->second.agreed || !waits)) return &known->second;
  if (waits) {
    if (const auto reason = obstacle(key)) return *reason;
  } else if (const auto it = resources_->refused.find(key);
             it != resources_->refused.end() && it->second != Reason::device) {
    return it->second;
  }
  std::optional<Error> error;
  if (known == resources_->pools.end()) {
    const bool asks = waits && !resources_->transport->is_single_node();
    const WisdomChoice& chosen = *(*choices_)[collective.kind].for_local_counts;
    Both made = make_both(collective, chosen, asks, error);
    const auto keep = [&] {
      for (const bool in_place : {false, true})
        if (made[in_place]) resources_->pools[key].plans[in_place].push_back(std::move(made[in_place]));
      return true;
    };
    if (!attempted(keep, [] { return false; })) error = out_of_memory();
  }
  const auto reason = waits ? decide(key, error, on_device) : std::nullopt;
  if (reason || error) resources_->pools.erase(key);
  if (reason) return *reason;
  if (error && error->kind == Error::Kind::failed) return *error; // no memory: the others cannot be told here
  if (error) return resources_->refused.emplace(key, Reason::no_plan), Reason::no_plan; // on all ranks alike
  PlanPool& pool = resources_->pools[key];
  pool.agreed = waits;
  return &pool;
}

} // namespace kumihimo::interpose
