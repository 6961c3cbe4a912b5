// A basis set: shells of each element, as the text form of Gaussian (.gbs) lists them.
#pragma once

#include "base/result.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::hartree_fock {

enum class ShellType { s, p, sp };

// A contracted shell as published: coefficients of normalised primitives.
struct ElementShell {
  ShellType type = ShellType::s;
  std::vector<double> exponents;
  std::vector<double> s, p; // one coefficient an exponent; empty: the type has none
};

struct BasisSet {
  std::string name;
  std::map<int, std::vector<ElementShell>> elements; // by number
};

// `text` is a .gbs file: per element "C 0", then shells "SP 3 1.00" with a line per primitive, then "****"; '!' begins
// a comment, exponents of ten may be written with D. The set has those of the elements `needed` that the file has.
// Errors, with the line: a list of shells without its end; and of elements that are needed: another shell than S, P or
// SP; an element twice; something that is no number; a scale factor other than 1; an exponent that is not positive; an
// effective core potential.
Result<BasisSet> parse_basis_set(std::string name, std::string_view text, const std::set<int>& needed);

// "sto-3g" and "6-31g" in any case, for H, C, N and O: the files of src/numerics/hartree_fock/basis_sets, which are
// part of the program. Null: none of this name.
const BasisSet* built_in_basis_set(std::string_view name);
std::vector<std::string_view> built_in_basis_sets();

} // namespace kumihimo::hartree_fock
