// The registry of collective algorithms: the target kumihimo::collectives.
#pragma once

#include "kumihimo/collectives/parameters.hpp"
#include "kumihimo/collectives/registry.hpp"
#include "kumihimo/programs.hpp"
