// The rows that each algorithm's file contributes to the registry.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

using Rows = std::vector<Variant>;

Rows trinaryx3_rows();     // trees/trinaryx3.cpp
Rows binomial_rows();      // trees/binomial.cpp
Rows binary_rows();        // trees/binary.cpp
Rows double_binary_rows(); // trees/binary.cpp
Rows chain_rows();         // trees/chain.cpp
Rows linear_rows();        // trees/linear.cpp

Rows recursive_doubling_rows(); // allreduce/recursive_doubling.cpp
Rows rabenseifner_rows();       // allreduce/rabenseifner.cpp
Rows ring_rows();               // allreduce/ring.cpp
Rows pairwise_rows();           // allreduce/pairwise.cpp
Rows one_shot_rows();           // allreduce/one_shot.cpp
Rows bucket_rows();             // allreduce/bucket.cpp
Rows rotated_rings_rows();      // allreduce/bucket.cpp

} // namespace kumihimo
