// kumihimo._packet: options of the packet model, and jobs beside the one watched.
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

} // namespace
} // namespace kumihimo

NB_MODULE(_packet, m) {
  using namespace kumihimo;
  m.doc() = "Options of the packet model, and jobs beside the one watched.";
  nb::module_::import_("kumihimo._goal");
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._machine");
  nb::module_::import_("kumihimo._programs");
  nb::class_<packet::PacketOptions>(m, "Options", "How packets are made, stored and routed.")
      .def(
          "__init__",
          [](packet::PacketOptions* self, bool adaptive, std::int64_t packet_bytes, std::int64_t header_bytes,
             std::int64_t buffer_packets, std::uint64_t seed, std::int32_t bins, bool links_over_time) {
            const auto routing = adaptive ? packet::Routing::adaptive : packet::Routing::dimension_order;
            new (self) packet::PacketOptions{{},   routing, packet_bytes,   header_bytes, buffer_packets,
                                             seed, bins,    links_over_time};
          },
          "adaptive"_a = false, "packet_bytes"_a = packet::PacketOptions{}.packet_bytes, "header_bytes"_a = 0,
          "buffer_packets"_a = packet::PacketOptions{}.buffer_packets, "seed"_a = 1,
          "bins"_a = packet::PacketOptions{}.bins, "links_over_time"_a = false)
      .def_prop_ro("routing", [](const packet::PacketOptions& o) { return std::string(packet::name_of(o.routing)); })
      .def_ro("packet_bytes", &packet::PacketOptions::packet_bytes)
      .def_ro("header_bytes", &packet::PacketOptions::header_bytes)
      .def_ro("links_over_time", &packet::PacketOptions::links_over_time)
      .def_ro("seed", &packet::PacketOptions::seed)
      .def(
          "with_seed",
          [](packet::PacketOptions of, std::uint64_t seed) {
            of.seed = seed;
            return of;
          },
          "seed"_a, "The same with another seed.");
  bind_background(m);
  m.def(
      "buffer_packets_of",
      [](const Job& job, const packet::PacketOptions& options) {
        return packet::buffer_packets_of(job.machine, options);
      },
      "job"_a, "options"_a, "Packets in the buffer of each virtual channel.");
}
