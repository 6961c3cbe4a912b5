#include "loggp/timeline.hpp"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

namespace kumihimo::loggp {
namespace {

double microseconds(Time time) { return static_cast<double>(time) * 1e-6; }

// Labels are words of a GOAL file, which have neither quotes nor control characters in any sensible one.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') out += c;
  }
  return out;
}

std::uint64_t key(std::int32_t sender, std::uint32_t send) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(sender)) << 32 | send;
}

} // namespace

std::string Timeline::to_json() const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto to = std::back_inserter(out);
  std::vector<bool> named(static_cast<std::size_t>(graphs_.ranks()));
  std::unordered_map<std::uint64_t, std::size_t> arrows; // messages that are under way, by their send
  std::size_t messages = 0;
  const char* comma = "";
  for (const ProcessorWork& work : work_) {
    if (!named[static_cast<std::size_t>(work.rank)]) {
      named[static_cast<std::size_t>(work.rank)] = true;
      fmt::format_to(to, R"({}{{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}})", comma,
                     work.rank, work.rank);
      comma = ",\n";
    }
    const std::int32_t owner = work.kind == goal::Kind::receive ? work.peer : work.rank;
    const std::string label = graphs_.of(owner).label(work.operation);
    const goal::GraphOperation& operation = graphs_.of(owner).operations[work.operation];
    const std::string name = work.kind == goal::Kind::calc   ? "calc"
                             : work.kind == goal::Kind::send ? fmt::format("send to {}", work.peer)
                                                             : fmt::format("receive from {}", work.peer);
    const auto place = [&] { return fmt::format(R"("pid":{},"tid":{})", work.rank, work.cpu); };
    fmt::format_to(to, R"({}{{"ph":"X","name":"{}",{},"ts":{:.6f},"dur":{:.6f},"args":{{"operation":{})", comma, name,
                   place(), microseconds(work.start), microseconds(work.end - work.start), work.operation);
    if (!label.empty()) fmt::format_to(to, R"(,"label":"{}")", escaped(label));
    if (work.kind != goal::Kind::calc) fmt::format_to(to, R"(,"bytes":{})", operation.size);
    if (work.lost > 0) fmt::format_to(to, R"(,"noise_us":{:.6f})", microseconds(work.lost));
    out += "}}";
    if (work.kind == goal::Kind::calc) continue;
    const std::uint64_t message = key(owner, work.operation);
    if (work.kind == goal::Kind::send) arrows[message] = messages++;
    const auto arrow = arrows.find(message);
    if (arrow == arrows.end()) continue; // its send was left out
    fmt::format_to(to, R"({}{{"ph":"{}","name":"message","cat":"message","id":{},{},"ts":{:.6f}{}}})", comma,
                   work.kind == goal::Kind::send ? 's' : 'f', arrow->second, place(), microseconds(work.start),
                   work.kind == goal::Kind::send ? "" : R"(,"bp":"e")");
    if (work.kind == goal::Kind::receive) arrows.erase(arrow);
  }
  return out + "\n]}\n";
}

} // namespace kumihimo::loggp
