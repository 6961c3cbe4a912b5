// What the user asks for: a problem, or the list of problems of an HPL.dat.
#pragma once

#include "application/application.hpp"
#include "application/request.hpp"
#include "lu/hpl_dat.hpp"
#include "lu/test_matrix.hpp"
#include "lu/tiled.hpp"
#include "tasks/injected_noise.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::lu_app {

struct LuVariant : VariantDescription {
  enum class Pivoting { golden, rows, tournament, tiles };
  enum class Runner { own, openmp, tbb }; // of the tasks of `tiles`
  Pivoting pivoting = Pivoting::rows;
  Runner runner = Runner::own;
  double static_share = 0; // of tiles, where it is no parameter
};
std::span<const LuVariant> variants();
std::span<const std::string_view> measured_by_name(); // variants that `auto` does not try
// Those by tasks: tasks of several steps run at once, so that there is no moment between two steps to save.
std::span<const std::string_view> stateless_variants();
std::span<const application::ApplicationOption> option_rows();

// One factorisation.
struct LuProblem {
  std::int64_t n = 0, block = 96;
  std::int32_t p = 1, q = 1;       // the grid of ranks
  bool is_column_major = false;    // ranks follow each other down the columns of the grid
  int lookahead = 1;               // panels that are factored ahead
  std::string broadcast = "chain"; // of panels: an algorithm of the registry
  std::string file = {};           // HPL.dat, if it is from one
};

// What the user says of unequal nodes.
struct NodeWishes {
  std::vector<double> speeds;           // of the nodes in the order of their ranks; empty: all are equal
  bool measures = false;                // speeds=auto
  std::vector<std::vector<int>> groups; // processors of this machine that stand for nodes; empty: nodes are nodes
  std::int32_t cores = 0;               // of a node; 0: its processors
  bool any() const { return !speeds.empty() || measures || !groups.empty(); }
};

struct LuRequest {
  std::vector<LuProblem> problems;
  LuVariant::Pivoting pivoting = LuVariant::Pivoting::rows;
  LuVariant::Runner runner = LuVariant::Runner::own;
  lu::TiledFactorisation::Split split; // of tasks
  tasks::NoisePattern noise;
  std::string blas;   // path
  std::string device; // gpu, processors, or empty: none
  NodeWishes nodes;   // where they are unequal
  lu::MatrixKind matrix = lu::MatrixKind::random;
  std::uint64_t seed = 1;
  double threshold = 16;
  std::vector<lu::UnusedLine> unused; // of the file
};

// Error: those of the values and of the file; a problem that does not fit the ranks. Local, the same on all ranks that
// see the same file.
Result<LuRequest> request_of(const application::ApplicationRequest& request, std::int32_t ranks);

} // namespace kumihimo::lu_app
