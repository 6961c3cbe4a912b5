// offloaded: barrier by the network's own engine (patterns/offloaded.hpp).
#include "collectives/patterns/offloaded.hpp"

kumihimo::Variant kumihimo::barrier_offloaded::row() { return offloaded(offload()); }
