#include "krylov/method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kumihimo::krylov {

#define METHOD(name, ...) void name(Run&);
#include "krylov/methods.def"
#undef METHOD

namespace {

constexpr std::span<const TakenParameter> no_parameters;

} // namespace

int Method::bytes_per_row() const {
  int bytes = 0;
  for (const VectorKernel kernel : kernels) bytes += description_of(kernel).bytes_per_row;
  return bytes;
}

std::span<const Method> methods() {
  using enum VectorKernel;
#define KERNELS(...)                                                                                                   \
  { __VA_ARGS__ }
#define METHOD(name, parameters, reductions, overlapped, vectors, kernels, summary, reference)                         \
  Method{{#name, summary, parameters}, reference, &krylov::name, reductions, overlapped, KERNELS kernels, vectors},
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
