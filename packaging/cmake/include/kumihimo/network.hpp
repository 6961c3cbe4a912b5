// Networks, machines, jobs on them, and where ranks are: the target kumihimo::network.
#pragma once

#include "kumihimo/base/result.hpp"
#include "kumihimo/base/units.hpp"
#include "kumihimo/machine/job.hpp"
#include "kumihimo/machine/load.hpp"
#include "kumihimo/machine/machine.hpp"
#include "kumihimo/placement/orders.hpp"
#include "kumihimo/placement/placement.hpp"
#include "kumihimo/topology/rank_space.hpp"
#include "kumihimo/topology/shape.hpp"
#include "kumihimo/topology/topology.hpp"
#include "kumihimo/topology/torus.hpp"
