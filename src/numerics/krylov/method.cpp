#include "krylov/method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kumihimo::krylov {

#define METHOD(name, ...) void name(SolverRun&);
#include "krylov/methods.def"
#undef METHOD
double s_step_bytes(const ParameterValues& values);

namespace {

constexpr std::span<const TakenParameter> no_parameters;
constexpr Parameter steps{
    .name = "s", .meaning = "iterations for one reduction", .symbol = "s", .min = 1, .max = 8, .tuning_values = {2, 6}};
constexpr TakenParameter s_parameter[] = {{&steps, 4}};

} // namespace

double Method::bytes_per_row(const ParameterValues& values) const {
  if (own_bytes) return own_bytes(with_defaults(parameters, values));
  double bytes = 0;
  for (const VectorKernel kernel : kernels) bytes += description_of(kernel).bytes_per_row;
  return bytes;
}

std::int64_t Method::iterations_of_step(const ParameterValues& values) const {
  const ParameterValues complete = with_defaults(parameters, values);
  const auto s = complete.find("s");
  return s == complete.end() ? 1 : s->second;
}

std::span<const Method> methods() {
  using enum VectorKernel;
#define KERNELS(...)                                                                                                   \
  { __VA_ARGS__ }
#define METHOD(name, parameters, reductions, overlapped, vectors, kernels, own_bytes, summary, reference)              \
  Method{{#name, summary, parameters},                                                                                 \
         reference,                                                                                                    \
         &krylov::name,                                                                                                \
         reductions,                                                                                                   \
         overlapped,                                                                                                   \
         vectors,                                                                                                      \
         KERNELS kernels,                                                                                              \
         own_bytes},
  static const std::vector<Method> all{
#include "krylov/methods.def"
  };
#undef METHOD
#undef KERNELS
  return all;
}

Result<const Method*> find_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Method& each : methods()) {
    if (each.name == name) return &each;
    names.push_back(each.name);
  }
  return wrong_value(fmt::format("the method must be one of {}", fmt::join(names, ", ")), name);
}

} // namespace kumihimo::krylov
