// Iterations of a Krylov method in an application, as a program set: the halo exchange of every product, compute steps
// with their bytes and flops, and the sums over ranks as an allreduce of the registry. Products compute what needs no
// ghosts while the exchange is under way. Reductions run before the next compute step or beside it, as the page of the
// method in src/numerics/krylov has it.
//
// Behind the cells of the grid, the buffer of a rank holds the values of each reduction.
#pragma once

#include "base/result.hpp"
#include "collectives/registry.hpp"
#include "halo/halo.hpp"
#include "krylov_programs/application.hpp"
#include "program/named_programs.hpp"
#include "topology/rank_space.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::krylov_programs {

// Names of the methods, those of src/numerics/krylov/methods.def.
std::span<const std::string_view> methods();

struct Iteration {
  std::string application, method, preconditioner; // no preconditioner: the application's default
  Halo::Box cells{};                               // of a rank
  std::array<std::int32_t, 3> ranks{1, 1, 1};      // the last axis runs fastest in the order of ranks
  std::int64_t s = 4;                              // of s_step
  std::int64_t steps = 1; // one after another: iterations, or s of them in s_step. A rank's memory grows with them.
  bool halos = true, reductions = true, computing = true; // false: without this part, to see what it costs
};

// Iterations that one program set makes: steps, times s in s_step.
std::int64_t iterations_of(const Iteration& iteration);
// That the loops over vectors of an iteration move, per unknown.
double vector_bytes(const Iteration& iteration);

// Errors: an unknown name; sizes out of range; an allreduce that splits its vector or orders it in blocks
// (not_applicable).
Result<NamedPrograms> programs_of(const Iteration& iteration, const Variant& allreduce, const RankSpace& space);

} // namespace kumihimo::krylov_programs
