#include "interpose/choices.hpp"

#include "interpose/buffer_semantics.hpp"

#include <algorithm>
#include <mutex>

namespace kumihimo::interpose {
namespace {

std::shared_ptr<const Choices> made_for(const plan::RankCounts& on, const plan::Wisdom& wisdom,
                                        Reproducible reproducible) {
  auto choices = std::make_shared<Choices>();
  const auto hints = [](const plan::Choice& choice) { return choice.parameters.single_copy; };
  for (const CollectiveKind kind : all_collectives) {
    Choices::Of& of = choices->of[kind.index()];
    of.any = wisdom.choices(kind, on);
    of.for_local_counts = plan::choice_for_local_counts(of.any);
    if (reproducible != Reproducible::off && kind->reduces()) of.fixed = fixed_choices(wisdom, kind, on.ranks);
    choices->hint_single_copies |=
        std::any_of(of.any.begin(), of.any.end(), hints) || std::any_of(of.fixed.begin(), of.fixed.end(), hints);
  }
  return choices;
}

} // namespace

std::shared_ptr<const Choices> choices_on(const plan::RankCounts& on, const plan::Wisdom& wisdom, std::uint64_t hash,
                                          Reproducible reproducible) {
  struct Known {
    plan::RankCounts on;
    std::uint64_t hash;
    Reproducible reproducible;
    std::weak_ptr<const Choices> choices;
  };
  static std::mutex mutex;
  static std::vector<Known> all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const Known& known) { return known.choices.expired(); });
  for (const Known& known : all)
    if (known.on == on && known.hash == hash && known.reproducible == reproducible)
      if (auto choices = known.choices.lock()) return choices;
  std::shared_ptr<const Choices> made = made_for(on, wisdom, reproducible);
  all.push_back({on, hash, reproducible, made});
  return made;
}

} // namespace kumihimo::interpose
