// Where this process stands in the shape of its job's nodes.
#pragma once

#include "mpi/library.hpp"
#include "topology/place_in_shape.hpp"

#include <optional>
#include <string>

namespace kumihimo::mpi {

// What MPI_Get_processor_name says.
std::string processor_name(const Library& library);

// By the two variables of place_in_shape.hpp and the name of this processor.
Result<std::optional<PlaceInShape>> own_place(const Library& library, std::int32_t rank, std::int32_t ranks);

} // namespace kumihimo::mpi
