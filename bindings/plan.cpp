// kumihimo._plan: the fingerprint of this machine, and wisdom as the interposer reads it.
#include "border.hpp"
#include "plan/wisdom.hpp"
#include "problem/wisdom_file.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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
  m.def("this_machine", &this_machine, "Of the machine that this process runs on.");
  m.def("wisdom_file_name", &wisdom_file_name, "machine"_a, "subject"_a,
        "Of wisdom for this machine and an MPI library, by the first line of its version, or for 'kernels'.");
  m.def("count_ranks", &counts_of, "node_of_rank"_a,
        "Ranks, nodes and ranks per node (0: unlike) by which wisdom finds a communicator.");
  m.def("read_wisdom", &read_wisdom, "text"_a, "machine"_a, "mpi"_a,
        "The number of choices in a file that is good for this machine and MPI library; BadInput says why it is not.");
}
