// The rows that each algorithm's file contributes to the registry.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

using Rows = std::vector<Variant>;

Rows trinaryx3_rows();     // patterns/trees/trinaryx3.cpp
Rows binomial_rows();      // patterns/trees/binomial.cpp
Rows binary_rows();        // patterns/trees/binary.cpp
Rows double_binary_rows(); // patterns/trees/binary.cpp
Rows chain_rows();         // patterns/trees/chain.cpp
Rows linear_rows();        // patterns/trees/linear.cpp

Rows recursive_doubling_rows(); // allreduce/recursive_doubling.cpp
Rows rabenseifner_rows();       // allreduce/rabenseifner.cpp
Rows ring_rows();               // allreduce/ring.cpp
Rows pairwise_rows();           // allreduce/pairwise.cpp
Rows one_shot_rows();           // allreduce/one_shot.cpp
Rows bucket_rows();             // patterns/rings/bucket.cpp
Rows rotated_rings_rows();      // patterns/rings/bucket.cpp

Rows allgather_ring_rows();               // allgather/ring.cpp
Rows allgather_recursive_doubling_rows(); // allgather/recursive_doubling.cpp
Rows allgather_bruck_rows();              // allgather/bruck.cpp
Rows allgather_neighbour_exchange_rows(); // allgather/neighbour_exchange.cpp

Rows bucket_of_blocks_rows();        // patterns/rings/bucket_of_blocks.cpp
Rows rotated_rings_of_blocks_rows(); // patterns/rings/bucket_of_blocks.cpp

Rows reduce_scatter_ring_rows();              // reduce_scatter/ring.cpp
Rows reduce_scatter_pairwise_rows();          // reduce_scatter/pairwise.cpp
Rows reduce_scatter_recursive_halving_rows(); // reduce_scatter/recursive_halving.cpp

Rows alltoall_direct_rows();  // alltoall/direct.cpp
Rows alltoall_bruck_rows();   // alltoall/bruck.cpp
Rows alltoall_by_axes_rows(); // alltoall/by_axes.cpp

Rows neighbours_direct_rows(); // neighbours/direct.cpp

Rows rooted_binomial_rows(); // patterns/ranges/binomial.cpp
Rows rooted_linear_rows();   // patterns/ranges/linear.cpp

Rows barrier_dissemination_rows(); // barrier/dissemination.cpp
Rows barrier_binomial_rows();      // barrier/binomial.cpp

Rows offloaded_rows(); // offloaded.cpp

Rows scan_recursive_doubling_rows(); // scan/recursive_doubling.cpp
Rows scan_chain_rows();              // scan/chain.cpp

Rows swing_rows();          // patterns/butterflies/swing.cpp
Rows bine_butterfly_rows(); // patterns/butterflies/swing.cpp
Rows non_minimal_rows();    // patterns/butterflies/non_minimal.cpp
Rows bine_tree_rows();      // patterns/trees/bine.cpp
Rows rooted_bine_rows();    // patterns/ranges/bine.cpp

Rows hierarchical_rows(); // patterns/levels/hierarchical.cpp

} // namespace kumihimo
