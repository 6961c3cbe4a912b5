// kumihimo._trace: the files of events that the recorder writes.
#include "border.hpp"
#include "trace/rank_files.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::trace {
namespace {

std::vector<Event> events(const OpenedFile& of, std::size_t first, std::size_t count) {
  const auto& all = of.file.events;
  if (first > all.size()) raise(wrong_value(fmt::format("an event must be from 0 to {}", all.size()), first));
  const auto some = all.subspan(first, std::min(count, all.size() - first));
  for (const Event& each : some)
    if (static_cast<std::size_t>(each.kind) >= kinds)
      raise(wrong_value("an event must be of a known kind", static_cast<int>(each.kind), "record the program again"));
  return {some.begin(), some.end()};
}

std::vector<std::int64_t> parts(const OpenedFile& of, std::uint32_t number) {
  if (number < 1 || number > of.file.list_ends.size())
    raise(wrong_value(fmt::format("a list must be from 1 to {}", of.file.list_ends.size()), number));
  const auto found = of.file.parts(number);
  return {found.begin(), found.end()};
}

nb::object what(const Event& event) {
  if (event.kind == EventKind::enter) return nb::cast(event.enter());
  if (event.kind == EventKind::end_program) return nb::cast(event.end_program());
  if (has_message(event.kind)) return nb::cast(event.message());
  if (has_collective(event.kind)) return nb::cast(event.collective());
  if (has_region(event.kind)) return nb::cast(event.region());
  if (event.kind == EventKind::compute) return nb::cast(event.compute());
  return nb::none();
}

} // namespace
} // namespace kumihimo::trace

NB_MODULE(_trace, m) {
  using namespace kumihimo::trace;
  m.doc() = "The files of events that the recorder writes.";
  nb::enum_<EventKind>(m, "Kind")
      .value("enter", EventKind::enter)
      .value("leave", EventKind::leave)
      .value("send", EventKind::send)
      .value("receive", EventKind::receive)
      .value("collective", EventKind::collective)
      .value("start_send", EventKind::start_send)
      .value("start_receive", EventKind::start_receive)
      .value("start_collective", EventKind::start_collective)
      .value("end_send", EventKind::end_send)
      .value("end_receive", EventKind::end_receive)
      .value("end_collective", EventKind::end_collective)
      .value("begin_region", EventKind::begin_region)
      .value("end_region", EventKind::end_region)
      .value("begin_program", EventKind::begin_program)
      .value("end_program", EventKind::end_program)
      .value("compute", EventKind::compute);
  nb::class_<Elapsed>(m, "Elapsed", "Nanoseconds since the last leave.")
      .def_ro("recorder_ns", &Elapsed::recorder_ns)
      .def_ro("processor_ns", &Elapsed::processor_ns);
  nb::class_<Enter>(m, "Enter").def_ro("since_leave", &Enter::since_leave).def_ro("site", &Enter::site);
  nb::class_<MessageEvent>(m, "Message")
      .def_ro("bytes", &MessageEvent::bytes)
      .def_ro("peer", &MessageEvent::peer)
      .def_ro("tag", &MessageEvent::tag)
      .def_ro("communicator", &MessageEvent::communicator);
  nb::class_<CollectiveEvent>(m, "Collective")
      .def_ro("bytes", &CollectiveEvent::bytes)
      .def_ro("root", &CollectiveEvent::root)
      .def_ro("communicator", &CollectiveEvent::communicator)
      .def_ro("parts", &CollectiveEvent::parts)
      .def_ro("row", &CollectiveEvent::row);
  nb::class_<RegionEvent>(m, "Region").def_ro("number", &RegionEvent::number);
  nb::class_<Compute>(m, "Compute").def_ro("ns", &Compute::ns).def_ro("region", &Compute::region);
  nb::class_<Event>(m, "Event")
      .def_ro("at_ns", &Event::at_ns)
      .def_ro("kind", &Event::kind)
      .def_ro("call", &Event::call)
      .def_ro("thread", &Event::thread)
      .def_ro("request", &Event::request)
      .def_prop_ro("what", &what, "What its kind has: an Enter, Message ...; None.");
  nb::class_<OpenedFile>(m, "File", "The events of one rank.")
      .def(
          "__init__", [](OpenedFile* self, const std::string& path) { new (self) OpenedFile(unwrap(open_file(path))); },
          "path"_a)
      .def_prop_ro("rank", [](const OpenedFile& of) { return of.file.rank; })
      .def_prop_ro("ranks", [](const OpenedFile& of) { return of.file.ranks; })
      .def_prop_ro("left_out", [](const OpenedFile& of) { return of.file.left_out; })
      .def("__len__", [](const OpenedFile& of) { return of.file.events.size(); })
      .def("events", &events, "first"_a, "count"_a, "So many from the first, or those that there are.")
      .def("parts", &parts, "number"_a, "The list of bytes to each rank that Collective.parts names.");
  m.attr("NO_SITE") = no_site;
}
