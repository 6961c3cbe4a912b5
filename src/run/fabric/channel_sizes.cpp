#include "fabric/channel_sizes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ranges>
#include <string>

namespace kumihimo::fabric {
namespace {

struct SizeWord {
  std::string_view word;
  std::int64_t ChannelSizes::*value;
  std::int64_t least, most;
};

constexpr std::int64_t most_of_eager = 1 << 20;
constexpr SizeWord size_words[] = {
    {"small_slots", &ChannelSizes::small_slots, 1, ChannelSizes::most_slots},
    {"small_bytes", &ChannelSizes::small_slot_bytes, 1, most_of_eager},
    {"large_slots", &ChannelSizes::large_slots, 1, ChannelSizes::most_slots},
    {"large_bytes", &ChannelSizes::large_slot_bytes, 4096, most_of_eager},
    {"eager_bytes", &ChannelSizes::large_eager_bytes, 1, most_of_eager},
    {"after", &ChannelSizes::promoted_after, 1, 1 << 30},
    {"large", &ChannelSizes::most_large, 0, 1 << 20},
    {"pool", &ChannelSizes::pool_slots, 0, 1 << 20},
};

Error wrong_size(std::string_view name, std::string_view words, std::string_view part) {
  std::string known;
  for (const SizeWord& each : size_words) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.word);
  return wrong_value(fmt::format("{} must be NAME=NUMBER with commas between, of {}", name, known),
                     fmt::format("'{}' in '{}'", part, words), "leave it unset for the defaults");
}

} // namespace

Result<ChannelSizes> channel_sizes_in(std::string_view name, std::string_view words) {
  ChannelSizes sizes;
  if (words.empty()) return wrong_size(name, words, words);
  for (const auto range : std::views::split(words, ',')) {
    const std::string_view part(range.begin(), range.end());
    const std::size_t equals = part.find('=');
    const SizeWord* found = nullptr;
    for (const SizeWord& each : size_words)
      if (part.substr(0, equals) == each.word) found = &each;
    if (!found || equals == std::string_view::npos) return wrong_size(name, words, part);
    const std::string_view digits = part.substr(equals + 1);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc{} || end != digits.data() + digits.size()) return wrong_size(name, words, part);
    if (value < found->least || value > found->most)
      return wrong_value(fmt::format("{} of {} must be {} to {}", found->word, name, found->least, found->most),
                         std::string(digits));
    sizes.*found->value = value;
  }
  sizes.small_eager_bytes = sizes.small_slot_bytes;
  if (sizes.large_eager_bytes <= sizes.large_slot_bytes && sizes.small_slot_bytes <= sizes.large_eager_bytes)
    return sizes;
  return wrong_value(
      fmt::format("small_bytes, eager_bytes and large_bytes of {} must not descend", name),
      fmt::format("{}, {} and {}", sizes.small_slot_bytes, sizes.large_eager_bytes, sizes.large_slot_bytes),
      "give them in this order");
}

} // namespace kumihimo::fabric
