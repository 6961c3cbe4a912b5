#include "lu/hpl_dat.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace kumihimo::lu {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_values = 20; // of a list: HPL's
constexpr std::int32_t most_processes = 1 << 20;

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
        return wrong_value(rule(count, least, most, what), word_at(words, i));
      found.push_back(value);
    }
    return found;
  }
  // The number of values on one line, and those on the next.
  template <class Number>
  Result<std::vector<Number>> list(Number least, Number most, std::string_view what) {
    const std::vector<std::int64_t> count =
        TRY(numbers<std::int64_t>(1, 1, most_values, fmt::format("the number of values of {}", what)));
    return numbers<Number>(static_cast<std::size_t>(count[0]), least, most, what);
  }
  Result<double> threshold() {
    const std::vector<std::string_view> words = next();
    double value = 0;
    const bool is_number = !words.empty() && read_number(words[0], value);
    // HPL checks nothing below 0. Of inf every residual would pass, of nan none.
    if (!is_number || !(value > 0) || value > std::numeric_limits<double>::max())
      return wrong_value(place() + "the threshold must be a finite number above 0: the residual is always checked",
                         word_at(words, 0), "write 16.0");
    return value;
  }

  bool at_end() const { return text_.find_first_not_of(" \t\r\n") == std::string_view::npos; }
  int line() const { return line_; }
  std::string place() const { return fmt::format("{}:{}: ", file_, line_); }

 private:
  std::vector<std::string_view> next() {
    ++line_;
    return words_of(take_until(text_, '\n'));
  }
  static std::string word_at(const std::vector<std::string_view>& words, std::size_t i) {
    if (i >= words.size()) return "nothing";
    return is_utf8(words[i]) ? fmt::format("'{}'", on_one_line(words[i])) : std::string("bytes that are no text");
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

struct UnusedRow {
  const char* name;
  bool is_list;
  std::int64_t least, most;
  const char* reason;
};

constexpr const char* of_panels = "panels are factored by halves here, down to one column";
constexpr UnusedRow before_broadcasts[] = {{"PFACT", true, 0, 2, of_panels},
                                           {"NBMIN", true, 1, unlimited, of_panels},
                                           {"NDIV", true, 2, unlimited, of_panels},
                                           {"RFACT", true, 0, 2, of_panels}};
constexpr const char* of_exchanges = "rows move by an allgather and a scatter here, whatever their number";
constexpr UnusedRow after_depths[] = {
    {"SWAP", false, 0, 2, of_exchanges},
    {"the swapping threshold", false, 0, unlimited, of_exchanges},
    {"the form of L1", false, 0, 1, "L1 is never transposed here"},
    {"the form of U", false, 0, 1, "U is never transposed here"},
    {"equilibration", false, 0, 1, "it is a phase of HPL's long exchange, which is not used here"},
    {"the memory alignment", false, 1, unlimited, "columns are aligned to 64 bytes here"}};

// False: the file ends before the line.
Result<bool> note_unused(HplLines& lines, const UnusedRow& row, HplInput& input) {
  if (lines.at_end()) return false;
  const std::vector<std::int64_t> values =
      TRY(row.is_list ? lines.list(row.least, row.most, row.name) : lines.numbers(1, row.least, row.most, row.name));
  input.unused.push_back({lines.line(), row.name, fmt::format("{}", fmt::join(values, " ")), row.reason});
  return true;
}

Status parse_tuning(HplLines& lines, HplInput& input) {
  for (const UnusedRow& row : before_broadcasts)
    if (!TRY(note_unused(lines, row, input))) return Nothing{};
  if (lines.at_end()) return Nothing{};
  const auto last = static_cast<std::int64_t>(hpl_broadcasts.size()) - 1;
  for (const std::int64_t number : TRY(lines.list<std::int64_t>(0, last, "BCAST")))
    input.broadcasts.push_back(hpl_broadcasts[static_cast<std::size_t>(number)]);
  if (lines.at_end()) return Nothing{};
  input.depths = TRY(lines.list<std::int64_t>(0, most_lookahead, "DEPTH"));
  for (const UnusedRow& row : after_depths)
    if (!TRY(note_unused(lines, row, input))) return Nothing{};
  return Nothing{};
}

} // namespace

Result<HplInput> parse_hpl_dat(std::string_view text, const std::string& file) {
  HplLines lines(text, file);
  lines.skip(4); // two titles, the output file and its device
  HplInput input;
  input.sizes = TRY(lines.list<std::int64_t>(1, most_rows, "N"));
  input.blocks = TRY(lines.list<std::int64_t>(1, most_rows, "NB"));
  input.is_column_major = TRY(lines.numbers<int>(1, 0, 1, "PMAP"))[0] == 1;
  const std::vector<std::int64_t> grids =
      TRY(lines.numbers<std::int64_t>(1, 1, most_values, "the number of process grids"));
  const auto count = static_cast<std::size_t>(grids[0]);
  const std::vector<std::int32_t> p = TRY(lines.numbers<std::int32_t>(count, 1, most_processes, "P"));
  const std::vector<std::int32_t> q = TRY(lines.numbers<std::int32_t>(count, 1, most_processes, "Q"));
  for (std::size_t i = 0; i < count; ++i) input.grids.emplace_back(p[i], q[i]);
  input.threshold = TRY(lines.threshold());
  if (Status s = parse_tuning(lines, input); !s) return s.error();
  return input;
}

} // namespace kumihimo::lu
