// Real numbers in files of other programs.
#pragma once

#include <string_view>

namespace kumihimo {

// The whole word as C, Fortran or Mathematica writes a number: +1.5, 1.5e-3, 1.5D-03, 1.5-103 (Fortran leaves out the
// letter before three digits), 1.5*^-6. A number too small for a double is 0. False: the word is no finite number.
bool read_real(std::string_view word, double& value);

} // namespace kumihimo
