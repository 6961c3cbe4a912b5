#include "lu/hpl_dat.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <limits>

namespace kumihimo::lu {
namespace {

class HplLines {
 public:
  HplLines(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void skip(int lines) {
    for (int i = 0; i < lines; ++i) next();
  }
  // So many numbers from `least` to `most` at the beginning of the next line; words for people follow.
  template <class Number>
  Result<std::vector<Number>> numbers(std::size_t count, Number least, Number most, std::string_view what) {
    const std::vector<std::string_view> words = next();
    std::vector<Number> found;
    for (std::size_t i = 0; i < count; ++i) {
      Number value{};
      if (i >= words.size() || !read_number(words[i], value) || !(value >= least && value <= most))
        return wrong_value(rule(count, least, most, what),
                           i < words.size() ? fmt::format("'{}'", on_one_line(words[i])) : std::string("nothing"));
      found.push_back(value);
    }
    return found;
  }
  // The number of values on one line, and those on the next.
  template <class Number>
  Result<std::vector<Number>> list(Number most, std::string_view what) {
    constexpr std::int64_t most_values = 20; // HPL's
    const std::vector<std::int64_t> count =
        TRY(numbers<std::int64_t>(1, 1, most_values, fmt::format("the number of values of {}", what)));
    return numbers<Number>(static_cast<std::size_t>(count[0]), 1, most, what);
  }

  std::string place() const { return fmt::format("{}:{}: ", file_, line_); }

 private:
  std::vector<std::string_view> next() {
    ++line_;
    return words_of(take_until(text_, '\n'));
  }
  template <class Number>
  std::string rule(std::size_t count, Number least, Number most, std::string_view what) const {
    const std::string range = most == std::numeric_limits<Number>::max() ? fmt::format("of at least {}", least)
                                                                         : fmt::format("from {} to {}", least, most);
    return fmt::format("{}:{}: {} must be {} {}", file_, line_, what,
                       count == 1 ? std::string("a number") : fmt::format("{} numbers", count), range);
  }

  std::string_view text_;
  const std::string& file_;
  int line_ = 0;
};

constexpr std::int64_t most_size = 1 << 30;
constexpr std::int32_t most_processes = 1 << 20;

} // namespace

Result<HplInput> parse_hpl_dat(std::string_view text, const std::string& file) {
  HplLines lines(text, file);
  lines.skip(4); // two titles, the output file and its device
  HplInput input;
  input.sizes = TRY(lines.list<std::int64_t>(most_size, "N"));
  input.blocks = TRY(lines.list<std::int64_t>(most_size, "NB"));
  if (TRY(lines.numbers<int>(1, 0, 1, "PMAP"))[0] != 0)
    return wrong_value(lines.place() + "PMAP must be 0, row-major: ranks are not numbered by columns", 1, "write 0");
  const std::vector<std::int64_t> grids = TRY(lines.numbers<std::int64_t>(1, 1, 20, "the number of process grids"));
  const auto count = static_cast<std::size_t>(grids[0]);
  const std::vector<std::int32_t> p = TRY(lines.numbers<std::int32_t>(count, 1, most_processes, "P"));
  const std::vector<std::int32_t> q = TRY(lines.numbers<std::int32_t>(count, 1, most_processes, "Q"));
  for (std::size_t i = 0; i < count; ++i) input.grids.emplace_back(p[i], q[i]);
  const double most = std::numeric_limits<double>::max();
  input.threshold = TRY(lines.numbers<double>(1, -most, most, "the threshold"))[0];
  if (input.threshold <= 0) // for which HPL checks nothing
    return wrong_value(lines.place() + "the threshold must be above 0: the residual is always checked",
                       fmt::format("{:g}", input.threshold), "write 16.0");
  return input;
}

} // namespace kumihimo::lu
