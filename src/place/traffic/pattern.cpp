#include "traffic/pattern.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <cassert>
#include <set>

namespace kumihimo {
namespace {

constexpr std::int32_t most_axes = 4;
constexpr std::int64_t most_flows = std::int64_t{1} << 27; // 24 bytes each
constexpr std::int64_t most_bytes = std::int64_t{1} << 40; // of one message
constexpr std::string_view example = "write for example 16x16x16:27,face=32KiB";

int all_points(std::int32_t axes) {
  int points = 1;
  for (std::int32_t a = 0; a < axes; ++a) points *= 3;
  return points;
}

// A direction to a neighbour: -1, 0 or 1 on each axis.
struct Direction {
  std::array<int, most_axes> step{};
  int axes = 0; // that it moves on
};

std::vector<Direction> directions(const GridPattern& pattern) {
  const std::int32_t d = pattern.shape.dimensions();
  const bool diagonals = pattern.points != 2 * d + 1;
  std::vector<Direction> all;
  for (int code = 0; code < all_points(d); ++code) {
    Direction direction;
    for (int a = 0, rest = code; a < d; ++a, rest /= 3) {
      direction.step[static_cast<std::size_t>(a)] = rest % 3 - 1;
      direction.axes += rest % 3 != 1;
    }
    if (direction.axes == 1 || (direction.axes > 1 && diagonals)) all.push_back(direction);
  }
  std::erase_if(all,
                [&](const Direction& n) { return pattern.bytes_by_axes[static_cast<std::size_t>(n.axes) - 1] == 0; });
  return all;
}

// -1: the grid ends there.
std::int32_t neighbour(const Shape& shape, std::int32_t rank, const Direction& direction) {
  std::int32_t place = rank;
  for (std::int32_t a = 0; a < shape.dimensions(); ++a) {
    const int step = direction.step[static_cast<std::size_t>(a)];
    const std::int32_t to = shape.coordinate(rank, a) + step;
    if ((to < 0 || to >= shape.length(a)) && !shape.axes()[static_cast<std::size_t>(a)].wraps) return -1;
    place = shape.shifted(place, a, step);
  }
  return place;
}

// A number of bytes, with or without a binary unit.
std::optional<std::int64_t> size_in(std::string_view text) {
  const auto number = take_number<std::int64_t>(text);
  if (!number || *number < 0) return std::nullopt;
  const int power = text.empty() || text == "B" ? 0 : text == "KiB" ? 10 : text == "MiB" ? 20 : text == "GiB" ? 30 : -1;
  if (power < 0 || *number > most_bytes >> power) return std::nullopt;
  return *number << power;
}

Status read_size(std::string_view key, std::string_view text, std::int64_t least, std::int64_t& bytes) {
  const auto size = size_in(text);
  if (!size || *size < least)
    return wrong_value(fmt::format("{} must be {} to 2^40 bytes, such as 512 or 32KiB", key, least),
                       fmt::format("'{}'", text));
  bytes = *size;
  return Nothing{};
}

Status read_word(std::string_view word, std::string_view key, GridPattern& pattern) {
  const std::string_view value = word.substr(std::min(key.size() + 1, word.size()));
  const std::int32_t axes = pattern.shape.dimensions();
  const std::int32_t moved = key == "face" ? 1 : key == "edge" ? 2 : key == "corner" ? 3 : 0;
  if (moved > 1 && (axes < moved || pattern.points == 2 * axes + 1))
    return not_applicable(fmt::format("{}:{} has no neighbours that differ in {} coordinates", pattern.shape.text(),
                                      pattern.points, moved),
                          fmt::format("'{}'", word), "leave it out");
  if (moved > 0) {
    auto& bytes = pattern.bytes_by_axes[static_cast<std::size_t>(moved) - 1];
    if (Status s = read_size(key, value, moved == 1 ? 1 : 0, bytes); !s) return s;
    if (moved == 3) pattern.bytes_by_axes[3] = bytes;
    return Nothing{};
  }
  if (word != "mesh")
    return wrong_value("unknown word of a grid pattern", fmt::format("'{}'", word),
                       "use face=, edge=, corner= or mesh");
  std::vector<Axis> mesh = pattern.shape.axes();
  for (Axis& axis : mesh) axis.wraps = false;
  pattern.shape = Shape(std::move(mesh));
  return Nothing{};
}

Status read_grid(std::string_view word, GridPattern& pattern) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos)
    return wrong_value("a grid pattern must be a shape and a number of points", fmt::format("'{}'", word),
                       std::string(example));
  pattern.shape = TRY(Shape::parse(word.substr(0, colon)));
  const std::int32_t d = pattern.shape.dimensions();
  if (d > most_axes) return wrong_value("a grid pattern must have 1 to 4 axes", d);
  const std::int32_t ranks = pattern.shape.places();
  if (ranks < 2 || ranks > most_traffic_ranks)
    return wrong_value(fmt::format("a grid pattern must have 2 to {} ranks", most_traffic_ranks), ranks);
  const int few = 2 * d + 1, all = all_points(d);
  const std::string_view points = word.substr(colon + 1);
  if (!read_number(points, pattern.points) || (pattern.points != few && pattern.points != all))
    return wrong_value(few == all ? fmt::format("the points of {} axis must be {}", d, few)
                                  : fmt::format("the points of {} axes must be {} or {}", d, few, all),
                       fmt::format("'{}'", points), std::string(example));
  return Nothing{};
}

Status check_amount(const GridPattern& pattern) {
  const std::int64_t ranks = pattern.shape.places();
  const std::vector<Direction> all = directions(pattern);
  std::int64_t bytes = 0; // of one rank, below 2^47
  for (const Direction& n : all) bytes += pattern.bytes_by_axes[static_cast<std::size_t>(n.axes) - 1];
  const auto flows = ranks * static_cast<std::int64_t>(all.size());
  if (flows > most_flows)
    return wrong_value(fmt::format("a grid pattern must have at most {} pairs of neighbours", most_flows), flows);
  if (bytes > most_traffic / ranks)
    return wrong_value("a grid pattern must have at most 2^62 bytes in all",
                       fmt::format("{} ranks of {}", ranks, bytes));
  return Nothing{};
}

} // namespace

Result<GridPattern> GridPattern::parse(std::string_view text) {
  GridPattern pattern;
  std::size_t comma = text.find(',');
  if (Status s = read_grid(text.substr(0, comma), pattern); !s) return s.error();
  std::set<std::string_view> keys;
  while (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view word = text.substr(0, comma), key = word.substr(0, word.find('='));
    if (!keys.insert(key).second)
      return wrong_value("a grid pattern takes face, edge, corner and mesh once each", fmt::format("'{}' again", word),
                         "leave it out");
    if (Status s = read_word(word, key, pattern); !s) return s.error();
  }
  if (Status s = check_amount(pattern); !s) return s.error();
  return pattern;
}

Traffic traffic_of(const GridPattern& pattern) {
  const std::vector<Direction> all = directions(pattern);
  auto builder = TrafficBuilder::make(pattern.shape.places());
  assert(builder.ok());
  for (std::int32_t rank = 0; rank < pattern.shape.places(); ++rank)
    for (const Direction& direction : all) {
      const std::int32_t to = neighbour(pattern.shape, rank, direction);
      if (to < 0) continue;
      [[maybe_unused]] const Status added =
          builder->add(Rank{rank}, Rank{to}, pattern.bytes_by_axes[static_cast<std::size_t>(direction.axes) - 1], 1);
      assert(added.ok());
    }
  Result<Traffic> traffic = std::move(*builder).build();
  assert(traffic.ok());
  return *std::move(traffic);
}

} // namespace kumihimo
