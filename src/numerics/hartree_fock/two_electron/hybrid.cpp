#include "hartree_fock/two_electron/hybrid.hpp"

#include "threads/team.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::hartree_fock::two_electron {

std::vector<std::int64_t> units_of_rank(std::span<const QuartetUnit> units, int rank, int ranks) {
  std::vector<std::int64_t> mine;
  std::vector<double> cost(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto least = std::ranges::min_element(cost);
    *least += units[i].cost;
    if (least - cost.begin() == rank) mine.push_back(static_cast<std::int64_t>(i));
  }
  return mine;
}

Hybrid::Hybrid(std::unique_ptr<TwoElectronBuilder> builder, std::unique_ptr<Device> device, bool device_alone,
               Sharing sharing)
    : builder_(std::move(builder)), device_(std::move(device)), device_alone_(device_alone),
      sharing_(std::move(sharing)), units_(units_of_rank(builder_->units(), sharing_.rank, sharing_.ranks)),
      split_(builder_->work().size()), device_work_(builder_->work().size()) {}

Result<std::unique_ptr<Hybrid>> Hybrid::make(std::unique_ptr<TwoElectronBuilder> builder,
                                             std::unique_ptr<Device> device, bool device_alone, Sharing sharing) {
  if (builder->settings().reproducible)
    return not_applicable("accelerators do not make reproducible sums", {}, "use a variant without one");
  return std::unique_ptr<Hybrid>(new Hybrid(std::move(builder), std::move(device), device_alone, std::move(sharing)));
}

void Hybrid::divide(std::span<const double> wanted) {
  const std::vector<QuartetUnit>& units = builder_->units();
  std::vector<double> whole(wanted.size()), given(wanted.size());
  for (const std::int64_t i : units_) whole[units[i].number] += units[i].cost;
  of_device_.clear();
  of_processors_.clear();
  for (const std::int64_t i : units_) {
    const QuartetUnit& unit = units[i];
    const bool to_device = given[unit.number] + unit.cost / 2 <= wanted[unit.number] * whole[unit.number];
    if (to_device) given[unit.number] += unit.cost;
    (to_device ? of_device_ : of_processors_).push_back(i);
  }
  shares_.assign(wanted.size(), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (whole[i] > 0) shares_[i] = given[i] / whole[i];
}

Result<CoulombExchange> Hybrid::build(const Matrix& density, double threshold) {
  const auto agree = [&](const Status& mine) { return sharing_.agree ? sharing_.agree(mine) : mine; };
  divide(device_alone_ ? std::vector<double>(device_work_.size(), 1.0) : split_.shares());
  // Each rank agrees once in a build: here if it cannot start, else when all have computed.
  if (Status s = device_->start(density, threshold, of_device_); !s) return agree(s).error();
  std::vector<Tally> on_device(device_work_.size());
  const BuildRanks partners{.deal = [&](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
                              return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(of_processors_));
                            },
                            .sum = [&](std::span<double> halves) -> Status {
                              TRY(agree(device_->finish(halves, on_device)));
                              return sharing_.sum ? sharing_.sum(halves) : Nothing{};
                            }};
  CoulombExchange sums = TRY(builder_->build(density, threshold, partners));
  learn(on_device);
  return sums;
}

void Hybrid::learn(std::span<const Tally> on_device) {
  const auto part_of = [](const Tally& tally, int threads) {
    return MachinePart{1e-9 * static_cast<double>(tally.nanoseconds) / threads, static_cast<double>(tally.quartets),
                       static_cast<double>(tally.screened)};
  };
  std::vector<MachinePart> processors, device;
  for (std::size_t i = 0; i < device_work_.size(); ++i) {
    processors.push_back(part_of(builder_->tallies()[i], threads::count()));
    device.push_back(part_of(on_device[i], 1));
    device_work_[i] += on_device[i];
  }
  split_.measured(shares_, processors, device);
}

std::vector<ClassWork> Hybrid::work() const {
  std::vector<ClassWork> found = builder_->work();
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].quartets += static_cast<double>(device_work_[i].quartets);
    found[i].screened += static_cast<double>(device_work_[i].screened);
    found[i].primitives += static_cast<double>(device_work_[i].primitives);
    found[i].seconds += 1e-9 * static_cast<double>(device_work_[i].nanoseconds);
  }
  return found;
}

} // namespace kumihimo::hartree_fock::two_electron
