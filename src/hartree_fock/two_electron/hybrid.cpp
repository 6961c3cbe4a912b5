#include "hartree_fock/two_electron/hybrid.hpp"

#include "threads/team.hpp"

#include <atomic>
#include <utility>

namespace kumihimo::hartree_fock::two_electron {
namespace {

class ListDealer final : public Dealer {
 public:
  explicit ListDealer(std::span<const std::int64_t> units) : units_(units) {}
  std::int64_t next(int) override {
    const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed);
    return at < units_.size() ? units_[at] : -1;
  }

 private:
  std::span<const std::int64_t> units_;
  std::atomic<std::size_t> next_ = 0;
};

} // namespace

Hybrid::Hybrid(std::unique_ptr<Builder> builder, std::unique_ptr<Device> device, bool device_alone)
    : builder_(std::move(builder)), device_(std::move(device)), device_alone_(device_alone),
      split_(quartet_classes(builder_->whole()).size()) {
  for (const QuartetClass& quartets : quartet_classes(builder_->whole())) work_.push_back({name_of(quartets)});
}

Result<std::unique_ptr<Hybrid>> Hybrid::make(std::unique_ptr<Builder> builder, std::unique_ptr<Device> device,
                                             bool device_alone) {
  if (builder->settings().reproducible)
    return not_applicable("accelerators do not make reproducible sums", {}, "use a variant without one");
  return std::unique_ptr<Hybrid>(new Hybrid(std::move(builder), std::move(device), device_alone));
}

void Hybrid::divide(std::span<const double> wanted) {
  const std::vector<Unit>& units = builder_->units();
  std::vector<double> whole(wanted.size()), given(wanted.size());
  for (const Unit& unit : units) whole[unit.number] += unit.cost;
  of_device_.clear();
  of_processors_.clear();
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    const bool to_device = given[unit.number] + unit.cost / 2 <= wanted[unit.number] * whole[unit.number];
    if (to_device) given[unit.number] += unit.cost;
    (to_device ? of_device_ : of_processors_).push_back(static_cast<std::int64_t>(i));
  }
  shares_.assign(wanted.size(), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (whole[i] > 0) shares_[i] = given[i] / whole[i];
}

Result<CoulombExchange> Hybrid::build(const Matrix& density, double threshold) {
  divide(device_alone_ ? std::vector<double>(work_.size(), 1.0) : split_.shares());
  TRY(device_->start(density, threshold, of_device_));
  std::vector<double> on_device(work_.size()), on_processors(work_.size());
  const Ranks partners{.deal = [&](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
                         return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(of_processors_));
                       },
                       .sum = [&](std::span<double> halves) { return device_->finish(halves, on_device); }};
  CoulombExchange sums = TRY(builder_->build(density, threshold, partners));
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const Tally& tally = builder_->tallies()[i];
    on_processors[i] = 1e-9 * static_cast<double>(tally.nanoseconds) / threads::count();
    work_[i].quartets += static_cast<double>(tally.quartets);
    work_[i].screened += static_cast<double>(tally.screened);
    work_[i].primitives += static_cast<double>(tally.primitives);
    work_[i].seconds += 1e-9 * static_cast<double>(tally.nanoseconds) + on_device[i];
  }
  split_.measured(shares_, on_processors, on_device);
  return sums;
}

} // namespace kumihimo::hartree_fock::two_electron
