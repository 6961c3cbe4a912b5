// By what wisdom knows a machine and a compiler. The machine's rules are here alone: the layer problem of src/ and,
// through the module kumihimo._base, the Python package call these functions, so that all find the same choices.
#ifndef KUMIHIMO_KERNEL_MACHINE_HPP
#define KUMIHIMO_KERNEL_MACHINE_HPP

#include "kumihimo/kernel/code.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::kernel {

// The fields of /proc/cpuinfo's first processor.
class ProcessorFields {
 public:
  explicit ProcessorFields(const std::string& cpuinfo) {
    std::istringstream lines(cpuinfo);
    for (std::string line; std::getline(lines, line);)
      if (const auto colon = line.find(':'); colon != std::string::npos)
        fields_.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }

  // The first field of one of these names that is not empty.
  std::string first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
      for (const auto& [key, value] : fields_)
        if (key == name && !value.empty()) return value;
    return {};
  }

 private:
  static std::string trimmed(const std::string& text) {
    const auto from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
    return from == std::string::npos ? std::string() : text.substr(from, to - from + 1);
  }

  std::vector<std::pair<std::string, std::string>> fields_;
};

// The model as the system says it: the name, or on systems that know none the numbers; empty where there is neither.
inline std::string processor_of(const ProcessorFields& fields) {
  const std::string name = fields.first_of({"model name", "cpu model", "cpu"}); // x86; others; POWER
  if (!name.empty()) return name;
  const std::string implementer = fields.first_of({"CPU implementer"}), part = fields.first_of({"CPU part"});
  if (implementer.empty() && part.empty()) return {};
  return "Arm implementer " + implementer + ", part " + part + ", variant " + fields.first_of({"CPU variant"});
}

// Hash of the instruction sets in any order: virtual machines of one model may have others.
inline std::string instructions_of(const ProcessorFields& fields) {
  std::istringstream words(fields.first_of({"flags", "Features"}));
  std::vector<std::string> sets{std::istream_iterator<std::string>(words), {}};
  std::sort(sets.begin(), sets.end());
  std::string names;
  for (const std::string& each : sets) names += (names.empty() ? "" : " ") + each;
  return hex(hash_of(names));
}

struct MachineIdentity {
  std::string processor;
  std::int64_t processors = 0; // online, whatever the affinity
  std::string instructions;
};

inline MachineIdentity this_machine() {
  std::array<char, 4096> text{}; // to read all of the file takes long on many processors
  std::ifstream file("/proc/cpuinfo");
  file.read(text.data(), text.size());
  const ProcessorFields fields(std::string(text.data(), static_cast<std::size_t>(file.gcount())));
  return {processor_of(fields), sysconf(_SC_NPROCESSORS_ONLN), instructions_of(fields)};
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
