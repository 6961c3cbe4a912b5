// kumihimo._base: the version, and the border itself, so that its tests need no other layer.
#include "border.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

Status fail(const std::string& kind, std::string problem, std::string advice) {
  for (auto candidate : {Error::Kind::bad_input, Error::Kind::not_applicable, Error::Kind::failed}) {
    if (kind == exception_name(candidate)) {
      return Error{candidate, std::move(problem), std::move(advice)};
    }
  }
  return wrong_value("the kind of an error must be BadInput, NotApplicable or Failed", kind);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_base, m) {
  m.doc() = "The native base of kumihimo.";
  m.def(
      "version", [] { return KUMIHIMO_VERSION; }, "Version of the native libraries.");
  m.def("fail", kumihimo::border(&kumihimo::fail), "kind"_a, "problem"_a, "advice"_a = "",
        "Raise kumihimo.errors.<kind> through the border, as every failed native call does.");
  m.def(
      "fail",
      [](const std::string& kind, const nb::bytes& problem) {
        kumihimo::unwrap(kumihimo::fail(kind, {problem.c_str(), problem.size()}, ""));
      },
      "kind"_a, "problem"_a, "The same with a problem of any bytes.");
}
