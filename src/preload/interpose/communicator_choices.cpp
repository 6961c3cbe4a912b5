#include "interpose/communicator_choices.hpp"

#include "interpose/buffer_semantics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace kumihimo::interpose {
namespace {

constexpr std::array<std::string_view, 3> words = {"", "order", "exact"};

std::shared_ptr<const CommunicatorChoices> made_for(const plan::RankCounts& on, const plan::Wisdom& wisdom,
                                                    Reproducible reproducible) {
  auto choices = std::make_shared<CommunicatorChoices>();
  const auto hints = [](const plan::WisdomChoice& choice) { return choice.parameters.single_copy; };
  for (const CollectiveKind kind : all_collectives) {
    CommunicatorChoices::OfCollective& of = choices->of[kind.index()];
    std::vector<plan::WisdomChoice> any = wisdom.choices(kind, on), fixed;
    if (reproducible != Reproducible::off && kind->reduces()) fixed = fixed_choices(wisdom, kind, on.ranks);
    choices->hint_single_copies |= std::ranges::any_of(any, hints) || std::ranges::any_of(fixed, hints);
    of.none = any.empty() && fixed.empty();
    of.non_blocking = plan::by_size(plan::take_choices_of_non_blocking(any));
    std::vector<plan::WisdomChoice> unequal = plan::take_choices_of_unequal_blocks(any);
    of.for_local_counts = plan::choice_for_local_counts(unequal.empty() ? any : unequal);
    of.unequal = plan::by_size(std::move(unequal));
    of.any = plan::by_size(std::move(any));
    of.fixed = plan::by_size(std::move(fixed));
  }
  return choices;
}

} // namespace

std::string_view name_of(Reproducible mode) { return words[static_cast<std::size_t>(mode)]; }

Result<Reproducible> parse_reproducible(std::string_view word) {
  const auto it = std::find(words.begin(), words.end(), word);
  if (it != words.end()) return static_cast<Reproducible>(it - words.begin());
  return wrong_value("KUMIHIMO_REPRODUCIBLE must be order or exact", fmt::format("'{}'", word));
}

std::vector<plan::WisdomChoice> fixed_choices(const plan::Wisdom& wisdom, CollectiveKind kind, std::int32_t ranks) {
  std::vector<plan::WisdomChoice> choices = wisdom.choices(kind, {ranks, 0, 0}, plan::Determinism::fixed_order);
  std::erase_if(
      choices, [](const plan::WisdomChoice& c) { return !c.variant || !c.variant->rounding.independent_of_placement; });
  const auto all = Registry::standard().variants(kind);
  for (std::size_t place = 0; place < all.size(); ++place)
    if (const auto& bytes = all[place]->reproducible)
      choices.push_back({.kind = kind,
                         .variant = all[place],
                         .place = place,
                         .bytes = *bytes,
                         .determinism = plan::Determinism::fixed_order});
  return choices;
}

std::shared_ptr<const CommunicatorChoices> communicator_choices(const plan::RankCounts& on, const plan::Wisdom& wisdom,
                                                                std::uint64_t hash, Reproducible reproducible) {
  struct Known {
    plan::RankCounts on;
    std::uint64_t hash;
    Reproducible reproducible;
    std::weak_ptr<const CommunicatorChoices> choices;
  };
  static std::mutex mutex;
  static std::vector<Known> all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const Known& known) { return known.choices.expired(); });
  for (const Known& known : all)
    if (known.on == on && known.hash == hash && known.reproducible == reproducible)
      if (auto choices = known.choices.lock()) return choices;
  std::shared_ptr<const CommunicatorChoices> made = made_for(on, wisdom, reproducible);
  all.push_back({on, hash, reproducible, made});
  return made;
}

} // namespace kumihimo::interpose
