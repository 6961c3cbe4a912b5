// One solve of a request by a method of src/krylov.
#pragma once

#include "application/kernel_times.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "base/json_member.hpp"
#include "krylov/linear_system.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::application {

// Names of the methods of src/numerics/krylov, cg first.
std::span<const std::string_view> krylov_methods();

struct KrylovRun {
  std::int64_t iterations = 0;
  bool converged = false;
  std::vector<double> history; // |r| / |b| before the first iteration and after each; the last one computed from x
  JsonMember facts;            // of the method
};

// From the x that is given. Adds the loops over vectors to `times`. With may_stop_early the limit of iterations is no
// error. Collective. Errors: those of the method; all ranks get the same.
Result<KrylovRun> run_krylov(const ApplicationRequest& request, krylov::LinearSystem& system, KernelTimes& times,
                             krylov::Sums& sums, std::span<const double> b, std::span<double> x, Runtime& runtime);

} // namespace kumihimo::application
