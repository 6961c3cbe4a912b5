// Programs written as text: sends, receives and computes of each rank, one a line (docs/programs.md has the format).
// The file is read once whole, which finds all its errors, and then rank by rank when a program is asked for: memory is
// proportional to one rank's steps and to the number of sections, whatever `ranks` says.
#pragma once

#include "base/result.hpp"
#include "program/named_programs.hpp"

#include <string>

namespace kumihimo {

// Errors: what is no regular file or cannot be read; a line that is none of the format's, with its number.
// NamedPrograms::unchanged() says after the use of programs whether all of them came from one content of the file.
Result<NamedPrograms> open_program_file(const std::string& path);

} // namespace kumihimo
