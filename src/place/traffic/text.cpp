#include "traffic/text.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <limits>

namespace kumihimo {
namespace {

template <class Number>
Status read_column(std::string_view word, std::string_view column, Number& value) {
  if (read_number(word, value)) return Nothing{};
  return wrong_value(fmt::format("{} must be a whole number below 2^{}", column, std::numeric_limits<Number>::digits),
                     fmt::format("'{}'", word));
}

// One line without its comment.
Status read_line(std::string_view line, TrafficBuilder& builder) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return Nothing{};
  if (words.size() < 3 || words.size() > 4)
    return wrong_value("a line has sender, receiver, bytes and, if known, messages, such as '0 1 4096 2'",
                       fmt::format("'{}'", on_one_line(trimmed(line))));
  Rank from, to;
  std::int64_t bytes = 0, messages = 1;
  if (Status s = read_column(words[0], "the sender", from.value); !s) return s;
  if (Status s = read_column(words[1], "the receiver", to.value); !s) return s;
  if (Status s = read_column(words[2], "bytes", bytes); !s) return s;
  if (words.size() == 4)
    if (Status s = read_column(words[3], "messages", messages); !s) return s;
  return builder.add(from, to, bytes, messages);
}

// "# 4096 name": 4096 ranks.
Result<std::optional<std::int32_t>> ranks_in(std::string_view first_line) {
  if (!take(first_line, "#")) return std::optional<std::int32_t>();
  const std::vector<std::string_view> words = words_of(first_line);
  if (words.empty() || words[0].find_first_not_of("0123456789") != std::string_view::npos)
    return std::optional<std::int32_t>();
  const std::optional<std::int32_t> ranks = count_in(words[0]);
  if (!ranks) return wrong_value(fmt::format("the number of ranks must be 1 to {}", most_traffic_ranks), words[0]);
  return ranks;
}

Result<TrafficBuilder> builder_of(std::string_view first_line) {
  return TrafficBuilder::make(TRY(ranks_in(first_line)));
}

} // namespace

Result<Traffic> parse_traffic(std::string_view text, std::string_view file) {
  Result<TrafficBuilder> builder = builder_of(text.substr(0, text.find('\n')));
  if (!builder) return located(fmt::format("{}:1", file), builder.error());
  for (std::int64_t line = 1; !text.empty(); ++line) {
    std::string_view content = take_until(text, '\n');
    if (Status read = read_line(take_until(content, '#'), *builder); !read)
      return located(fmt::format("{}:{}", file, line), read.error());
  }
  Result<Traffic> traffic = std::move(*builder).build();
  if (!traffic) return located(std::string(file), traffic.error());
  return traffic;
}

} // namespace kumihimo
