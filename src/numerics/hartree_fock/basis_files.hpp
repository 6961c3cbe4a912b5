// The texts of the files in basis_sets/, which CMake makes part of the program.
#pragma once

#include <span>
#include <string_view>

namespace kumihimo::hartree_fock {

struct BasisFile {
  std::string_view name, text; // "6-31g"
};
extern const std::span<const BasisFile> basis_files;

} // namespace kumihimo::hartree_fock
