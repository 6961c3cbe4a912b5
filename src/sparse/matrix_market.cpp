#include "sparse/matrix_market.hpp"

#include "base/text_file.hpp"
#include "base/text_parsing.hpp"
#include "base/whole_file.hpp"
#include "sparse/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kumihimo::sparse {
namespace {

constexpr const char* form = "write '%%MatrixMarket matrix coordinate real symmetric'";

struct FileEntry {
  std::int32_t row, column;
  std::int32_t line; // for errors; saturates
  double value;
};

struct Header {
  bool is_pattern = false, is_symmetric = false;
};

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  // The next line that is neither empty nor a comment.
  std::optional<std::string_view> next() {
    while (!rest_.empty()) {
      const std::string_view line = trimmed(raw());
      if (!line.empty() && line.front() != '%') return line;
    }
    return std::nullopt;
  }
  std::string_view raw() {
    ++number_;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }
  std::int64_t number() const { return number_; }
  Error at(Error error) const { return located(fmt::format("line {}", number_), std::move(error)); }

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

Result<Header> read_header(std::string_view line) {
  const std::string text = lower_case(trimmed(line));
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    return wrong_value("the first line must be the header of a Matrix Market matrix", trimmed(line), form);
  if (words[2] != "coordinate") return wrong_value("the format must be coordinate", words[2], form);
  Header header;
  header.is_pattern = words[3] == "pattern";
  if (!header.is_pattern && words[3] != "real" && words[3] != "integer")
    return wrong_value("the values must be real, integer or pattern", words[3], form);
  header.is_symmetric = words[4] == "symmetric";
  if (!header.is_symmetric && words[4] != "general")
    return wrong_value("the symmetry must be general or symmetric", words[4], form);
  return header;
}

struct Size {
  std::int32_t rows;
  std::int64_t entries;
};

Result<Size> read_size(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  std::int64_t rows = 0, columns = 0, entries = 0;
  if (words.size() != 3 || !read_number(words[0], rows) || !read_number(words[1], columns) ||
      !read_number(words[2], entries))
    return wrong_value("the line of sizes must be three numbers: rows, columns, entries", line);
  if (rows != columns)
    return wrong_value("the matrix must be square", fmt::format("{} rows, {} columns", rows, columns));
  if (rows < 1 || rows > std::numeric_limits<std::int32_t>::max())
    return wrong_value("the number of rows must be 1 to 2147483647", rows);
  if (entries < 0 || entries > rows * rows) return wrong_value("the number of entries must fit the matrix", entries);
  if (entries < rows) // else a short file could ask for the memory of 2147483647 rows
    return wrong_value("each row must have a diagonal entry, so there must be at least as many entries as rows",
                       fmt::format("{} entries, {} rows", entries, rows));
  return Size{static_cast<std::int32_t>(rows), entries};
}

Result<FileEntry> read_entry(std::string_view line, const Header& header, std::int32_t rows) {
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t needed = header.is_pattern ? 2 : 3;
  if (words.size() != needed)
    return wrong_value(header.is_pattern ? "an entry must be two numbers: row, column"
                                         : "an entry must be three numbers: row, column, value",
                       line);
  std::int64_t place[2];
  for (int i = 0; i < 2; ++i) {
    if (!read_number(words[i], place[i]) || place[i] < 1 || place[i] > rows)
      return wrong_value(fmt::format("the {} must be a number from 1 to {}", i == 0 ? "row" : "column", rows),
                         words[i]);
  }
  double value = 1;
  if (!header.is_pattern) {
    std::string_view word = words[2];
    if (word.starts_with('+')) word.remove_prefix(1);
    if (!read_number(word, value) || !std::isfinite(value))
      return wrong_value("the value must be a finite number", words[2]);
  }
  return FileEntry{static_cast<std::int32_t>(place[0] - 1), static_cast<std::int32_t>(place[1] - 1), 0, value};
}

Result<std::vector<FileEntry>> read_entries(Lines& lines, const Header& header, const Size& size) {
  std::vector<FileEntry> entries;
  // No more than the text can hold: the number of entries is the user's.
  entries.reserve(static_cast<std::size_t>(std::min<std::int64_t>(size.entries, std::int64_t{1} << 24)));
  for (std::int64_t i = 0; i < size.entries; ++i) {
    const std::optional<std::string_view> line = lines.next();
    if (!line)
      return lines.at(wrong_value(fmt::format("the file must have {} entries, but ends after {}", size.entries, i), {},
                                  "correct the line of sizes, or give the other entries"));
    Result<FileEntry> read = read_entry(*line, header, size.rows);
    if (!read) return lines.at(read.error());
    read->line =
        static_cast<std::int32_t>(std::min<std::int64_t>(lines.number(), std::numeric_limits<std::int32_t>::max()));
    entries.push_back(*read);
    if (header.is_symmetric && read->row != read->column)
      entries.push_back({read->column, read->row, read->line, read->value});
  }
  if (const std::optional<std::string_view> line = lines.next())
    return lines.at(wrong_value(fmt::format("the file must end after its {} entries", size.entries), *line));
  return entries;
}

Result<CrsMatrix> matrix_of(std::vector<FileEntry> entries, std::int32_t rows) {
  const auto place = [](const FileEntry& e) { return std::pair(e.row, e.column); };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const FileEntry& a, const FileEntry& b) { return place(a) < place(b); });
  CrsMatrix a;
  a.rows = a.columns = rows;
  a.begin.assign(static_cast<std::size_t>(rows) + 1, 0);
  a.column.reserve(entries.size());
  a.value.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const FileEntry& e = entries[i];
    if (i > 0 && place(e) == place(entries[i - 1]))
      return located(fmt::format("line {}", e.line),
                     wrong_value(fmt::format("row {}, column {} is given twice, first in line {}", e.row + 1,
                                             e.column + 1, entries[i - 1].line),
                                 {}, "give each entry once; of a symmetric matrix, those of one triangle"));
    if (e.row == e.column && !(e.value > 0))
      return located(fmt::format("line {}", e.line),
                     wrong_value(fmt::format("the diagonal entry of row {} must be positive", e.row + 1),
                                 fmt::format("{}", e.value),
                                 "conjugate gradients need a symmetric positive definite matrix"));
    if (e.row != e.column && e.value == 0) continue; // its mirror image may be absent
    ++a.begin[e.row + 1];
    a.column.push_back(e.column);
    a.value.push_back(e.value);
  }
  for (std::int32_t i = 0; i < rows; ++i) a.begin[i + 1] += a.begin[i];
  TRY(check_symmetric_positive(a));
  return a;
}

Result<CrsMatrix> parse(std::string_view text) {
  if (trimmed(text, " \t\r\n").empty()) return wrong_value("the file is empty", {}, form);
  Lines lines(text);
  const Result<Header> header = read_header(lines.raw());
  if (!header) return lines.at(header.error());
  const std::optional<std::string_view> line = lines.next();
  if (!line) return lines.at(missing("the line of sizes", "write rows, columns and entries"));
  const Result<Size> size = read_size(*line);
  if (!size) return lines.at(size.error());
  std::vector<FileEntry> entries = TRY(read_entries(lines, *header, *size));
  return matrix_of(std::move(entries), size->rows);
}

} // namespace

Result<CrsMatrix> parse_matrix_market(std::string_view text) {
  return within_memory("the matrix", [&] { return parse(text); });
}

Result<CrsMatrix> read_matrix_market(const std::string& path) {
  return within_memory("the matrix of " + path, [&]() -> Result<CrsMatrix> {
    const std::string text = TRY(read_text(path, {"the Matrix Market file", std::int64_t{1} << 36, "check the path"}));
    Result<CrsMatrix> read = parse_matrix_market(text);
    if (!read) return located(path, read.error());
    return read;
  });
}

Status write_matrix_market(const CrsMatrix& a, const std::string& path) {
  std::int64_t entries = 0;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) entries += a.column[k] <= i;
  WholeFile file(path);
  file.write(fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{} {} {}\n", a.rows, a.rows, entries));
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1] && a.column[k] <= i; ++k)
      file.write(fmt::format("{} {} {}\n", i + 1, a.column[k] + 1, a.value[k]));
  return file.finish();
}

} // namespace kumihimo::sparse
