// The part "files" of a bench driver's task: steps that all ranks take one after another, each of which prints a
// result.
//
//   {"folder": "/scratch/user",       the folder of the run is made in it
//    "existing": "/scratch/...",      or: the files of this folder are there already, and stay
//    "data": [{"name": "a", "api": "posix", "shared": false, "transfer": 1048576, "block": 67108864, "segments": 1,
//              "cache": "evict", "sync": true, "check": true, "shift": 1, "limit": 0, "seed": 1,
//              "hints": [["cb_nodes", "2"]], "hdf5": "libhdf5.so"}],
//    "items": [{"name": "m", "folders": false, "one_folder": true, "per_rank": 1000, "bytes": 0, "sync": false,
//               "shift": 1, "limit": 0, "seed": 1}],
//    "steps": [{"do": "write" | "read" | "remove", "data": "a"},
//              {"do": "plant" | "create" | "stat" | "read" | "rename" | "remove" | "clear", "items": "m"},
//              {"do": "save" | "load" | "partner" | "discard",
//               "state": {"bytes": 1048576, "generation": 1, "cache": "evict"}},
//              {"do": "find", "part": "01", "bytes": 3901},
//              {"do": "roof", "bytes": 268435456, "transfer": 8388608}]}
//
// A shift of -1 is a node further: the ranks of the first node, or 1 if there is only one node. A step with "may_fail"
// whose library is missing prints why in place of a result.
#pragma once

#include "base/result.hpp"
#include "mpi_job/job.hpp"

#include <string>

namespace kumihimo::file_bench {

// `text`: JSON. Collective; prints {"folder": path, ...} first, then {"step": number, ...} for each step.
Status run_file_task(mpi_job::MpiJob& job, const std::string& text);

} // namespace kumihimo::file_bench
