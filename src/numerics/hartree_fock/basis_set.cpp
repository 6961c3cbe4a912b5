#include "hartree_fock/basis_set.hpp"

#include "base/real_number.hpp"
#include "base/text_lines.hpp"
#include "hartree_fock/basis_files.hpp"
#include "hartree_fock/molecule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace kumihimo::hartree_fock {
namespace {

using Words = std::vector<std::string_view>;

// Lines without comments and empty ones.
class BasisLines {
 public:
  explicit BasisLines(std::string_view text) : lines_(text) {}

  // Empty: the text has ended.
  Words next() {
    while (lines_.are_left()) {
      const std::string_view line = lines_.next();
      Words words = words_of(line.substr(0, line.find('!')));
      if (!words.empty()) return words;
    }
    return {};
  }
  Error error(const std::string& name, Error what) const {
    return located(fmt::format("{}:{}", name, lines_.number()), std::move(what));
  }

 private:
  TextLines lines_;
};

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// The lines of primitives of a shell that `head` begins: "SP 3 1.00".
Result<ElementShell> read_shell(const Words& head, BasisLines& lines) {
  ElementShell shell;
  const std::string type = upper(head[0]);
  if (type != "S" && type != "P" && type != "SP" && type != "L")
    return wrong_value("a shell must be S, P or SP", on_one_line(head[0]));
  shell.type = type == "S" ? ShellType::s : type == "P" ? ShellType::p : ShellType::sp;
  std::int64_t primitives = 0;
  if (head.size() < 2 || !read_number(head[1], primitives) || primitives < 1 || primitives > 100)
    return wrong_value("a shell must have a number of primitives from 1 to 100",
                       head.size() < 2 ? "" : on_one_line(head[1]));
  double scale = 1, more = 0; // Gaussian prints a second one
  if (head.size() > 2 && (!read_real(head[2], scale) || scale != 1))
    return wrong_value("the scale factor of a shell must be 1", on_one_line(head[2]));
  if (head.size() > 4 || (head.size() == 4 && (!read_real(head[3], more) || more != 0)))
    return wrong_value("a shell must begin with its type, number of primitives and scale factor",
                       on_one_line(fmt::format("{}", fmt::join(head, " "))));
  const std::size_t columns = shell.type == ShellType::sp ? 3 : 2;
  for (std::int64_t i = 0; i < primitives; ++i) {
    const Words words = lines.next();
    double numbers[3] = {};
    bool right = words.size() == columns;
    for (std::size_t k = 0; right && k < columns; ++k) right = read_real(words[k], numbers[k]);
    if (!right) return wrong_value(fmt::format("a primitive of {} must be a line of {} numbers", type, columns));
    if (!(numbers[0] > 0)) return wrong_value("an exponent must be above 0", on_one_line(words[0]));
    shell.exponents.push_back(numbers[0]);
    if (shell.type != ShellType::p) shell.s.push_back(numbers[1]);
    if (shell.type != ShellType::s) shell.p.push_back(numbers[columns - 1]);
  }
  return shell;
}

bool is_zero(const std::vector<double>& coefficients) {
  return !coefficients.empty() && std::ranges::all_of(coefficients, [](double c) { return c == 0; });
}

// Of an effective core potential of one element, behind "NA-ECP 2 10": for each angular momentum up to 2 a title, a
// number of terms, and a line for each of them.
Status skip_potential(const Words& head, BasisLines& lines) {
  constexpr int most_momentum = 20, most_terms = 1000;
  int momentum = 0;
  const auto cut = [] { return wrong_value("the effective core potential must be whole, but the file ends in it"); };
  if (head.size() != 3 || !read_number(head[1], momentum) || momentum < 0 || momentum > most_momentum)
    return wrong_value("an effective core potential must begin with its name, its largest angular momentum and a "
                       "number of electrons",
                       on_one_line(fmt::format("{}", fmt::join(head, " "))));
  for (int i = 0; i <= momentum; ++i) {
    if (lines.next().empty()) return cut();
    const Words count = lines.next();
    int terms = 0;
    if (count.empty()) return cut();
    if (count.size() != 1 || !read_number(count[0], terms) || terms < 1 || terms > most_terms)
      return wrong_value(
          fmt::format("an effective core potential must have a number of terms from 1 to {}", most_terms),
          on_one_line(count[0]));
    for (int k = 0; k < terms; ++k) {
      const Words term = lines.next();
      double number = 0;
      if (term.empty()) return cut();
      if (term.size() != 3 || !std::ranges::all_of(term, [&](auto word) { return read_real(word, number); }))
        return wrong_value("a term of an effective core potential must be a line of 3 numbers",
                           on_one_line(fmt::format("{}", fmt::join(term, " "))));
    }
  }
  return Nothing{};
}

bool is_word(std::string_view text, std::string_view expected) { return upper(text) == expected; }
bool names_potential(std::string_view word) { return upper(word).ends_with("-ECP"); }
bool may_be_symbol(std::string_view word) {
  return !word.empty() && word.size() <= 3 &&
         std::ranges::all_of(upper(word), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Of all elements in the text those that are needed; the others may have shells of any kind.
class Parser {
 public:
  Parser(std::string name, std::string_view text, const std::set<int>& needed)
      : set_{std::move(name), {}}, lines_(text), needed_(needed) {}

  Result<BasisSet> parse() {
    Words words = lines_.next();
    if (words.size() == 1 && (is_word(words[0], "SPHERICAL") || is_word(words[0], "CARTESIAN")))
      words = lines_.next(); // of Psi4; it matters from D shells on
    bool has_lists = false;
    for (; !words.empty(); words = lines_.next()) {
      if (is_end(words)) continue;
      has_lists = true;
      if (const Status s = list(words); !s) return lines_.error(set_.name, s.error());
    }
    if (!has_lists) return wrong_value(fmt::format("{} must hold the shells of an element", set_.name));
    return std::move(set_);
  }

 private:
  static bool is_end(const Words& words) { return words[0].starts_with("****"); }

  // What `head` begins, "C 0" or "C N O 0": shells up to "****", or a potential.
  Status list(const Words& head) {
    const std::vector<int> elements = TRY(elements_of(head));
    Words words = lines_.next();
    if (!words.empty() && names_potential(words[0])) {
      if (!elements.empty())
        return wrong_value("effective core potentials are not supported", on_one_line(words[0]),
                           "name a basis set for all electrons");
      return skip_potential(words, lines_);
    }
    std::vector<ElementShell> shells;
    for (; !words.empty() && !is_end(words); words = lines_.next()) {
      if (elements.empty()) continue;
      ElementShell shell = TRY(read_shell(words, lines_));
      if (is_zero(shell.s) || is_zero(shell.p)) return wrong_value("a shell must have a coefficient that is not 0");
      shells.push_back(std::move(shell));
    }
    if (words.empty())
      return wrong_value(
          fmt::format("the shells of {} must end with '****', but the file ends first", on_one_line(head[0])), {},
          "take the whole file");
    for (const int element : elements) set_.elements[element] = shells;
    return Nothing{};
  }

  // Those that are needed.
  Result<std::vector<int>> elements_of(Words head) const {
    if (head.size() > 1 && head.back() == "0") head.pop_back();
    std::vector<int> elements;
    for (std::string_view symbol : head) {
      take(symbol, "-"); // "-H": of all elements named, there may be none in the molecule
      if (!may_be_symbol(symbol))
        return wrong_value("a list of shells must begin with an element", on_one_line(symbol));
      const int number = number_of(symbol);
      if (!needed_.contains(number)) continue;
      if (set_.elements.contains(number))
        return wrong_value("all shells of an element must stand together", on_one_line(symbol), "list it once");
      elements.push_back(number);
    }
    return elements;
  }

  BasisSet set_;
  BasisLines lines_;
  const std::set<int>& needed_;
};

} // namespace

Result<BasisSet> parse_basis_set(std::string name, std::string_view text, const std::set<int>& needed) {
  return Parser(std::move(name), text, needed).parse();
}

const BasisSet* built_in_basis_set(std::string_view name) {
  static const std::map<std::string, BasisSet> sets = [] {
    std::map<std::string, BasisSet> found;
    for (const BasisFile& file : basis_files)
      found.emplace(upper(file.name), *parse_basis_set(std::string(file.name), file.text, {1, 6, 7, 8}));
    return found;
  }();
  const auto found = sets.find(upper(name));
  return found == sets.end() ? nullptr : &found->second;
}

std::vector<std::string_view> built_in_basis_sets() {
  std::vector<std::string_view> names;
  for (const BasisFile& file : basis_files) names.push_back(file.name);
  return names;
}

} // namespace kumihimo::hartree_fock
