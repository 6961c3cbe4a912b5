// A small machine file, line by line, so that tests can replace a line and expect its number in the message.
#pragma once

#include <string>
#include <vector>

namespace kumihimo {

class Sample {
 public:
  Sample()
      : lines_{"name = \"small\"",
               "summary = \"a small torus\"",
               "[topology]",
               "family = \"torus\"",
               "shape = \"4x3x2\"",
               "[network]",
               "link_bandwidth = { value = \"4 GB/s\", published = \"a paper\" }",
               "link_peak = { value = \"5 GB/s\", published = \"a paper\" }",
               "hop_latency = { value = \"100 ns\", published = \"a paper\" }",
               "engines = { value = 4, published = \"a paper\" }",
               "engine_bandwidth = { value = \"5 GB/s\", measured = \"a log\" }",
               "[node]",
               "ranks_per_node = { value = 2, assumed = \"a job\" }",
               "cores = { value = 8, published = \"a paper\" }",
               "memory = { value = \"16 GB\", published = \"a paper\" }",
               "memory_bandwidth = { value = \"46 GB/s\", published = \"a paper\" }",
               "reduction_rate = { value = \"6 GB/s\", published = \"a paper\" }",
               "reduction_rate_scalar = { value = \"3 GB/s\", published = \"a paper\" }",
               "shared_memory_bandwidth = { value = \"6 GB/s\", assumed = \"a guess\" }",
               "shared_memory_latency = { value = \"1 us\", assumed = \"a guess\" }",
               "[software]",
               "message_cost = { value = \"2 us\", assumed = \"a guess\" }",
               "relay_latency = { value = \"3 us\", assumed = \"a guess\" }",
               "segment_bytes = { value = \"1 MiB\", assumed = \"declared\" }"} {}

  // The number, from 1, of the only line that starts with `start`.
  int line(const std::string& start) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (lines_[i].starts_with(start)) return static_cast<int>(i) + 1;
    return 0;
  }
  Sample& replace(const std::string& start, const std::string& by) {
    lines_.at(line(start) - 1) = by;
    return *this;
  }
  Sample& remove(const std::string& start) {
    lines_.erase(lines_.begin() + line(start) - 1);
    return *this;
  }
  Sample& insert_after(const std::string& start, const std::string& text) {
    lines_.insert(lines_.begin() + line(start), text);
    return *this;
  }
  Sample& append(const std::string& text) {
    lines_.push_back(text);
    return *this;
  }
  int lines() const { return static_cast<int>(lines_.size()); }
  std::string text() const {
    std::string s;
    for (const auto& line : lines_) s += line + "\n";
    return s;
  }

 private:
  std::vector<std::string> lines_;
};

} // namespace kumihimo
