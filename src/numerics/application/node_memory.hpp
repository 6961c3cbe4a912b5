// Whether what ranks are about to allocate fits their node. The system lends memory that it has not, and kills a
// process that writes to it.
#pragma once

#include "application/processes.hpp"

#include <string>
#include <string_view>

namespace kumihimo::application {

// Error: with so many bytes of each rank, those of this node need more than is free. `what` needs it: "the problem
// needs". Local: the ranks must agree on it.
Status check_node_memory(const Processes& processes, double bytes_of_rank, std::string_view what, std::string advice);

} // namespace kumihimo::application
