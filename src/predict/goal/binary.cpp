#include "goal/binary.hpp"

#include "goal/text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace kumihimo::goal {
namespace {

constexpr std::uint64_t magic = 4223, used_up = 2342;
constexpr std::size_t head = 14, operation_bytes = 39;

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  Result<Graphs> graphs() {
    if (bytes_.size() < sizeof used_up) return cut_off();
    if (number_at<std::uint64_t>(bytes_, 0) == used_up)
      return located(std::string(file_), wrong_value("must be a GOAL file that no simulation has used up",
                                                     "one that LogGOPSim --save-mem has run", "write it again"));
    if (bytes_.size() < head) return cut_off();
    const auto ranks = number_at<std::uint32_t>(bytes_, 8);
    if (ranks < 1 || ranks > most_ranks || bytes_.size() < head + std::size_t{16} * ranks) return cut_off();
    Graphs graphs(static_cast<std::int32_t>(ranks));
    std::uint64_t in_parts = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto begin = number_at<std::uint64_t>(bytes_, head + std::size_t{16} * rank);
      const auto end = number_at<std::uint64_t>(bytes_, head + std::size_t{16} * rank + 8);
      if (begin > end || end > bytes_.size() - 8) return cut_off();
      if ((in_parts += end - begin) > bytes_.size()) // a small file would stand for a large one
        return located(std::string(file_), wrong_value("the parts of ranks must not lie in each other",
                                                       fmt::format("that of rank {}", rank), "write it again"));
      auto graph = graph_of(bytes_.substr(begin + 8, end - begin), graphs, static_cast<std::int32_t>(rank));
      if (!graph) return located(fmt::format("{}: rank {}", file_, rank), graph.error());
      graphs.set(static_cast<std::int32_t>(rank), *std::move(graph));
    }
    return graphs;
  }

 private:
  Error cut_off() const {
    return located(std::string(file_),
                   wrong_value("must be a whole binary GOAL file", fmt::format("{} bytes", bytes_.size()),
                               "it may have been cut off; write it again with txt2bin"));
  }

  static Result<Graph> graph_of(std::string_view part, const Graphs& graphs, std::int32_t rank) {
    const auto cut = [&] {
      return wrong_value("its part must hold all its operations", fmt::format("{} bytes", part.size()));
    };
    if (part.size() < 8) return cut();
    const std::uint64_t count = number_at<std::uint32_t>(part, 0), roots = number_at<std::uint32_t>(part, 4);
    const std::uint64_t first = 8 + 4 * roots, appendix = first + operation_bytes * count;
    if (part.size() < appendix) return cut();
    const std::uint64_t in_appendix = (part.size() - appendix) / 4;
    GraphBuilder builder;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t at = first + operation_bytes * i;
      GraphOperation operation;
      const auto kind = static_cast<std::uint8_t>(part[at + 4]);
      if (kind < 1 || kind > 3) return wrong_value(fmt::format("the kind of operation {} must be 1, 2 or 3", i), kind);
      operation.kind = static_cast<Kind>(kind);
      operation.size = number_at<std::uint64_t>(part, at + 9);
      operation.tag = number_at<std::uint32_t>(part, at + 17);
      operation.cpu = static_cast<std::uint8_t>(part[at + 21]),
      operation.nic = static_cast<std::uint8_t>(part[at + 22]);
      const bool calc = operation.kind == Kind::calc;
      if (operation.size > (calc ? most_nanoseconds : most_message_bytes))
        return wrong_value(
            fmt::format("the size of operation {} must be at most {}", i, calc ? most_nanoseconds : most_message_bytes),
            operation.size);
      if (calc) {
        operation.size *= picoseconds, operation.tag = 0;
      } else if (const auto peer = number_at<std::uint32_t>(part, at + 5);
                 peer != 0xFFFFFFFFU || operation.kind == Kind::send) {
        if (peer >= static_cast<std::uint32_t>(graphs.ranks()))
          return wrong_value(fmt::format("the peer of operation {} must be below {}", i, graphs.ranks()), peer);
        operation.peer = graphs.distance(rank, static_cast<std::int32_t>(peer));
      }
      builder.add(operation);
    }
    std::uint64_t waiting = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      for (const bool start : {false, true}) {
        const std::size_t at = first + operation_bytes * i + (start ? 31 : 23);
        const std::uint64_t dependents = number_at<std::uint32_t>(part, at),
                            from = number_at<std::uint32_t>(part, at + 4);
        if (dependents > 0 && (from + dependents > in_appendix || (waiting += dependents) > in_appendix))
          return wrong_value(fmt::format("the operations that wait for operation {} must be in the file", i));
        for (std::uint64_t d = from; d < from + dependents; ++d) {
          const auto dependent = number_at<std::uint32_t>(part, appendix + 4 * d);
          if (dependent >= count)
            return wrong_value(fmt::format("what waits for operation {} must be below {}", i, count), dependent);
          const auto on = static_cast<std::uint32_t>(i);
          start ? builder.after_start(dependent, on) : builder.after_end(dependent, on);
        }
      }
    Graph graph = builder.finish();
    for (std::uint64_t i = 0; i < count; ++i)
      if (const auto stated = number_at<std::uint32_t>(part, first + operation_bytes * i);
          stated != graph.operations[i].waits_for)
        return wrong_value(
            fmt::format("operation {} must wait for {} operations, as they say", i, graph.operations[i].waits_for),
            stated);
    if (const auto operation = in_cycle(graph))
      return wrong_value("an operation must not wait for itself", fmt::format("operation {} in a circle", *operation));
    return graph;
  }

  std::string_view bytes_, file_;
};

} // namespace

bool is_binary(std::string_view bytes) {
  if (bytes.size() < 8) return false;
  const auto first = number_at<std::uint64_t>(bytes, 0);
  return first == magic || first == used_up;
}

Result<Graphs> parse_binary(std::string_view bytes, std::string_view file) {
  return BinaryReader(bytes, file).graphs();
}

} // namespace kumihimo::goal
