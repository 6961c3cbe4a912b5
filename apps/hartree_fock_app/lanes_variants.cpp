#include "hartree_fock_app/lanes_variants.hpp"

#include "application/unit_queue.hpp"
#include "hartree_fock/two_electron/build.hpp"

#include <string>

namespace kumihimo::hartree_fock_app {
namespace {

using application::Runtime, application::UnitQueue;
using namespace hartree_fock::two_electron;
using hartree_fock::TwoElectron;

class QueueDealer final : public Dealer {
 public:
  explicit QueueDealer(UnitQueue& queue) : queue_(queue) {}
  std::int64_t next(int thread) override { return queue_.next(thread == 0); }
  Status end() override { return queue_.end(); }

 private:
  UnitQueue& queue_;
};

// Collective, if there are several ranks.
Result<BuildRanks> ranks_of(Runtime& runtime, double static_share) {
  if (runtime.ranks() == 1) return BuildRanks{};
  transport::Transport* const transport = TRY(runtime.processes().transport());
  Result<std::unique_ptr<UnitQueue>> made = UnitQueue::make(transport, runtime.rank(), runtime.ranks());
  if (Status s = runtime.agree_on(made); !s) return s.error();
  const std::shared_ptr<UnitQueue> queue = std::move(*made);
  BuildRanks ranks = collectives_of(runtime);
  ranks.deal = [queue, static_share](std::span<const double> costs) -> Result<std::unique_ptr<Dealer>> {
    queue->begin(costs, static_share);
    return std::unique_ptr<Dealer>(std::make_unique<QueueDealer>(*queue));
  };
  return ranks;
}

constexpr Parameter static_share{.name = "static_share",
                                 .meaning = "Part of the quartets dealt to the ranks beforehand",
                                 .symbol = "PERCENT",
                                 .min = 0,
                                 .max = 100,
                                 .tuning_values = {10, 90},
                                 .of_ranks = true};
constexpr TakenParameter taken[] = {{&static_share, 50}};

template <bool Whole, Threads Mode>
Result<std::unique_ptr<TwoElectron>> make(const VariantSetting& setting, const ParameterValues& parameters,
                                          Runtime& runtime) {
  const auto percent = parameters.find(static_share.name);
  const double share = percent == parameters.end() ? 0.5 : 0.01 * static_cast<double>(percent->second);
  if (Mode == Threads::class_tasks && runtime.ranks() > 1)
    return not_applicable("tasks by class need one rank", std::to_string(runtime.ranks()),
                          "use the variant `shells` with several ranks");
  const BuildRanks ranks = TRY(ranks_of(runtime, share));
  const std::string instructions = common_instructions(runtime.processes(), instruction_sets());
  return make_two_electron(
      setting.basis,
      {.instructions = instructions, .whole = Whole, .threads = Mode, .reproducible = setting.reproducible}, ranks);
}

} // namespace

BuildRanks collectives_of(Runtime& runtime) {
  if (runtime.ranks() == 1) return {};
  return {.sum = [&runtime](std::span<double> values) { return runtime.sums().sum(values); },
          .broadcast = [&runtime](std::span<double> values) { return runtime.broadcast(values); }};
}

std::string common_instructions(application::Processes& processes, const std::vector<std::string_view>& mine) {
  const double most = -processes.largest({-static_cast<double>(mine.size())})[0];
  return std::string(mine[static_cast<std::size_t>(most) - 1]);
}

std::vector<ScfVariant> lanes_variants() {
  return {
      {{"classes", "six classes of s and p shells, a quartet in each lane, a matrix for each thread", taken},
       &make<false, Threads::private_matrices>},
      {{"shells", "the same with whole sp shells, whose functions share exponents", taken},
       &make<true, Threads::private_matrices>},
      {{"shells_atomics", "whole sp shells; all threads add to one matrix by atomic operations", taken},
       &make<true, Threads::atomics>},
      {{"shells_tasks", "whole sp shells; a task for each class of quartets, one rank"},
       &make<true, Threads::class_tasks>},
  };
}

} // namespace kumihimo::hartree_fock_app
