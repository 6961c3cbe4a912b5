// kumihimo._plan: the fingerprint of this machine, wisdom as the interposer reads it, and limits of its plans.
#include "border.hpp"
#include "mpi_transport/networks/mpi/point_to_point.hpp"
#include "plan/kernels/problems.hpp"
#include "plan/kernels/wisdom.hpp"
#include "plan/wisdom.hpp"
#include "problem/tuner.hpp"
#include "problem/wisdom_file.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>

#include <map>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::plan {
namespace {

std::size_t read_wisdom(std::string_view text, const problem::Fingerprint& machine, const std::string& mpi) {
  return unwrap(Wisdom::parse(text, Registry::standard(), {machine, mpi})).size();
}

std::tuple<std::int32_t, std::int32_t, std::int32_t> counts_of(const std::vector<std::int64_t>& node_of_rank) {
  const RankCounts counts = count_ranks(node_of_rank);
  return {counts.ranks, counts.nodes, counts.ranks_per_node};
}

// Checks of a variant are made once for all sizes of a key.
class KernelTuner {
 public:
  std::string decide(const problem::Key& key, std::int64_t bytes, double seconds) {
    problem::TuningEffort effort;
    effort.seconds = seconds;
    auto [tuner, is_new] = tuners_.try_emplace(key[0].second, *find_kernel(key[0].second));
    return unwrap(unlocked([&] {
      Result<problem::Decision> decision = tuner->second.decide(key, bytes, effort);
      return decision ? Result<std::string>(to_json(*decision).dump()) : Result<std::string>(decision.error());
    }));
  }

 private:
  std::map<std::string, problem::Tuner> tuners_;
};

// For each variant its name, what it is, and its parameters: name, meaning, the values that are tried, the default
// first.
using TriedParameter = std::tuple<std::string, std::string, std::vector<std::int64_t>>;
std::vector<std::tuple<std::string, std::string, std::vector<TriedParameter>>> variants_of(std::string_view kernel) {
  std::vector<std::tuple<std::string, std::string, std::vector<TriedParameter>>> rows;
  for (const VariantDescription& each : find_kernel(kernel)->built(false)) {
    std::vector<TriedParameter> parameters;
    for (const TakenParameter& taken : each.parameters)
      parameters.emplace_back(taken.parameter->name, taken.parameter->meaning, tuning_values(taken));
    rows.emplace_back(each.name, each.summary, std::move(parameters));
  }
  return rows;
}

std::int64_t read_kernel_wisdom(std::string_view text, const problem::Fingerprint& machine) {
  return unwrap(parse_kernel_wisdom(text, machine)).size;
}

// "minmax", "int32" of max and uint32.
std::pair<std::string, std::string> reduce_class(const std::string& operation, const std::string& type) {
  for (const ReduceClass& each : reduce_classes())
    for (const auto& [op, t] : each.members) {
      const bool is_operation = operation.empty() || operation == each.operation || operation == name_of(op);
      const bool is_type = type.empty() || type == each.type || type == name_of(t);
      if (is_operation && is_type) return {operation.empty() ? "" : each.operation, type.empty() ? "" : each.type};
    }
  const char* between = operation.empty() || type.empty() ? "" : " of ";
  raise(wrong_value("the operation must apply to the type", operation + between + type));
}

} // namespace
} // namespace kumihimo::plan

NB_MODULE(_plan, m) {
  using namespace kumihimo::plan;
  using namespace kumihimo::problem;
  m.doc() = "Wisdom: what tuning chose, and for which machine.";
  nb::class_<Fingerprint>(m, "Fingerprint", "What tells machines apart.")
      .def(nb::init<std::string, std::int64_t>(), "processor"_a, "processors"_a)
      .def_ro("processor", &Fingerprint::processor)
      .def_ro("processors", &Fingerprint::processors)
      .def("__eq__", [](const Fingerprint& a, const Fingerprint& b) { return a == b; })
      .def("__str__", &Fingerprint::text);
  m.attr("WISDOM_VERSION") = wisdom_version;
  m.attr("SMALLEST_TAG_UPPER_BOUND") = kumihimo::mpi_transport::TagLayout::smallest_upper_bound;
  m.def("this_machine", &this_machine, "Of the machine that this process runs on.");
  m.def("wisdom_file_name", &wisdom_file_name, "machine"_a, "subject"_a,
        "Of wisdom for this machine and an MPI library, by the first line of its version, or for 'kernels'.");
  m.def("shape_of", &shape_of, "space"_a, "Of the nodes, by which wisdom finds the ranks; empty: they have none.");
  m.def("count_ranks", &counts_of, "node_of_rank"_a,
        "Ranks, nodes and ranks per node (0: unlike) by which wisdom finds a communicator.");
  m.def("read_wisdom", &read_wisdom, "text"_a, "machine"_a, "mpi"_a,
        "The number of choices in a file that is good for this machine and MPI library; BadInput says why it is not.");
  m.attr("KERNEL_SUBJECT") = kernel_subject;
  m.def("kernel_keys", &kernel_keys,
        "Kernels to be tuned, each as pairs of a field and its value, the most used first.");
  m.def(
      "kernels",
      [] {
        std::vector<std::string_view> names;
        for (const NamedKernel& each : all_kernels()) names.push_back(each.name);
        return names;
      },
      "The names of all kernels.");
  m.def("kernel_variants", &variants_of, "kernel"_a,
        "Of a kernel: name, summary and parameters (name, meaning, values, the default first) of each variant.");
  m.def("reduce_class", &reduce_class, "operation"_a, "type"_a,
        "The class of operations and types by which reductions are tuned; an empty one is any.");
  m.def("read_kernel_wisdom", &read_kernel_wisdom, "text"_a, "machine"_a,
        "The number of kernel choices in a file that is good for this machine; BadInput says why it is not.");
  nb::class_<KernelTuner>(m, "KernelTuner", "Checks and measures kernel variants.")
      .def(nb::init<>())
      .def("decide", &KernelTuner::decide, "key"_a, "bytes"_a, "seconds"_a,
           "What was measured of all variants and which is chosen, as JSON (problem/tuner.hpp).");
}
