// kumihimo._base: the version, and the border itself, so that its tests need no other layer.
#include "border.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

Status fail(const std::string& kind, std::string expected, std::string found, std::string advice) {
  for (auto candidate : {Error::Kind::bad_input, Error::Kind::not_applicable, Error::Kind::failed}) {
    if (kind == exception_name(candidate)) {
      return Error{candidate, std::move(expected), std::move(found), std::move(advice)};
    }
  }
  return bad_input("the kind of an error is BadInput, NotApplicable or Failed", kind);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_base, m) {
  m.doc() = "The native base of kumihimo.";
  m.def(
      "version", [] { return KUMIHIMO_VERSION; }, "Version of the native libraries.");
  m.def("fail", kumihimo::border(&kumihimo::fail), "kind"_a, "expected"_a, "found"_a = "", "advice"_a = "",
        "Raise kumihimo.errors.<kind> through the border, as every failed native call does.");
}
