// The parameter of the assemblies that work on blocks of elements.
#pragma once

#include "base/parameter.hpp"

#include <cstdint>

namespace kumihimo::fem {

// Its value. Error: it is missing or not 1 to 128.
Result<std::int64_t> block_size(const ParameterValues& values);

} // namespace kumihimo::fem
