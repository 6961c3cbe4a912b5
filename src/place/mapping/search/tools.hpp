// Tools that a search gets from outside, as this layer knows no clock, thread or file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace kumihimo::mapping {

struct SearchProgress {
  std::string phase;         // "bisection", "annealing"
  double done = 0;           // share of the phase, in [0, 1]
  double average_hops = 0;   // of the best placement so far
  double link_bytes_max = 0; // of that one
  double least_hops = 0;     // the best proved bound
};

struct Tools {
  // Calls work(0) ... work(parts - 1), in any order and at once where there are threads.
  std::function<void(int parts, const std::function<void(int)>& work)> parallel = [](int parts, const auto& work) {
    for (int part = 0; part < parts; ++part) work(part);
  };
  std::function<bool()> stop = [] { return false; }; // may be asked from any part; true: end soon, with what there is
  std::function<void(const SearchProgress&)> report = [](const SearchProgress&) {}; // from the calling thread only
};

// The same numbers for the same seed on every machine (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // In [0, bound); 0 < bound <= 2^32. Not exactly uniform: off by less than bound / 2^32.
  std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; } // in [0, 1)

 private:
  std::uint64_t state_;
};

} // namespace kumihimo::mapping
