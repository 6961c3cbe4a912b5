// One rank's iteration, stage by stage. A stage is some lanes that start when the stages named before it have ended.
#pragma once

#include "halo/halo.hpp"
#include "krylov_programs/application.hpp"
#include "program/program_set.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace kumihimo::krylov_programs {

using Lanes = std::vector<LaneId>;
Lanes operator+(Lanes a, const Lanes& b);

// The allreduce of a number of values, for all ranks.
using Reductions = std::map<std::int64_t, ProgramSet>;

inline constexpr std::int32_t lanes_of_reduction = 8; // at most

class Stages {
 public:
  struct Setting {
    std::int64_t s = 1;                                     // of s_step
    bool halos = true, reductions = true, computing = true; // false: without this part
    Halo halo;
    ModelledApplication application;
    ModelledPreconditioner preconditioner;
    Reductions sums;
    std::int64_t cells = 0, elements = 0; // of a rank; of its buffer
    ProgramSet exchange;
  };
  Stages(const Setting& setting, Rank rank) : setting_(setting), rank_(rank) {}

  Lanes vectors(const Lanes& after, double bytes_per_row, const char* role);
  Lanes precondition(const Lanes& after);
  Lanes product(const Lanes& after);
  Lanes reduce(const Lanes& after, std::int64_t values);

  std::int64_t s() const { return setting_.s; }
  Program finish() { return std::move(program_); }

 private:
  Lanes compute(const Lanes& after, Work work, const char* role);

  const Setting& setting_;
  Rank rank_;
  Program program_;
  std::int32_t next_lane_ = 0;
  std::int64_t values_ = 0; // that reductions have taken of the buffer
};

// A method: its stages, what each reduction sums, and what its loops over vectors move
// (src/numerics/krylov/vector_kernels.def).
struct MethodStages {
  std::string_view name;
  Lanes (*build)(Stages&, const Lanes& after); // one step; the lanes that end it
  std::vector<std::int64_t> (*values)(std::int64_t s);
  double (*vector_bytes)(std::int64_t s); // of an iteration and row
  bool steps;                             // s iterations at once
};
std::span<const MethodStages> method_stages();

} // namespace kumihimo::krylov_programs
