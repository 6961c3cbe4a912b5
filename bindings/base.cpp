// kumihimo._base: the version, this machine, the deal of units of work, and the border itself, so that its tests need
// no other layer.
#include "base/unit_deal.hpp"
#include "border.hpp"

#include <kumihimo/kernel/machine.hpp>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

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

// As text, with other bytes than UTF-8's replaced.
nb::object utf8(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

} // namespace
} // namespace kumihimo

NB_MODULE(_base, m) {
  m.doc() = "The native base of kumihimo.";
  m.def(
      "version", [] { return KUMIHIMO_VERSION; }, "Version of the native libraries.");
  m.def("fail", kumihimo::border(&kumihimo::fail), "kind"_a, "problem"_a, "advice"_a = "",
        "Raise kumihimo.text.errors.<kind> through the border, as every failed native call does.");
  m.def(
      "fail",
      [](const std::string& kind, const nb::bytes& problem) {
        kumihimo::unwrap(kumihimo::fail(kind, {problem.c_str(), problem.size()}, ""));
      },
      "kind"_a, "problem"_a, "The same with a problem of any bytes.");
  m.def(
      "this_machine",
      [] {
        const kumihimo::kernel::MachineIdentity found = kumihimo::kernel::this_machine();
        nb::dict machine;
        machine["processor"] = kumihimo::utf8(found.processor);
        machine["processors"] = found.processors;
        machine["instructions"] = found.instructions;
        return machine;
      },
      "By what wisdom knows a machine.");
  using kumihimo::UnitDeal;
  nb::class_<UnitDeal>(m, "UnitDeal", "The rule by which units of work are dealt to ranks (base/unit_deal.hpp).")
      .def(
          "__init__",
          [](UnitDeal* made, const std::vector<double>& costs, std::int32_t ranks, double static_share) {
            new (made) UnitDeal(costs, ranks, static_share);
          },
          "costs"_a, "ranks"_a, "static_share"_a)
      .def_prop_ro("beforehand", &UnitDeal::beforehand)
      .def_prop_ro("all_dealt", &UnitDeal::all_dealt)
      .def("rank_of", &UnitDeal::rank_of, "unit_beforehand"_a)
      .def(
          "cut",
          [](UnitDeal& deal) {
            const UnitDeal::Chunk chunk = deal.cut();
            return nb::make_tuple(chunk.begin, chunk.end);
          },
          "Begin and end of the next chunk; equal when no unit is left.")
      .def_static("asks", &UnitDeal::asks, "left"_a, "threads"_a);
  m.def(
      "machine_of",
      [](const std::string& cpuinfo) {
        const kumihimo::kernel::ProcessorFields fields(cpuinfo);
        return nb::make_tuple(kumihimo::utf8(kumihimo::kernel::processor_of(fields)),
                              kumihimo::kernel::instructions_of(fields));
      },
      "cpuinfo"_a, "Processor and instruction sets by the text of /proc/cpuinfo.");
}
