#include "hartree_fock/basis_set.hpp"

#include "base/text_parsing.hpp"
#include "hartree_fock/basis_files.hpp"
#include "hartree_fock/molecule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kumihimo::hartree_fock {
namespace {

using Words = std::vector<std::string_view>;

// Lines without comments and empty ones.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // Empty: the text has ended.
  Words next() {
    while (!rest_.empty()) {
      std::string_view line = take_until(rest_, '\n');
      ++number_;
      Words words = words_of(line.substr(0, line.find('!')));
      if (!words.empty()) return words;
    }
    return {};
  }
  Error error(const std::string& name, Error what) const {
    return located(fmt::format("{}:{}", name, number_), std::move(what));
  }

 private:
  std::string_view rest_;
  int number_ = 0;
};

// Fortran writes 0.15D+01.
bool read_fortran(std::string_view word, double& value) {
  std::string text(word);
  std::ranges::replace(text, 'D', 'e');
  std::ranges::replace(text, 'd', 'e');
  return read_number(text.starts_with('+') ? std::string_view(text).substr(1) : text, value) && std::isfinite(value);
}

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// The lines of primitives of a shell that `head` begins: "SP 3 1.00".
Result<ElementShell> read_shell(const Words& head, Lines& lines) {
  ElementShell shell;
  const std::string type = upper(head[0]);
  if (type != "S" && type != "P" && type != "SP" && type != "L")
    return wrong_value("a shell must be S, P or SP", on_one_line(head[0]));
  shell.type = type == "S" ? ShellType::s : type == "P" ? ShellType::p : ShellType::sp;
  std::int64_t primitives = 0;
  if (head.size() < 2 || !read_number(head[1], primitives) || primitives < 1 || primitives > 100)
    return wrong_value("a shell must have a number of primitives from 1 to 100",
                       head.size() < 2 ? "" : on_one_line(head[1]));
  double scale = 1;
  if (head.size() > 2 && (!read_fortran(head[2], scale) || scale != 1))
    return wrong_value("the scale factor of a shell must be 1", on_one_line(head[2]));
  const std::size_t columns = shell.type == ShellType::sp ? 3 : 2;
  for (std::int64_t i = 0; i < primitives; ++i) {
    const Words words = lines.next();
    double numbers[3] = {};
    bool right = words.size() == columns;
    for (std::size_t k = 0; right && k < columns; ++k) right = read_fortran(words[k], numbers[k]);
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

} // namespace

Result<BasisSet> parse_basis_set(std::string name, std::string_view text) {
  BasisSet set{std::move(name), {}};
  Lines lines(text);
  std::vector<ElementShell>* shells = nullptr;
  for (Words words = lines.next(); !words.empty(); words = lines.next()) {
    if (words[0].starts_with("****")) {
      shells = nullptr;
    } else if (!shells) {
      std::string_view symbol = words[0];
      take(symbol, "-"); // "-H": of all elements named, there may be none in the molecule
      const int number = number_of(symbol);
      if (number == 0)
        return lines.error(
            set.name, wrong_value("a list of shells must begin with an element from H to Ar", on_one_line(symbol)));
      if (set.elements.contains(number))
        return lines.error(
            set.name, wrong_value("all shells of an element must stand together", on_one_line(symbol), "list it once"));
      shells = &set.elements[number];
    } else {
      Result<ElementShell> shell = read_shell(words, lines);
      if (shell && (is_zero(shell->s) || is_zero(shell->p)))
        shell = wrong_value("a shell must have a coefficient that is not 0");
      if (!shell) return lines.error(set.name, shell.error());
      shells->push_back(std::move(*shell));
    }
  }
  if (set.elements.empty()) return wrong_value(fmt::format("{} must hold the shells of an element", set.name));
  return set;
}

const BasisSet* built_in_basis_set(std::string_view name) {
  static const std::map<std::string, BasisSet> sets = [] {
    std::map<std::string, BasisSet> found;
    for (const BasisFile& file : basis_files)
      found.emplace(upper(file.name), *parse_basis_set(std::string(file.name), file.text));
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
