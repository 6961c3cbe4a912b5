#include "hartree_fock/two_electron/hybrid.hpp"

#include "threads/team.hpp"

#include <utility>

namespace kumihimo::hartree_fock::two_electron {

Hybrid::Hybrid(std::unique_ptr<Builder> builder, std::unique_ptr<Device> device, bool device_alone)
    : builder_(std::move(builder)), device_(std::move(device)), device_alone_(device_alone),
      split_(builder_->work().size()), device_seconds_(builder_->work().size()) {}

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
  divide(device_alone_ ? std::vector<double>(device_seconds_.size(), 1.0) : split_.shares());
  TRY(device_->start(density, threshold, of_device_));
  std::vector<double> on_device(device_seconds_.size()), on_processors(device_seconds_.size());
  const Ranks partners{.deal = [&](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
                         return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(of_processors_));
                       },
                       .sum = [&](std::span<double> halves) { return device_->finish(halves, on_device); }};
  CoulombExchange sums = TRY(builder_->build(density, threshold, partners));
  for (std::size_t i = 0; i < device_seconds_.size(); ++i) {
    on_processors[i] = 1e-9 * static_cast<double>(builder_->tallies()[i].nanoseconds) / threads::count();
    device_seconds_[i] += on_device[i];
  }
  split_.measured(shares_, on_processors, on_device);
  return sums;
}

std::vector<ClassWork> Hybrid::work() const {
  std::vector<ClassWork> found = builder_->work();
  for (std::size_t i = 0; i < found.size(); ++i) found[i].seconds += device_seconds_[i];
  return found;
}

} // namespace kumihimo::hartree_fock::two_electron
