// kumihimo._machine: described machines, and this host.
#include "border.hpp"
#include "machine/discovery.hpp"
#include "machine/host_list.hpp"
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "routes.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

using Paths = std::vector<std::filesystem::path>;

Machine with_slow(const Machine& machine, const std::vector<std::pair<std::int32_t, double>>& nodes,
                  const std::vector<std::tuple<std::int32_t, std::int32_t, double>>& links) {
  std::vector<SlowNode> slow_nodes;
  std::vector<SlowLink> slow_links;
  for (const auto& [node, factor] : nodes) slow_nodes.push_back({NodeId{node}, factor});
  for (const auto& [from, to, factor] : links) slow_links.push_back({NodeId{from}, NodeId{to}, {}, factor});
  return unwrap(machine.with_slow(slow_nodes, slow_links));
}

using LinkRow = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int32_t>;

std::vector<LinkRow> links_of(const Machine& machine) {
  std::vector<LinkRow> rows;
  const Topology& network = *machine.topology;
  for (LinkId link{0}; link.value < network.link_bound(); ++link.value) {
    if (!network.is_link(link)) continue;
    const Topology::Link ends = network.describe(link);
    rows.emplace_back(link.value, ends.from.value, ends.to.value, network.link_class(link));
  }
  return rows;
}

void bind_errors(nb::module_& m) {
  nb::class_<PredictionErrors>(m, "PredictionErrors", "How far measured times are from predictions.")
      .def_ro("source", &PredictionErrors::source)
      .def_ro("fewest_nodes", &PredictionErrors::fewest_nodes)
      .def_ro("most_nodes", &PredictionErrors::most_nodes)
      .def_ro("day_to_day", &PredictionErrors::day_to_day)
      .def_ro("correlation", &PredictionErrors::correlation, "Of errors of two algorithms of different classes.")
      .def_ro("correlation_in_class", &PredictionErrors::correlation_in_class, "The same of one class.")
      .def_prop_ro(
          "rows",
          [](const PredictionErrors& errors) {
            std::vector<std::tuple<std::string, std::string, std::int64_t, double, double, double>> rows;
            for (const auto& row : errors.rows)
              rows.emplace_back(row.algorithms, row.lengths, row.times, row.low, row.high, row.median);
            return rows;
          },
          "Classes of algorithms and of lengths, the times that each rests on, low and high factors and the median.")
      .def_prop_ro_static(
          "classes",
          [](nb::handle) {
            const auto& algorithms = PredictionErrors::classes_of_algorithms;
            const auto& lengths = PredictionErrors::classes_of_lengths;
            return std::pair(std::vector<std::string>(algorithms.begin(), algorithms.end()),
                             std::vector<std::string>(lengths.begin(), lengths.end()));
          },
          "Those of algorithms and of lengths that a row may name.");
}

void bind_machine(nb::module_& m) {
  nb::class_<Machine>(m, "Machine", "A topology and the numbers that a prediction needs, each with its source.")
      .def_ro("name", &Machine::name)
      .def_prop_ro(
          "library_collectives",
          [](const Machine& machine) {
            std::vector<std::tuple<std::string, std::int32_t, std::int32_t, std::int64_t, double>> rows;
            if (machine.library_collectives)
              for (const LibraryCollectives::Row& row : machine.library_collectives->rows)
                rows.emplace_back(row.collective, row.ranks, row.nodes, row.bytes, row.time.value);
            return rows;
          },
          "Collective, ranks, nodes, bytes and seconds of the MPI library's own calls; empty: nobody has measured "
          "them.")
      .def_ro("summary", &Machine::summary)
      .def_prop_ro("family", [](const Machine& machine) { return name_of(machine.family); })
      .def_ro("shape", &Machine::shape)
      .def_prop_ro("nodes", [](const Machine& machine) { return machine.topology->nodes(); })
      .def_prop_ro("default_ranks_per_node",
                   [](const Machine& machine) { return machine.node.default_ranks_per_node.value; })
      .def_prop_ro("cores", [](const Machine& machine) { return machine.node.cores.value; })
      .def_prop_ro(
          "compute_rates",
          [](const Machine& machine) {
            const auto& flops = machine.node.flop_rate;
            return std::pair(flops ? flops->value.value : 0, machine.node.memory_bandwidth.value.value);
          },
          "Flops that a rank computes each second, 0 if the machine file lacks them; bytes that its node moves.")
      .def_ro("software_state", &Machine::software_state, "Whose numbers these are; empty: of no named state.")
      .def_prop_ro(
          "software_states",
          [](const Machine& machine) {
            std::vector<std::string> names;
            for (const SoftwareState& state : machine.software_states) names.push_back(state.name);
            return names;
          },
          "The names of those that the file describes.")
      .def_ro("prediction_errors", &Machine::prediction_errors, "None where no calibration has found them.")
      .def_ro("node_names", &Machine::node_names, "As the scheduler calls them; empty: they have only numbers.")
      .def(
          "segment_bytes_of",
          [](const Machine& machine, std::int64_t bytes) { return machine.segment_bytes(Bytes{bytes}).value; },
          "bytes"_a, "The segment of a pipelined algorithm for a vector of so many bytes.")
      .def_prop_ro("segment_bytes", [](const Machine& machine) { return machine.software.segment_bytes.value.value; })
      .def(
          "link_name",
          [](const Machine& machine, std::int64_t link) { return machine.topology->describe(LinkId{link}).name; },
          "link"_a)
      .def_prop_ro("links", &links_of, "Every directed link: its number, both ends, and its class.")
      .def_prop_ro(
          "switches", [](const Machine& machine) { return machine.topology->switches(); },
          "As ends of links they are numbered from `nodes` on.")
      .def(
          "route",
          [](const Machine& machine, std::int32_t from, std::int32_t to) {
            return link_numbers(*machine.topology, from, to);
          },
          "from_"_a, "to"_a, "The numbers of the links that a message crosses, in order.")
      .def_prop_ro(
          "link_classes", [](const Machine& machine) { return machine.topology->link_classes(); },
          "The names of the classes; none: all links are alike.")
      .def(
          "with_shape", [](const Machine& machine, const Shape& job) { return unwrap(machine.with_shape(job)); },
          "job"_a, "The same machine as a job of this shape sees it.")
      .def(
          "with_box",
          [](const Machine& machine, std::string_view box, const std::optional<Shape>& job) {
            return unwrap(machine.with_box(box, job));
          },
          "box"_a, "job"_a = nb::none(), "The same machine as a job in this box of Tofu sees it.")
      .def(
          "without",
          [](const Machine& machine, const std::vector<Coordinates>& nodes, const std::vector<Machine::Cable>& cables) {
            return unwrap(machine.without(nodes, cables));
          },
          "nodes"_a, "cables"_a, "After these nodes of the job's torus have died, and cables between neighbours.")
      .def("with_slow", &with_slow, "nodes"_a, "links"_a,
           "With slow nodes (node, factor) and links between neighbours (from, to, factor).")
      .def(
          "with_routing",
          [](const Machine& machine, std::string_view routing) { return unwrap(machine.with_routing(routing)); },
          "routing"_a, "With another of its family's ways of routing.")
      .def_prop_ro("on_switches", [](const Machine& machine) { return machine.switched() != nullptr; })
      .def("as_torus", &Machine::as_torus, "torus"_a, "The same numbers on a torus of its own.")
      .def_prop_ro("network", [](const Machine& machine) { return machine.topology->name(); })
      .def_prop_ro("losses", &Machine::losses, "What the job lacks of its torus because parts are dead; or empty.")
      .def("numbers_to_toml", &numbers_to_toml, "The sections of a machine file, without [topology].")
      .def("to_json", [](const Machine& machine) { return to_json(machine); })
      .def("to_text", [](const Machine& machine) { return to_text(machine); });
  m.def(
      "load",
      [](const std::string& name, const Paths& search, std::string_view software) {
        return unwrap(load_machine(name, search, software));
      },
      "path_or_name"_a, "search"_a, "software"_a = "", "`software`: a state of the software; the file's default.");
  m.def(
      "names", [](const Paths& search) { return machine_names(search); }, "search"_a);
}

void bind_job(nb::module_& m) {
  nb::class_<Job>(m, "Job", "The nodes that a job has of a machine, and slots for its ranks on each.")
      .def(nb::init<Machine>(), "machine"_a, "All nodes, with as many ranks on each as the machine says.")
      .def_static("with_ranks_per_node", border(&Job::with_ranks_per_node), "machine"_a, "ranks"_a)
      .def_static("with_node_sizes", border(&Job::with_node_sizes), "machine"_a, "sizes"_a,
                  "With so many ranks on each node; a node of none belongs to others.")
      .def_ro("machine", &Job::machine)
      .def_ro("slots", &Job::slots)
      .def_prop_ro("rank_space", [](const Job& job) { return job.rank_space(); })
      .def(
          "rank_space_of", [](const Job& job, const Placement& placement) { return job.rank_space(placement); },
          "placement"_a, "What the ranks see when they are placed so.");
}

std::vector<std::pair<std::string, std::int32_t>> names_and_sizes(const std::vector<Level>& levels) {
  std::vector<std::pair<std::string, std::int32_t>> pairs;
  for (const Level& level : levels) pairs.emplace_back(level.name, level.size);
  return pairs;
}

using PartRow = std::tuple<std::string, std::int64_t, std::vector<std::int32_t>>;

Host host_from_parts(std::string processor, std::int64_t memory_bytes, std::vector<PartRow> rows) {
  std::vector<NodePart> parts;
  for (auto& [name, bytes, units] : rows)
    if (const auto kind = node_part_of(name)) parts.push_back({*kind, std::move(units), bytes});
  return host_of(std::move(processor), Bytes{memory_bytes}, parts);
}

void bind_host(nb::module_& m) {
  nb::class_<Host>(m, "Host", "What hwloc says of this host.")
      .def_ro("processor", &Host::processor)
      .def_ro("cores", &Host::cores)
      .def_ro("hardware_threads", &Host::hardware_threads)
      .def_ro("numa_nodes", &Host::numa_nodes)
      .def_prop_ro("memory_bytes", [](const Host& host) { return host.memory.value; })
      .def_prop_ro("last_level_cache_bytes",
                   [](const Host& host) { return host.last_level_cache ? host.last_level_cache->value : 0; })
      .def_prop_ro("core_cache_bytes", [](const Host& host) { return host.core_cache ? host.core_cache->value : 0; })
      .def_prop_ro("levels", [](const Host& host) { return names_and_sizes(host.levels); })
      .def_prop_ro(
          "not_nested", [](const Host& host) { return names_and_sizes(host.not_nested); },
          "Levels that were left out because they do not nest in the one around them.")
      .def_prop_ro(
          "unnamed", [](const Host& host) { return names_and_sizes(host.unnamed); },
          "Groups and dies, which are no levels of a machine.")
      .def_prop_ro(
          "uneven", [](const Host& host) { return names_and_sizes(host.uneven); },
          "Levels that were left out because their parts have different numbers of cores.");
  m.def("parse_host_list", border(&parse_host_list), "text"_a, "The names in a list such as n[01-03,7].");
  m.def("host_list", &host_list, "names"_a, "The names as a list, consecutive numbers joined.");
  m.def("discover_host", border(&discover_host));
  m.def("host_of", &host_from_parts, "processor"_a, "memory_bytes"_a, "parts"_a,
        "A host from the kind, the bytes and the processing units of each of its parts.");
  m.def(
      "parse",
      [](std::string_view text, std::string_view name, std::string_view software) {
        return unwrap(parse_machine(text, name, software));
      },
      "text"_a, "file_name"_a, "software"_a = "", "A machine from the text of its file.");

  nb::class_<Calibration>(m, "Calibration", "Figures taken on this host; rates in bytes per second, times in seconds.")
      .def(
          "__init__",
          [](Calibration* self, std::string method, std::int64_t ranks, double memory_bandwidth, double copy_bandwidth,
             double message_latency, double reduction_rate, double reduction_rate_scalar, double message_cost,
             double relay_latency, std::int64_t segment_bytes) {
            new (self) Calibration{std::move(method),       ranks,
                                   {memory_bandwidth},      {copy_bandwidth},
                                   {message_latency},       {reduction_rate},
                                   {reduction_rate_scalar}, {message_cost},
                                   {relay_latency},         {segment_bytes}};
          },
          "method"_a, "ranks"_a, "memory_bandwidth"_a, "copy_bandwidth"_a, "message_latency"_a, "reduction_rate"_a,
          "reduction_rate_scalar"_a, "message_cost"_a, "relay_latency"_a, "segment_bytes"_a);
  m.def(
      "this_machine",
      [](const Host& host, const Calibration& calibration) { return unwrap(this_machine(host, calibration)); },
      "host"_a, "calibration"_a);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_machine, m) {
  m.doc() = "Described machines, and this host.";
  nb::module_::import_("kumihimo._placement");
  kumihimo::bind_errors(m);
  kumihimo::bind_machine(m);
  kumihimo::bind_job(m);
  kumihimo::bind_host(m);
}
