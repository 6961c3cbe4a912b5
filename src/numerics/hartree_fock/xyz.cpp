#include "hartree_fock/xyz.hpp"

#include "base/real_number.hpp"
#include "base/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kumihimo::hartree_fock {
namespace {

constexpr std::int64_t most_atoms = 10000; // distances of all pairs are checked
constexpr double farthest = 1e6;           // angstrom

// Which words of a line say the element and x.
struct Columns {
  std::size_t element = 0, position = 1;
  std::optional<std::size_t> all; // none: any number may follow
};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

// "key=value" and key="value with gaps" of a comment, the keys in lower case. A comment of words has none.
std::map<std::string, std::string_view> pairs_in(std::string_view comment) {
  std::map<std::string, std::string_view> pairs;
  while (!(comment = trimmed(comment)).empty()) {
    const std::size_t end = comment.find_first_of(" \t\r=");
    if (end == std::string_view::npos) break;
    const std::string_view key = comment.substr(0, end);
    const bool has_value = comment[end] == '=';
    comment.remove_prefix(end + 1);
    if (!has_value) continue;
    constexpr std::string_view opening = "\"'{[", closing = "\"'}]";
    const std::size_t kind = comment.empty() ? std::string_view::npos : opening.find(comment.front());
    if (kind != std::string_view::npos) comment.remove_prefix(1);
    const std::string_view value = comment.substr(0, kind != std::string_view::npos ? comment.find(closing[kind])
                                                                                    : comment.find_first_of(" \t\r"));
    comment.remove_prefix(std::min(comment.size(), value.size() + 1));
    pairs.emplace(lower(key), trimmed(value));
  }
  return pairs;
}

// "species:S:1:pos:R:3:forces:R:3": names, kinds and numbers of words.
Result<Columns> columns_of(std::string_view properties) {
  const auto wrong = [&](const char* rule) {
    return wrong_value(rule, on_one_line(properties), "write for example Properties=species:S:1:pos:R:3");
  };
  Columns columns;
  std::optional<std::size_t> element, position;
  std::size_t at = 0;
  const std::vector<std::string_view> parts = words_of(properties, ":");
  if (parts.empty() || parts.size() % 3 != 0) return wrong("Properties= must be names, kinds and numbers of columns");
  for (std::size_t i = 0; i < parts.size(); i += 3) {
    const std::string name = lower(parts[i]);
    std::size_t width = 0;
    if (!read_number(parts[i + 2], width) || width < 1 || width > 1000)
      return wrong("Properties= must have a number of columns from 1 to 1000 for each name");
    if ((name == "species" || name == "symbols" || ((name == "z" || name == "numbers") && !element)) && width == 1)
      element = at;
    if ((name == "pos" || name == "positions") && width == 3) position = at;
    at += width;
  }
  if (!element || !position) return wrong("Properties= must have species:S:1 and pos:R:3");
  return Columns{*element, *position, at};
}

// Of the extended form; other comments say nothing of the atoms. A cell that repeats is not a molecule.
Result<Columns> read_comment(std::string_view comment, int charge) {
  const std::map<std::string, std::string_view> pairs = pairs_in(comment);
  const auto value = [&](const char* key) {
    const auto found = pairs.find(key);
    return found == pairs.end() ? std::optional<std::string_view>() : found->second;
  };
  const auto properties = value("properties"), lattice = value("lattice"), pbc = value("pbc");
  if (!properties && !lattice) return Columns{};
  const std::string repeats = lower(pbc.value_or("T T T")); // the default beside a lattice
  if (lattice && repeats.find_first_of("t1") != std::string::npos)
    return wrong_value("the atoms must be a molecule, without a lattice that repeats",
                       fmt::format("pbc=\"{}\"", on_one_line(pbc.value_or("T T T"))),
                       "write pbc=\"F F F\" to take the atoms of one cell alone");
  int stated = 0;
  if (const auto given = value("charge"); given && read_number(*given, stated) && stated != charge)
    return wrong_value(fmt::format("the charge must be that of the file, {}", stated), charge,
                       fmt::format("add --set charge={}", stated));
  return properties ? columns_of(*properties) : Columns{};
}

// Of a symbol, of one with the number of the atom ("C12"), or of an atomic number; D and T are hydrogen. 0: unknown.
int element_of(std::string_view word) {
  int number = 0;
  if (read_number(word, number)) return symbol_of(number).empty() ? 0 : number;
  const std::string_view symbol = word.substr(0, word.find_first_of("0123456789"));
  if (word.find_first_not_of("0123456789", symbol.size()) != std::string_view::npos) return 0;
  return lower(symbol) == "d" || lower(symbol) == "t" ? 1 : number_of(symbol);
}

Result<Atom> read_atom(std::string_view line, const Columns& columns) {
  const std::vector<std::string_view> words = words_of(line);
  if (columns.all && words.size() != *columns.all)
    return wrong_value(fmt::format("an atom must have the {} columns of Properties", *columns.all), on_one_line(line));
  Atom atom;
  bool right = words.size() > std::max(columns.element, columns.position + 2);
  for (std::size_t k = 0; right && k < 3; ++k) {
    double value = 0;
    right = read_real(words[columns.position + k], value) && std::abs(value) <= farthest;
    atom.position[k] = value / angstrom_of_bohr;
  }
  if (!right) return wrong_value("an atom must be its symbol and x, y, z in angstrom", on_one_line(line));
  atom.number = element_of(words[columns.element]);
  if (atom.number == 0)
    return wrong_value("an atom must be of an element from H to Ar", on_one_line(words[columns.element]));
  return atom;
}

} // namespace

Result<Molecule> parse_xyz(std::string_view name, std::string_view text, int charge) {
  TextLines lines(text);
  const auto here = [&](const Error& error) { return located(fmt::format("{}:{}", name, lines.number()), error); };
  const std::string_view first = trimmed(lines.next());
  std::int64_t atoms = 0;
  if (!read_number(first, atoms) || atoms < 1 || atoms > most_atoms)
    return here(wrong_value(fmt::format("the first line must be the number of atoms, 1 to {}", most_atoms),
                            on_one_line(first)));
  const std::string_view comment = trimmed(lines.next());
  const Result<Columns> columns = read_comment(comment, charge);
  if (!columns) return here(columns.error());
  Molecule molecule{{}, charge};
  for (std::int64_t i = 0; i < atoms; ++i) {
    if (!lines.has_words()) return here(wrong_value(fmt::format("{} atoms must follow the comment", atoms), i));
    const Result<Atom> atom = read_atom(lines.next(), *columns);
    if (!atom) return here(atom.error());
    molecule.atoms.push_back(*atom);
  }
  // The data set QM9 adds frequencies and two names of the molecule to each file.
  const bool may_go_on = words_of(comment).size() > 1 && words_of(comment)[0] == "gdb";
  if (lines.has_words() && !may_go_on) {
    const std::string_view more = lines.next();
    return here(wrong_value(fmt::format("the file must end after {} atoms", atoms), on_one_line(more),
                            "give one molecule a file"));
  }
  return molecule;
}

} // namespace kumihimo::hartree_fock
