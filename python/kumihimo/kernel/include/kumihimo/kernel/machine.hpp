// This machine and compiler, by the rules of kumihimo/kernel/identity.py.
#ifndef KUMIHIMO_KERNEL_MACHINE_HPP
#define KUMIHIMO_KERNEL_MACHINE_HPP

#include "kumihimo/kernel/code.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::kernel {

struct Machine {
  std::string processor;
  std::int64_t processors = 0;
  std::string instructions; // hash of the instruction sets
};

inline Machine this_machine() {
  std::array<char, 4096> buffer{};
  std::ifstream file("/proc/cpuinfo");
  file.read(buffer.data(), buffer.size());
  std::istringstream lines(std::string(buffer.data(), static_cast<std::size_t>(file.gcount())));
  const auto trimmed = [](std::string text) {
    const auto from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
    return from == std::string::npos ? std::string() : text.substr(from, to - from + 1);
  };
  std::vector<std::pair<std::string, std::string>> fields;
  for (std::string line; std::getline(lines, line);)
    if (const auto colon = line.find(':'); colon != std::string::npos)
      fields.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  const auto field = [&](std::string_view name) {
    for (const auto& [key, value] : fields)
      if (key == name) return value;
    return std::string();
  };
  std::istringstream flags(field("flags").empty() ? field("Features") : field("flags"));
  std::vector<std::string> sets{std::istream_iterator<std::string>(flags), {}};
  std::sort(sets.begin(), sets.end()); // virtual machines of one model may have other instruction sets
  std::string names;
  for (const std::string& each : sets) names += (names.empty() ? "" : " ") + each;
  Machine machine{"", sysconf(_SC_NPROCESSORS_ONLN), hex(hash_of(names))};
  for (const char* const name : {"model name", "cpu model", "cpu"})
    if (machine.processor.empty()) machine.processor = field(name);
  if (machine.processor.empty() && !(field("CPU implementer") + field("CPU part")).empty())
    machine.processor = "Arm implementer " + field("CPU implementer") + ", part " + field("CPU part") + ", variant " +
                        field("CPU variant");
  return machine;
}

// Name, version, and of the flags those that leave a trace in the preprocessor. Of the file that calls it.
static inline std::string this_compiler() {
  std::string text =
#if defined(__clang__)
      "Clang " __clang_version__;
#elif defined(__GNUC__)
      "GCC " __VERSION__;
#else
      "C++ compiler";
#endif
#ifdef __OPTIMIZE__
  text += ", optimised";
#endif
#ifdef __FAST_MATH__
  text += ", fast-math";
#endif
#ifdef _OPENMP
  text += ", openmp";
#endif
#if defined(__AVX512F__)
  text += ", avx512";
#elif defined(__AVX2__)
  text += ", avx2";
#elif defined(__AVX__)
  text += ", avx";
#elif defined(__ARM_FEATURE_SVE)
      text += ", sve";
#endif
  return text;
}

} // namespace kumihimo::kernel

#endif
