// The functions of Scotch 7 that are used, as its manual describes them (Pellegrini: Scotch and libScotch 7.0 User's
// Guide, chapter 8), for builds with integers of 32 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace kumihimo::mapping_run {

struct ScotchFunctions {
  using Number = std::int32_t; // SCOTCH_Num
  int (*num_sizeof)(), (*graph_sizeof)(), (*arch_sizeof)(), (*strat_sizeof)();
  int (*context_init)(void*);
  void (*context_exit)(void*);
  int (*context_option_set_num)(void*, int option, Number value);
  void (*context_random_seed)(void*, Number);
  void (*context_random_reset)(void*);
  int (*context_thread_spawn)(void*, int threads, const int* cores);
  int (*context_bind_graph)(void* context, const void* graph, void* bound);
  int (*graph_init)(void*);
  void (*graph_exit)(void*);
  int (*graph_build)(void*, Number base, Number vertices, const Number* first, const Number* end,
                     const Number* vertex_weights, const Number* labels, Number edges, const Number* to,
                     const Number* edge_weights);
  int (*graph_map)(void*, const void* arch, void* strategy, Number* part);
  int (*graph_map_fixed)(void*, const void* arch, void* strategy, Number* part);
  int (*arch_init)(void*);
  void (*arch_exit)(void*);
  int (*arch_cmpltw)(void*, Number parts, const Number* weights);
  int (*arch_torus_x)(void*, Number axes, const Number* lengths);
  int (*arch_mesh_x)(void*, Number axes, const Number* lengths);
  int (*arch_tleaf)(void*, Number levels, const Number* sizes, const Number* links);
  int (*arch_load)(void*, std::FILE*);
  int (*arch_sub)(void*, const void* whole, Number count, const Number* nodes);
  int (*strat_init)(void*);
  void (*strat_exit)(void*);
  int (*strat_graph_map_build)(void*, Number flags, Number parts, double imbalance);

  // Nothing: Scotch 7.0 is not installed here, or has other integers or larger objects than are known.
  static std::optional<ScotchFunctions> open();
};

// Storage for one of Scotch's objects, whose sizes its headers tell.
struct ScotchObject {
  static constexpr std::size_t size = 2048;
  alignas(std::max_align_t) std::array<char, size> bytes{};
  void* get() { return bytes.data(); }
};

} // namespace kumihimo::mapping_run
