// The parameters of the assemblies that work on blocks of elements.
#pragma once

#include "base/parameter.hpp"

#include <cstdint>

namespace kumihimo::fem {

// Error: it is missing or not 1 to 128.
Result<std::int64_t> block_size(const ParameterValues& values);
// Layers of a pencil; 0: eight colours. Error: it is missing or not 0 to 1024.
Result<std::int64_t> pencil_layers(const ParameterValues& values);

} // namespace kumihimo::fem
