// The search for a placement of ranks on nodes: the target kumihimo::place.
#pragma once

#include "kumihimo/mapping/choice/request.hpp"
#include "kumihimo/mapping_run/run.hpp"
#include "kumihimo/network.hpp"
#include "kumihimo/traffic/programs.hpp"
#include "kumihimo/traffic/traffic.hpp"
