// Times of an MPI library's own collectives in a machine file: [library_collectives].
#pragma once

#include "machine/machine.hpp"
#include "machine/toml_reader.hpp"

namespace kumihimo {

// Where the file has them. `in` has the first error.
void read_library_collectives(TomlReader& in, const toml::table& root, Machine& machine);

} // namespace kumihimo
