// Programs written as text: sends, receives and computes of each rank, one a line (docs/programs.md has the format).
// The file is read once whole, which finds all its errors. Then a program is read when it is asked for, whole or a
// piece at a time (ProgramSet::reader): memory is proportional to that and to the number of sections, whatever `ranks`
// says.
#pragma once

#include "base/result.hpp"
#include "program/named_programs.hpp"

#include <string>

namespace kumihimo {

// Errors: what is no regular file or cannot be read; a line that is none of the format's, with its number.
// NamedPrograms::unchanged() says after the use of programs whether all of them came from one content of the file.
Result<NamedPrograms> open_program_file(const std::string& path);

} // namespace kumihimo
