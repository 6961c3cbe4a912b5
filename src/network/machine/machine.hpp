// A machine: a topology and the numbers that a prediction needs, each with its source. Pure values; nothing here opens
// a file or looks at the host (see load.hpp and discovery.hpp).
//
// What the numbers mean to a simulator. A transfer occupies one engine at each end and every link of its route; each of
// them is a rate shared by the transfers on it. Before its bytes flow it occupies its lane's queue for `message_cost`;
// its last byte arrives `hop_latency` per hop later. What waits for an arrival before it is sent on (a relay) starts
// `relay_latency` after it, and `rendezvous_latency` later still if it is longer than `eager_bytes`. What else a
// library may cost is optional (SoftwareNumbers). A reduction occupies its rank's reducing thread (each rank has one)
// for result bytes / `reduction_rate`. Copies on a node, messages between its ranks among them, and reductions share
// its `memory_bandwidth`: a copied byte passes it twice, a reduced one three times. A message within a node has the
// latency and the rate of the innermost level that both ranks share.
//
// With the numbers of NodeCopies a message within a node is two copies instead: the sender's processor copies it into
// shared memory, the receiver's out of it (or sums it up from there). Each takes its processor; what is longer than a
// slot is copied in while it is copied out. Before, the lane's queue is busy for the message's cost. If a node has more
// ranks than processors, they share the processors, and each message waits for its receiver's turn.
#pragma once

#include "machine/quantity.hpp"
#include "topology/level.hpp"
#include "topology/switched.hpp"
#include "topology/tofu_job.hpp"
#include "topology/torus_job.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo {

enum class Family : std::uint8_t { torus, tofu, fat_tree, dragonfly, dragonfly_plus, graph, routes, single_node };
inline constexpr std::array<std::string_view, 8> family_names = {"torus",          "tofu",  "fat_tree", "dragonfly",
                                                                 "dragonfly_plus", "graph", "routes",   "single_node"};
constexpr std::string_view name_of(Family family) { return family_names[static_cast<std::size_t>(family)]; }

// A class of the topology's links (Topology::link_classes), whose bandwidth may be another than link_bandwidth, and
// whose latency another than hop_latency.
struct LinkClass {
  std::string name;                       // "global"
  std::string bandwidth_key, latency_key; // "link_bandwidth_global", "hop_latency_global"
  std::optional<Quantity<BytesPerSecond>> bandwidth;
  std::optional<Quantity<Seconds>> latency;
};

// All zero on a single node, which has no links.
struct NetworkNumbers {
  Quantity<BytesPerSecond> link_bandwidth;      // payload that one link delivers, each direction
  std::vector<LinkClass> classes;               // one for each of the topology's
  Quantity<BytesPerSecond> link_peak;           // of the hardware, each direction; for shares of peak only
  Quantity<Seconds> hop_latency;                // of the first byte, per link crossed
  Quantity<std::int64_t> engines;               // RDMA engines of a node: transfers it sends (and receives) at once
  Quantity<BytesPerSecond> engine_bandwidth;    // one engine, each direction
  Quantity<BytesPerSecond> injection_bandwidth; // all engines of a node together, each direction
  std::optional<Quantity<BytesPerSecond>> switch_bandwidth; // of a node's router, for information
  // Two nodes that send each other messages longer than exchange_bytes: both directions together. Both or none; none:
  // each direction by itself.
  std::optional<Quantity<BytesPerSecond>> exchange_bandwidth;
  std::optional<Quantity<Bytes>> exchange_bytes;
  // Of nodes that share the processors of one machine, which send, forward and receive for all of them: what the links
  // carry together if each byte crosses one. A byte of a message of h links counts (h + 1) / 2 times. None: no limit.
  std::optional<Quantity<BytesPerSecond>> total_bandwidth;
  // Links whose rate a token bucket limits: an idle one passes so many bytes at once, and is busy for their time behind
  // them. None: bytes pass as they come.
  std::optional<Quantity<Bytes>> burst_bytes;
};

// Of a level of a single node's cores. What is not given is that of the level around it, and of the outermost one
// shared_memory_bandwidth and shared_memory_latency, which hold between ranks that share no level.
struct LevelNumbers {
  std::string name;                                  // "l3"
  std::string bandwidth_key, latency_key, link_key;  // "shared_memory_bandwidth_l3", ..., "link_bandwidth_l3"
  std::optional<Quantity<BytesPerSecond>> bandwidth; // one rank copying from another one that shares the level
  std::optional<Quantity<Seconds>> latency;          // of a message between two that share it
  std::optional<Quantity<BytesPerSecond>>
      link_bandwidth; // all that one group sends to others, and gets; none: no limit
};

// Messages within a node, as two copies through shared memory. Rates are by where the data of the collective fit: in a
// core's own cache, in the last-level cache, or in the memory alone. All are measured together.
struct NodeCopies {
  Quantity<Seconds> send_cost;         // per message within the node, during which its lane's queue is busy
  Quantity<Bytes> slot;                // the longest message that is copied in before it is copied out
  Quantity<BytesPerSecond> copy_short; // one processor in one copy of a message shorter than streamed_bytes, whose
                                       // lines move from cache to cache
  Quantity<Bytes> streamed_bytes;      // the shortest message that is stored past the sender's cache,
  Quantity<Seconds> streamed_latency;  // and how much later its first bytes arrive
  Quantity<Bytes> core_cache;          // the largest that is a core's own
  // One processor in one of the two copies of a message: their mean.
  Quantity<BytesPerSecond> copy_core, copy_last_level, copy_memory;
  // What is longer than a slot, copied in by one processor while another copies it out.
  Quantity<BytesPerSecond> stream_core, stream_last_level, stream_memory;
  // A receiver that sums up instead of copying: result bytes of one processor, with SIMD.
  Quantity<BytesPerSecond> sum_core, sum_last_level, sum_memory;
  Quantity<Seconds> processor_switch; // until another rank on the same processor runs
};

struct NodeNumbers {
  Quantity<std::int64_t> default_ranks_per_node; // of a job that says no other number: see Job(Machine)
  Quantity<std::int64_t> cores;
  Quantity<Bytes> memory;
  std::optional<Quantity<Bytes>> last_level_cache;   // one of them
  Quantity<BytesPerSecond> memory_bandwidth;         // STREAM triad, all cores
  std::optional<Quantity<FlopsPerSecond>> flop_rate; // of all cores
  Quantity<BytesPerSecond> reduction_rate;           // result bytes of one reducing thread, with SIMD
  Quantity<BytesPerSecond> reduction_rate_scalar;    // the same without SIMD
  std::optional<Quantity<Seconds>> reduction_cost;   // of each sum, beside its bytes; none: no time
  // Sums and copies of the input (SoftwareNumbers::input_copy_rate) of more than cached_bytes go to memory: the rate of
  // sums, and copies are slower by the same factor. Both or none; none: any length has the same rate.
  std::optional<Quantity<Bytes>> cached_bytes;
  std::optional<Quantity<BytesPerSecond>> reduction_rate_uncached;
  // A call that needs more than scratch_kept bytes of scratch gets them from the operating system, page by page, at
  // this rate. Both or none; none: in no time.
  std::optional<Quantity<Bytes>> scratch_kept;
  std::optional<Quantity<BytesPerSecond>> scratch_rate;
  Quantity<BytesPerSecond> shared_memory_bandwidth; // one rank copying from another rank of its node
  Quantity<Seconds> shared_memory_latency;          // of a message between ranks of a node
  std::vector<LevelNumbers> levels;                 // one for each of the machine's
  std::optional<NodeCopies> copies;                 // none: messages have shared_memory_bandwidth and its latency
};

struct SoftwareNumbers {
  Quantity<Seconds> message_cost;  // per message, during which its lane's queue is busy
  Quantity<Seconds> relay_latency; // from an arrival to the start of the send (or reduction) that waited for it
  Quantity<Bytes> segment_bytes;   // one lane's step of a pipelined algorithm, unless a parameter says otherwise
  // For a longer message between nodes sender and receiver agree where to: the receiving lane takes that much longer to
  // take it. Both or none; none: messages of any length alike.
  std::optional<Quantity<Bytes>> eager_bytes;
  std::optional<Quantity<Seconds>> rendezvous_latency;
  // A rank that exchanges messages with more peers than these in one call has no long buffers for all: a message to or
  // from it has a rendezvous if it is longer than eager_bytes_beyond. Both or none; none: any number of peers.
  std::optional<Quantity<std::int64_t>> eager_peers;
  std::optional<Quantity<Bytes>> eager_bytes_beyond;
  // All nodes share so many processors, of which a message between nodes needs one for that long at each end: single
  // messages have that in place of message_cost and relay_latency, which were measured while all ranks send. Both or
  // none; none: each rank has its own.
  std::optional<Quantity<std::int64_t>> processors;
  std::optional<Quantity<Seconds>> processor_time;
  // The receiving lane takes one message after another, each for that long, and issues none meanwhile. None: in no
  // time.
  std::optional<Quantity<Seconds>> receive_cost;
  // Both ends copy an eager message through a buffer: its bytes at this rate are a part of message_cost and of
  // receive_cost. None: nothing is copied.
  std::optional<Quantity<BytesPerSecond>> eager_copy_rate;
  // A rank of a program without concurrent lanes receives through one engine: all its messages share this rate. None:
  // all engines of the node serve every lane.
  std::optional<Quantity<BytesPerSecond>> lane_bandwidth;
  // A program with concurrent lanes puts its messages into remote memory, whose addresses the ranks exchange before
  // each phase, in this time. These messages have no rendezvous and no copies, and keep no lane busy as they arrive.
  // None: they are like those of other programs.
  std::optional<Quantity<Seconds>> put_setup;
  // A call whose longest buffer has more bytes registers it with the network before its first phase, in this time. Both
  // or none.
  std::optional<Quantity<Bytes>> register_bytes;
  std::optional<Quantity<Seconds>> register_latency;
  // A put of so many bytes or fewer arrives that much later. Both or none.
  std::optional<Quantity<Bytes>> short_put_bytes;
  std::optional<Quantity<Seconds>> short_put_latency;
  // A put has no message to take, and its receiver polls a flag in memory instead: from the arrival of its last byte
  // until the receiver sees it. None: receive_cost, as for other messages.
  std::optional<Quantity<Seconds>> put_latency;
  // A put of a call that sums up is ready that much later: its bytes arrive in scratch, which a processor empties
  // before anything is passed on. Without sums ranks pass on what lies in the user's buffer. None: all puts alike.
  std::optional<Quantity<Seconds>> put_sum_latency;
  // Of each phase after the first, beside put_setup: from the last put of the phase before to the first of the next.
  // None: put_setup alone.
  std::optional<Quantity<Seconds>> put_turn_latency;
  // The segment of a pipelined algorithm grows with the square root of the length: sqrt(bytes x segment_scale), at most
  // segment_bytes, as the best segment of a pipeline does. None: segment_bytes whatever the length.
  std::optional<Quantity<Bytes>> segment_scale;
  // A message this short leaves when its sender is ready; the receiver's library keeps it until it is asked for. None:
  // a message leaves when both ends are ready.
  std::optional<Quantity<Bytes>> unexpected_bytes;
  // A library copies the input of a reduction at this rate, to the output or, if that is smaller, to scratch. None: it
  // does not.
  std::optional<Quantity<BytesPerSecond>> input_copy_rate;
  // A message of more bytes arrives that much later: an engine fetches them from memory, where fewer are a part of what
  // the processor tells it. Puts have short_put_latency instead. Both or none.
  std::optional<Quantity<Bytes>> inline_bytes;
  std::optional<Quantity<Seconds>> fetch_latency;
  // A copy of more than two pieces, such as of blocks that lie apart, takes so much longer, and so much more for each
  // piece: libraries pack them by a derived datatype that they make for each message. Both or none.
  std::optional<Quantity<Seconds>> pack_cost, pack_piece_cost;
};

// The parameters of LogGOPS of an MPI library's messages (loggp/parameters.hpp), as measured: between nodes, or the
// ranks of a single node. What is not given is derived from the other numbers; O and R are 0.
struct LogGopsNumbers {
  std::optional<Quantity<Seconds>> L, o, g;
  std::optional<Quantity<Seconds>> G, O; // a byte
  std::optional<Quantity<Bytes>> S;
  std::optional<Quantity<Seconds>> R;
  std::optional<Quantity<BytesPerSecond>> reduction_rate; // of the library's own sums; none: that of the node
};

// The network's own engine for barriers and small reductions: a call over P nodes takes
// base_latency + stage_latency x log2(P).
struct OffloadNumbers {
  Quantity<Bytes> max_bytes;                                // the most data that one call takes
  std::optional<Quantity<std::int64_t>> max_elements;       // and the most elements; none: all that fit
  std::optional<Quantity<OperationSet>> integer_operations; // what it does to integers, and to floating numbers;
  std::optional<Quantity<OperationSet>> float_operations;   // none: all built-in ones
  Quantity<Seconds> base_latency;
  Quantity<Seconds> stage_latency;
};

// A state of a machine's software: what its numbers were measured with. All texts may be empty.
struct SoftwareState {
  std::string name;                                         // "openmpi-2025-03"
  std::string library, version, transport, rails, settings; // for people: "Open MPI", "4.1.6", "UCX", "1", ...
};

// How far measured times are from predictions, as a calibration found on jobs that it did not fit: nine of ten measured
// times are between low and high times the predicted one.
struct PredictionErrors {
  static constexpr std::array<std::string_view, 8> classes_of_algorithms = {"puts",   "trees",     "rings", "exchanges",
                                                                            "direct", "offloaded", "other", "all"};
  static constexpr std::array<std::string_view, 4> classes_of_lengths = {"short", "middle", "long", "all"};
  struct Row {
    std::string algorithms, lengths; // classes of both, "trees" and "short"; "all"
    std::int64_t times = 0;          // that it rests on
    double low = 1, high = 1;        // 0 < low <= high
    double median = 1;               // low <= median <= high; where the file has none, the mean of their logarithms
  };
  std::string source;
  std::int64_t fewest_nodes = 1, most_nodes = 1; // of the jobs that were measured
  std::vector<Row> rows;
  std::optional<double> day_to_day; // a factor of at least 1, within which nine of ten repeats on another day are;
                                    // none: nothing was measured on two days
  // Of the errors of two algorithms in one case, of the same class and of different ones: 0 to below 1, the first not
  // below the second.
  double correlation_in_class = 0, correlation = 0;
};

// How long the MPI library's own collectives take, as measured on so many ranks on so many nodes of the machine. A
// replay takes these times for calls of as many ranks on as many nodes, between lengths on a line of their logarithms.
struct LibraryCollectives {
  struct Row {
    std::string collective;
    std::int32_t ranks = 1, nodes = 1; // 1 <= nodes <= ranks
    std::int64_t bytes = 0;            // of the vector or block; 0: of a barrier
    Seconds time;                      // above 0
  };
  std::string source;
  std::vector<Row> rows;
};

// Parts that run at `factor` of the machine's rates, 0 < factor <= 1: a node's engines, injection, memory and reduction
// rates; a directed link's bandwidth. Nodes are numbered in the shape in force, so that they mean a job's nodes once
// with_shape() has made one.
struct SlowNode {
  NodeId node;
  double factor = 1;
};
struct SlowLink {
  NodeId from, to; // neighbours
  LinkId link;
  double factor = 1;
};

struct Machine {
  std::string name;    // "k-computer"
  std::string summary; // one line for lists

  Family family = Family::single_node;
  Shape shape; // torus: of its nodes; tofu: of the virtual torus in force; other families have no axes
  TopologyPtr topology;
  std::shared_ptr<const TofuMachine> tofu;   // the physical machine that jobs get their boxes of; other families: none
  std::shared_ptr<const TorusMachine> torus; // the same of tori; none where a torus has no machine
  std::optional<Error> whole_machine_error;  // Tofu: why no job can have all of it: dead parts disconnect it
  std::vector<Level> levels;                 // single node: of its cores, consecutive ones, outermost first
  std::vector<std::string> node_names;       // as the scheduler calls them; none: they have only numbers

  NetworkNumbers network;
  NodeNumbers node;
  SoftwareNumbers software;
  std::optional<LogGopsNumbers> loggops;
  std::optional<OffloadNumbers> offload;

  std::vector<SoftwareState> software_states; // those that the file describes
  std::string software_state;                 // the one whose numbers are above; empty: those of [software] alone
  std::optional<PredictionErrors> prediction_errors;
  std::optional<LibraryCollectives> library_collectives; // none: nobody has measured them

  std::vector<SlowNode> slow_nodes;
  std::vector<SlowLink> slow_links;

  // The same machine as seen by a job of this shape on a part of it: what TorusMachine::place says, or on Tofu its
  // virtual torus in the smallest box that gives it. Where nodes hang on switches the shape is a number of nodes, the
  // first ones. A single node has no shape to give. Errors: more nodes than the machine; a shape that no box gives; a
  // slow part that the job lacks.
  Result<Machine> with_shape(const Shape& job) const;
  // In this box of Tofu, "4x3x8x2x3x2" or "4x3x8x2x3x2@0,0,1": as the 3D torus of all its nodes unless a shape is
  // given.
  Result<Machine> with_box(std::string_view box, const std::optional<Shape>& job) const;
  // After these nodes of the job have died, and cables between neighbours, by their coordinates in its torus: on Tofu a
  // torus one position shorter for each node. Errors: another family; no such part; what cannot be kept.
  using Cable = std::pair<Coordinates, Coordinates>;
  Result<Machine> without(const std::vector<Coordinates>& nodes, const std::vector<Cable>& cables = {}) const;
  // With these parts slow, beside those that are. Errors: no such part; one that is slow already; links of a family
  // without slow links.
  Result<Machine> with_slow(const std::vector<SlowNode>& nodes, const std::vector<SlowLink>& links) const;
  // With another of its family's ways of routing. Errors: none of them.
  Result<Machine> with_routing(std::string_view routing) const;
  // The same numbers on a torus of its own, whatever the family: for pictures, and for the models' own tests.
  Machine as_torus(const Shape& wanted) const;
  // What a job cannot have of its torus because parts are dead, for people; empty where nothing is.
  std::string losses() const;
  const Switched* switched() const;        // the topology where nodes hang on switches, else null
  Bytes segment_bytes(Bytes vector) const; // of a pipelined algorithm, see SoftwareNumbers::segment_scale
  BytesPerSecond link_bandwidth(std::int32_t link_class) const;
  Seconds hop_latency(std::int32_t link_class) const;
  // And its link classes, which keep the numbers of those of the same name. Its nodes are others, and have no names.
  void set_topology(TopologyPtr topology);
  // Without numbers of their own. Errors: levels that do not nest in those before them, or have the name of one.
  Status set_levels(std::vector<Level> levels);

  // Of the machine's rates, 1 unless the part is slow. O(slow parts).
  double node_factor(NodeId node) const;
  double link_factor(LinkId link) const;
};

// The link between two neighbours; none where there is no such link or node.
std::optional<LinkId> find_link(const Topology& topology, NodeId from, NodeId to);

// The state of no name: the numbers outside of [software.NAME].
inline constexpr std::string_view no_software_state = "base";

// From the text of a machine file (TOML, docs/machines.md); `file_name` appears in messages only. `software`: a state
// of the software, `base` for none; empty for the file's default. Errors: each names file and line, what was expected
// and found, and what to do.
Result<Machine> parse_machine(std::string_view toml_text, std::string_view file_name, std::string_view software = {});

// One JSON object; units in the names of keys, a source and provenance beside each number.
std::string to_json(const Machine& machine);
// Its numbers as the sections of a machine file, without [topology]: for other networks with the same numbers. Those of
// its levels are among them, which a node with levels of the same names alone can have.
std::string numbers_to_toml(const Machine& machine);
// A table for people: number, value, provenance, source.
std::string to_text(const Machine& machine);

} // namespace kumihimo
