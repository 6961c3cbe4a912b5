// kumihimo._packet: programs on a machine's network, packet by packet.
#include "border.hpp"
#include "hosts/software.hpp"
#include "packet/fabric.hpp"
#include "packet/programs.hpp"
#include "program/named_programs.hpp"
#include "schedule/schedule.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

constexpr double second = 1e12; // picoseconds

template <class Programs>
packet::GraphOutcome simulate(const Programs& programs, const Job& job, const std::optional<Placement>& placement,
                              const packet::Options& options, bool scalar_reduction,
                              const packet::Background& background) {
  return unwrap(unlocked([&] { return packet::run(job, programs, placement, options, scalar_reduction, background); }));
}

packet::GraphOutcome simulate_named(const NamedPrograms& programs, const Job& job,
                                    const std::optional<Placement>& placement, const packet::Options& options,
                                    const packet::Background& background) {
  return simulate(programs.set, job, placement, options, false, background);
}

void bind_background(nb::module_& m) {
  nb::class_<packet::Background>(m, "Background", "Other jobs on nodes of their own, beside the job watched.")
      .def(nb::init<>())
      .def(
          "add_sources",
          [](packet::Background& self, const std::string& pattern, std::vector<std::int32_t> nodes, double load,
             std::uint64_t bytes, std::uint64_t seed) {
            self.jobs.push_back({std::move(nodes), unwrap(packet::pattern_of(pattern)), bytes, load, seed, nullptr});
          },
          "pattern"_a, "nodes"_a, "load"_a, "bytes"_a, "seed"_a, "Nodes that send at random times.")
      .def(
          "add_recorded",
          [](packet::Background& self, const goal::Graphs& graphs, std::vector<std::int32_t> nodes,
             std::uint64_t seed) {
            packet::BackgroundJob job{std::move(nodes), {}, {}, {}, seed, nullptr};
            job.recorded = {&graphs, [](const goal::Graphs*) {}}; // which Python keeps
            self.jobs.push_back(std::move(job));
          },
          "graphs"_a, "nodes"_a, "seed"_a, nb::keep_alive<1, 2>(), "Graphs that run again and again.")
      .def_prop_rw(
          "warm_up",
          [](const packet::Background& self) -> std::optional<double> {
            if (!self.warm_up) return std::nullopt;
            return static_cast<double>(*self.warm_up) / second;
          },
          [](packet::Background& self, std::optional<double> seconds) {
            self.warm_up = std::nullopt;
            if (seconds) self.warm_up = static_cast<packet::Time>(std::llround(*seconds * second));
          },
          nb::arg("seconds").none(), "Seconds before the job watched starts; None: by rule.");
  nb::class_<packet::BackgroundUse>(m, "BackgroundUse", "Of a background job while the job watched ran.")
      .def_ro("offered", &packet::BackgroundUse::offered)
      .def_ro("delivered", &packet::BackgroundUse::delivered)
      .def_ro("runs", &packet::BackgroundUse::runs);
}

packet::GraphOutcome simulate_graphs(const goal::Graphs& graphs, const Job& job,
                                     const std::optional<Placement>& placement, const packet::Options& options,
                                     const packet::Background& background) {
  return unwrap(unlocked([&] { return packet::run(job, graphs, placement, background, options); }));
}

} // namespace
} // namespace kumihimo

NB_MODULE(_packet, m) {
  using namespace kumihimo;
  m.doc() = "Programs on a machine's network, packet by packet.";
  nb::module_::import_("kumihimo._goal");
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._machine");
  nb::module_::import_("kumihimo._programs");
  nb::class_<packet::Options>(m, "Options", "How packets are made, stored and routed.")
      .def(
          "__init__",
          [](packet::Options* self, bool adaptive, std::int64_t packet_bytes, std::int64_t header_bytes,
             std::int64_t buffer_packets, std::uint64_t seed, std::int32_t bins, bool links_over_time) {
            const auto routing = adaptive ? packet::Routing::adaptive : packet::Routing::dimension_order;
            new (self)
                packet::Options{{}, routing, packet_bytes, header_bytes, buffer_packets, seed, bins, links_over_time};
          },
          "adaptive"_a = false, "packet_bytes"_a = packet::Options{}.packet_bytes, "header_bytes"_a = 0,
          "buffer_packets"_a = packet::Options{}.buffer_packets, "seed"_a = 1, "bins"_a = packet::Options{}.bins,
          "links_over_time"_a = false)
      .def_prop_ro("routing", [](const packet::Options& o) { return std::string(packet::name_of(o.routing)); })
      .def_ro("packet_bytes", &packet::Options::packet_bytes)
      .def_ro("header_bytes", &packet::Options::header_bytes)
      .def_ro("links_over_time", &packet::Options::links_over_time)
      .def_ro("seed", &packet::Options::seed)
      .def(
          "with_seed",
          [](packet::Options of, std::uint64_t seed) {
            of.seed = seed;
            return of;
          },
          "seed"_a, "The same with another seed.")
      .def(
          "with_deaths",
          [](packet::Options options, const std::vector<std::pair<std::int32_t, packet::Time>>& deaths) {
            options.deaths.clear();
            for (const auto& [node, time] : deaths) options.deaths.push_back({node, time});
            return options;
          },
          "deaths"_a, "The same where nodes die: node, picoseconds.")
      .def(
          "with_noise",
          [](packet::Options options, const std::optional<goal::NoiseModel>& noise) {
            options.noise = noise;
            return options;
          },
          "noise"_a.none(), "The same with noise on the ranks of the job watched.");
  nb::class_<packet::LinkClassUse>(m, "ClassUse",
                                   "Links of a class, and the share of them that is busy in each bin of time.")
      .def_ro("name", &packet::LinkClassUse::name)
      .def_ro("links", &packet::LinkClassUse::links)
      .def_ro("utilisation", &packet::LinkClassUse::utilisation);
  bind_background(m);
  nb::class_<packet::GraphOutcome>(m, "Outcome", "The time of programs, and what their packets met.")
      .def_prop_ro("seconds", [](const packet::GraphOutcome& o) { return static_cast<double>(o.last) / second; })
      .def_ro("last_rank", &packet::GraphOutcome::last_rank)
      .def_ro("operations", &packet::GraphOutcome::operations)
      .def_prop_ro("messages", [](const packet::GraphOutcome& o) { return o.traffic.messages; })
      .def_prop_ro("packets", [](const packet::GraphOutcome& o) { return o.traffic.packets; })
      .def_prop_ro("packet_hops", [](const packet::GraphOutcome& o) { return o.traffic.packet_hops; })
      .def_prop_ro("links", [](const packet::GraphOutcome& o) { return o.traffic.links; })
      .def_prop_ro("links_waiting_share", [](const packet::GraphOutcome& o) { return o.traffic.links_waiting_share(); })
      .def_prop_ro("packets_waiting_share",
                   [](const packet::GraphOutcome& o) { return o.traffic.packets_waiting_share(); })
      .def_prop_ro("own_packets_waiting_share",
                   [](const packet::GraphOutcome& o) { return o.traffic.own_packets_waiting_share(); })
      .def_prop_ro("start_seconds", [](const packet::GraphOutcome& o) { return static_cast<double>(o.start) / second; })
      .def_ro("background", &packet::GraphOutcome::background)
      .def_prop_ro("link_bytes", [](const packet::GraphOutcome& o) { return o.traffic.link_bytes; })
      .def_prop_ro("link_utilisation", // by link: by bin
                   [](const packet::GraphOutcome& o) {
                     const std::vector<float>& of = o.traffic.link_utilisation;
                     const std::size_t links = o.traffic.link_bytes.size(), bins = links == 0 ? 0 : of.size() / links;
                     std::vector<std::vector<float>> rows;
                     for (std::size_t link = 0; link < links && bins > 0; ++link)
                       rows.emplace_back(of.begin() + static_cast<std::ptrdiff_t>(link * bins),
                                         of.begin() + static_cast<std::ptrdiff_t>((link + 1) * bins));
                     return rows;
                   })
      .def_prop_ro("bin_seconds",
                   [](const packet::GraphOutcome& o) { return static_cast<double>(o.traffic.bin) / second; })
      .def_ro("aftermath", &packet::GraphOutcome::aftermath)
      .def_prop_ro("classes", [](const packet::GraphOutcome& o) { return o.traffic.classes; });
  m.def(
      "buffer_packets_of",
      [](const Job& job, const packet::Options& options) { return packet::buffer_packets_of(job.machine, options); },
      "job"_a, "options"_a, "Packets in the buffer of each virtual channel.");
  m.def("rates_of", &hosts::rates_of, "job"_a, "scalar_reduction"_a = false, "What a rank's own work takes.");
  m.def("simulate", &simulate<Schedule>, "schedule"_a, "job"_a, "placement"_a = nb::none(),
        "options"_a = packet::Options{}, "scalar_reduction"_a = false, "background"_a = packet::Background{});
  m.def("simulate", &simulate_named, "programs"_a, "job"_a, "placement"_a = nb::none(), "options"_a = packet::Options{},
        "background"_a = packet::Background{});
  m.def("simulate", &simulate_graphs, "graphs"_a, "job"_a, "placement"_a = nb::none(), "options"_a = packet::Options{},
        "background"_a = packet::Background{});
}
