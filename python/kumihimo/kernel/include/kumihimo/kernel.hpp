// Kernels of a program: a golden copy, variants of it and hints, of which `kumihimo tune kernel -- ./program` finds the
// fastest right one for each size. One header, C++17, POSIX, nothing to link (with glibc before 2.34: -ldl). A program
// that was not tuned runs the golden copy.
//
//   KUMIHIMO_FUNCTION(double, dot, (const double* x, const double* y, long n), {
//     double s = 0;
//     for (long i = 0; i < n; ++i) s += x[i] * y[i];
//     return s;
//   })
//   using Dot = double(const double*, const double*, long);
//   static kumihimo::kernel::Kernel<Dot> fast_dot =
//       kumihimo::kernel::Kernel<Dot>("dot", KUMIHIMO_CODE(dot))
//           .hint("precious, 100 to 10000 trips, even")
//           .size([](const double*, const double*, long n) { return n; })
//           .inputs([](kumihimo::kernel::Data& data, long n) {
//             return std::tuple{data.input<double>(n), data.input<double>(n), n};
//           })
//           .variant("unrolled", KUMIHIMO_CODE(dot_unrolled));
//   ... fast_dot(x, y, n) ...
//
// The text of KUMIHIMO_FUNCTION is hashed by the compiler: an edited golden copy has no choices any more, an edited
// variant must be tuned again. Neither comments and layout nor the functions that it calls are part of the hash.
// Preprocessor lines cannot stand in it: write _Pragma("omp simd").
#ifndef KUMIHIMO_KERNEL_HPP
#define KUMIHIMO_KERNEL_HPP

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Defines the function, of this file alone, and keeps its text.
#define KUMIHIMO_FUNCTION(result, name, parameters, ...)                                                               \
  [[maybe_unused]] static inline result name parameters __VA_ARGS__                                                    \
      [[maybe_unused]] static constexpr ::kumihimo::kernel::Text kumihimo_text_of_##name{#result, #parameters,         \
                                                                                         #__VA_ARGS__};
// A function of KUMIHIMO_FUNCTION, as golden copy or variant.
#define KUMIHIMO_CODE(name) ::kumihimo::kernel::code(&name, kumihimo_text_of_##name)
// A lambda with its text, as variant.
#define KUMIHIMO_LAMBDA(...) ::kumihimo::kernel::code(__VA_ARGS__, #__VA_ARGS__)

namespace kumihimo::kernel {

// FNV-1a, 64 bits.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

inline std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The source text of a function, hashed when the program is compiled.
struct Text {
  std::string_view result, parameters, body;
  std::uint64_t hash;
  constexpr Text(std::string_view r, std::string_view p, std::string_view b)
      : result(r), parameters(p), body(b), hash(hash_of(b, hash_of(p, hash_of(r)))) {}
};

template <class F>
struct Code {
  F function;
  std::uint64_t hash;
  std::string result, parameters; // of KUMIHIMO_FUNCTION
};

template <class F>
Code<F> code(F function, const Text& text) {
  return {function, text.hash, std::string(text.result), std::string(text.parameters)};
}
// Any callable, as a function of another library. `identity`: changes when what it does changes ("OpenBLAS 0.3.21").
template <class F>
Code<std::decay_t<F>> code(F&& function, std::string_view identity) {
  return {std::forward<F>(function), hash_of(identity), {}, {}};
}

// --- Values of a variant's parameters, in the order of their declaration
// -----------------------------------------------

struct Parameter {
  std::string name;
  std::vector<std::int64_t> values; // that are tried, the default first
};
using Values = std::vector<std::int64_t>;

// --- JSON: enough of it for the requests of the tuner and for wisdom files
// --------------------------------------------

class Json {
 public:
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  double number = 0;
  std::string text;
  std::vector<std::string> names; // of the members of an object
  std::vector<Json> items;        // of a list; the values of the members

  // Throws std::runtime_error where it is no JSON.
  static Json parse(std::string_view text) {
    Reader reader{text};
    Json value = reader.value(0);
    reader.space();
    if (reader.at != text.size()) reader.fail();
    return value;
  }
  const Json* find(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return &items[i];
    return nullptr;
  }
  std::string word(std::string_view name) const {
    const Json* value = find(name);
    return value && value->kind == Kind::text ? value->text : std::string();
  }
  std::int64_t whole(std::string_view name, std::int64_t otherwise) const {
    const Json* value = find(name);
    return value && value->kind == Kind::number ? static_cast<std::int64_t>(value->number) : otherwise;
  }

 private:
  static constexpr int deepest = 32;
  struct Reader {
    std::string_view text;
    std::size_t at = 0;

    [[noreturn]] static void fail() { throw std::runtime_error("text that is no JSON"); }
    void space() {
      while (at < text.size() && std::strchr(" \t\r\n", text[at])) ++at;
    }
    char peek() {
      space();
      return at < text.size() ? text[at] : '\0';
    }
    void take(std::string_view word) {
      if (text.substr(at, word.size()) != word) fail();
      at += word.size();
    }
    Json value(int depth) {
      if (depth > deepest) fail();
      Json found;
      switch (peek()) {
      case '{':
        found.kind = Kind::object;
        list('}', [&] {
          std::string name = (peek(), string());
          if (peek() != ':') fail();
          ++at;
          found.names.push_back(std::move(name));
          found.items.push_back(value(depth + 1));
        });
        break;
      case '[':
        found.kind = Kind::list;
        list(']', [&] { found.items.push_back(value(depth + 1)); });
        break;
      case '"': found.kind = Kind::text, found.text = string(); break;
      case 't': found.kind = Kind::boolean, found.number = 1, take("true"); break;
      case 'f': found.kind = Kind::boolean, take("false"); break;
      case 'n': take("null"); break;
      default: {
        found.kind = Kind::number;
        const std::string digits(text.substr(at, text.find_first_not_of("+-.0123456789eE", at) - at));
        char* end = nullptr;
        found.number = std::strtod(digits.c_str(), &end);
        if (digits.empty() || *end) fail();
        at += digits.size();
      }
      }
      return found;
    }
    template <class Each>
    void list(char end, Each each) {
      ++at;
      if (peek() == end) {
        ++at;
        return;
      }
      for (;;) {
        each();
        const char next = peek();
        ++at;
        if (next == end) return;
        if (next != ',') fail();
      }
    }
    std::string string() {
      if (at >= text.size() || text[at] != '"') fail();
      std::string found;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') {
          found += text[at];
          continue;
        }
        if (++at >= text.size()) fail();
        switch (text[at]) {
        case 'n': found += '\n'; break;
        case 't': found += '\t'; break;
        case 'r': found += '\r'; break;
        case 'b': found += '\b'; break;
        case 'f': found += '\f'; break;
        case 'u': found += code_point(); break;
        default: found += text[at];
        }
      }
      if (at >= text.size()) fail();
      ++at;
      return found;
    }
    // As UTF-8; halves of a pair one by one, since they are compared only with what was written in the same way.
    std::string code_point() {
      if (at + 4 >= text.size()) fail();
      const unsigned c = static_cast<unsigned>(std::strtoul(std::string(text.substr(at + 1, 4)).c_str(), nullptr, 16));
      at += 4;
      if (c < 0x80) return {static_cast<char>(c)};
      if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
      return {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
              static_cast<char>(0x80 | (c & 0x3f))};
    }
  };
};

inline std::string quoted(std::string_view text) {
  std::string found = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') found += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      found += escape;
    } else {
      found += c;
    }
  }
  return found + '"';
}

inline std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// --- This machine and compiler, by the rules of kumihimo/kernel/identity.py
// -------------------------------------------

struct Machine {
  std::string processor;
  std::int64_t processors = 0;
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
  Machine machine{"", sysconf(_SC_NPROCESSORS_ONLN)};
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

// --- Inputs of a check: arrays between guard zones
// --------------------------------------------------------------------

enum class Role { input, output, in_out };

// One array of a call, with what is needed to compare it.
struct Array {
  static constexpr std::size_t zone = 4096; // bytes on each side
  static constexpr unsigned char fill = 0xa5;

  Role role = Role::input;
  std::size_t bytes = 0, element = 1, offset = 0, count = 0;
  bool is_float = false;
  double unit = 0; // roundoff
  std::vector<unsigned char> memory;
  std::vector<unsigned char> initial; // of in_out: what each timed call begins with

  unsigned char* data() { return memory.data() + offset; }
  const unsigned char* data() const { return memory.data() + offset; }
  double at(std::size_t place) const {
    if (element == sizeof(float)) {
      float value;
      std::memcpy(&value, data() + place * element, sizeof value);
      return static_cast<double>(value);
    }
    double value;
    std::memcpy(&value, data() + place * element, sizeof value);
    return value;
  }
  // "byte 17 behind", the nearest one that was changed; empty where nobody wrote there.
  std::string damage() const {
    for (std::size_t i = offset; i-- > 0;)
      if (memory[i] != fill) return "byte " + std::to_string(offset - i) + " before";
    for (std::size_t i = offset + bytes; i < memory.size(); ++i)
      if (memory[i] != fill) return "byte " + std::to_string(i - offset - bytes + 1) + " behind";
    return {};
  }
};

// Makes the arguments of one call: equal ones for an equal size, seed and kind ("random", "zeros", "huge", "tiny").
class Data {
 public:
  Data(std::int64_t trips, std::uint64_t seed, std::string values = "random")
      : size(trips), kind(std::move(values)), seed_(seed), state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  const std::int64_t size;
  const std::string kind;

  // Arrays of n elements, filled with random numbers or with an edge of them. A variant must not write to an input;
  // what an output holds before the call is no number that it may read.
  template <class T>
  const T* input(std::int64_t n) {
    return made<T>(n, Role::input, [this](std::int64_t) { return number<T>(); });
  }
  template <class T, class Fill>
  const T* input(std::int64_t n, Fill fill) {
    return made<T>(n, Role::input, fill);
  }
  template <class T>
  T* output(std::int64_t n) {
    return made<T>(n, Role::output, [](std::int64_t) { return T(7); });
  }
  template <class T>
  T* in_out(std::int64_t n) {
    return made<T>(n, Role::in_out, [this](std::int64_t) { return number<T>(); });
  }
  template <class T, class Fill>
  T* in_out(std::int64_t n, Fill fill) {
    return made<T>(n, Role::in_out, fill);
  }

  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; } // [0, 1)
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  template <class T>
  T number() {
    if constexpr (std::is_floating_point_v<T>) {
      const double huge = sizeof(T) == sizeof(float) ? 1e15 : 1e145; // squares and sums of them do not overflow
      const double value = 2 * uniform() - 1;
      return static_cast<T>(kind == "zeros"  ? 0.0
                            : kind == "huge" ? value * huge
                            : kind == "tiny" ? value / huge
                                             : value);
    } else {
      return static_cast<T>(kind == "zeros" ? 0 : below(100));
    }
  }

  std::vector<std::unique_ptr<Array>> arrays; // in the order in which they were made
  bool has_in_out() const {
    return std::any_of(arrays.begin(), arrays.end(), [](const auto& a) { return a->role == Role::in_out; });
  }
  void restore() {
    for (const auto& each : arrays)
      if (each->role == Role::in_out) std::memcpy(each->data(), each->initial.data(), each->bytes);
  }

 private:
  std::uint64_t bits() { // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  template <class T, class Fill>
  T* made(std::int64_t n, Role role, Fill fill) {
    static_assert(std::is_trivially_copyable_v<T>, "arrays of kernels hold plain values");
    auto array = std::make_unique<Array>();
    array->role = role;
    array->element = sizeof(T);
    array->count = static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    array->bytes = array->count * sizeof(T);
    array->is_float = std::is_same_v<T, double> || std::is_same_v<T, float>;
    array->unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    array->memory.assign(array->bytes + 2 * Array::zone + 128, Array::fill);
    const auto begin = reinterpret_cast<std::uintptr_t>(array->memory.data()) + Array::zone;
    array->offset = Array::zone + (64 - begin % 64) % 64;
    if (seed_ % 2 == 1) array->offset += sizeof(T); // an array of a program need not be aligned
    T* const first = reinterpret_cast<T*>(array->data());
    for (std::size_t i = 0; i < array->count; ++i) {
      const T value = static_cast<T>(fill(static_cast<std::int64_t>(i)));
      std::memcpy(static_cast<void*>(first + i), &value, sizeof value);
    }
    array->initial.assign(array->data(), array->data() + array->bytes);
    arrays.push_back(std::move(array));
    return first;
  }

  std::uint64_t seed_, state_;
};

// --- Comparison, by the rules of kumihimo/kernel/compare.py
// ------------------------------------------------------------

// Results that differ where the magnitude is infinite: the order decides what overflows.
struct Overflowed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Bound {
  double operations = 0; // behind one element; 0: every bit is the same
  // Whether gamma_n exists: n u < 1.
  bool holds(double unit) const { return operations >= 0 && operations * unit < 1; }
  double gamma(double unit) const {
    const double steps = operations * unit;
    return steps / (1 - steps);
  }
  double of(double magnitude, double unit) const {
    return 2 * gamma(unit) * magnitude + operations * (unit > 0x1p-30 ? 0x1p-149 : 0x1p-1074);
  }
};

// Empty where they are equal or within the bound.
inline std::string difference(double ours, double golden, const double* magnitude, const Bound& bound, double unit) {
  if ((ours != ours && golden != golden) || std::memcmp(&ours, &golden, sizeof ours) == 0) return {};
  const std::string said = "is " + decimal(ours) + ", the golden copy's " + decimal(golden);
  if (bound.operations <= 0 || !magnitude) return said;
  if (std::isinf(*magnitude)) throw Overflowed("the magnitude is infinite, so no error bound holds");
  if (std::abs(ours - golden) <= bound.of(std::abs(*magnitude), unit)) return {};
  char limit[40];
  std::snprintf(limit, sizeof limit, ", beyond the bound %.3g", bound.of(std::abs(*magnitude), unit));
  return said + limit;
}

// Why the arrays of a variant's call are wrong; empty where they are right.
inline std::string fault_of(const Data& ours, const Data& golden, const Data* magnitude, const Bound& bound) {
  for (std::size_t i = 0; i < ours.arrays.size(); ++i) {
    const Array &a = *ours.arrays[i], &b = *golden.arrays[i];
    const std::string name = "array " + std::to_string(i + 1);
    if (const std::string damage = a.damage(); !damage.empty())
      return "writes outside its output: " + damage + " " + name;
    if (std::memcmp(a.data(), b.data(), a.bytes) == 0) continue;
    if (a.role == Role::input) return "writes to its input, " + name;
    for (std::size_t j = 0; j < a.count; ++j) {
      if (std::memcmp(a.data() + j * a.element, b.data() + j * a.element, a.element) == 0) continue;
      const std::string place = name + "[" + std::to_string(j) + "] ";
      if (!a.is_float) return place + "differs from the golden copy's";
      const double m = magnitude ? magnitude->arrays[i]->at(j) : 0;
      const std::string said = difference(a.at(j), b.at(j), magnitude ? &m : nullptr, bound, a.unit);
      if (!said.empty()) return place + said;
    }
  }
  return {};
}

// A library that is not on this machine.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- The server of a program under tuning
// -----------------------------------------------------------------------------

// A kernel as the server knows it: requests and answers as in kumihimo/kernel/serving.py.
class Served {
 public:
  virtual ~Served() = default;
  virtual std::string name() const = 0;
  virtual std::string described() const = 0;                 // a JSON object
  virtual std::string answer(const Json& request) const = 0; // a JSON object
  virtual void run_golden() const = 0;                       // from now on, whatever wisdom says
};

struct Registry {
  std::mutex lock;
  std::vector<std::shared_ptr<const Served>> kernels;

  static Registry& all() {
    static Registry* const registry = new Registry; // kernels may be called while the program ends
    return *registry;
  }
};

inline constexpr const char* tuning_variable = "KUMIHIMO_KERNEL_TUNING";

// Under `kumihimo tune kernel -- ./program` the process serves the tuner here and does not go on; elsewhere it returns
// at once. The first call of a kernel does the same; call it yourself where a program works long before that. Not for
// use while other threads run.
inline void tuning_point() {
  const char* const pipes = std::getenv(tuning_variable);
  int reading = -1, writing = -1;
  if (!pipes || std::sscanf(pipes, "%d,%d", &reading, &writing) != 2) return;
  std::FILE *const requests = fdopen(reading, "r"), *const answers = fdopen(writing, "w");
  if (!requests || !answers) return;
  unsetenv(tuning_variable);
  const Registry& registry = Registry::all();
  const auto answer = [&](const Json& request) -> std::string {
    if (request.word("do") == "list") {
      const Machine machine = this_machine();
      std::string rows;
      for (const auto& kernel : registry.kernels) rows += (rows.empty() ? "" : ",") + kernel->described();
      return "{\"kernels\":[" + rows + "],\"machine\":{\"processor\":" + quoted(machine.processor) +
             ",\"processors\":" + std::to_string(machine.processors) + "},\"language\":\"c++\"}";
    }
    for (const auto& kernel : registry.kernels)
      if (kernel->name() == request.word("kernel")) return kernel->answer(request);
    return "{\"refused\":\"there is no such kernel\"}";
  };
  for (const auto& kernel : registry.kernels) kernel->run_golden(); // also where one kernel calls another
  char* line = nullptr;
  std::size_t capacity = 0;
  while (getline(&line, &capacity, requests) > 0) {
    std::string said;
    try {
      said = answer(Json::parse(line));
    } catch (const Unavailable& error) {
      said = "{\"unavailable\":true,\"refused\":" + quoted(error.what()) + "}";
    } catch (const std::exception& error) {
      said = "{\"refused\":" + quoted(std::string("throws ") + error.what()) + "}";
    } catch (...) {
      said = "{\"refused\":\"throws an exception\"}";
    }
    std::fprintf(answers, "%s\n", said.c_str());
    std::fflush(answers);
  }
  _exit(0);
}

// --- Wisdom
// -----------------------------------------------------------------------------------------------------------

// Empty where the environment names neither XDG_DATA_HOME nor HOME: then there are no choices.
inline std::string wisdom_folder() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  const bool has_data = data && *data == '/';
  if (!has_data && !(home && *home == '/')) return {};
  const std::string base = has_data ? std::string(data) : std::string(home) + "/.local/share";
  return base + "/kumihimo/wisdom/kernels";
}

struct Choice {
  std::string variant, source, object;
  std::int64_t from = 0, to = 0, multiple = 1;
  bool odd = false;
  int power_of_two = -1; // -1: any
  Json parameters;

  bool fits(std::int64_t size) const {
    if (size < from || size > to || size % multiple != 0 || (odd && size % 2 == 0)) return false;
    const bool is_power = size > 0 && (size & (size - 1)) == 0;
    return power_of_two < 0 || is_power == (power_of_two == 1);
  }
};

// The choices for this machine, compiler and golden copy; none where there is no file or a damaged one.
inline std::vector<Choice> read_choices(const std::string& kernel, const std::string& golden,
                                        const std::string& compiler) {
  std::vector<Choice> found;
  try {
    const std::string folder = wisdom_folder();
    if (folder.empty()) return found;
    std::ifstream file(folder + "/" + kernel + ".json");
    if (!file) return found;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json whole = Json::parse(text);
    const Json* const choices = whole.find("choices");
    if (whole.whole("kumihimo_wisdom", 0) != 1 || !choices) return found;
    const Machine here = this_machine();
    for (const Json& each : choices->items) {
      const Json* const machine = each.find("machine");
      if (!machine || machine->word("processor") != here.processor ||
          machine->whole("processors", 0) != here.processors || each.word("golden") != golden ||
          each.word("language") != "c++" || each.word("compiler") != compiler)
        continue;
      Choice choice;
      choice.variant = each.word("variant");
      choice.source = each.word("source");
      choice.object = each.word("object");
      if (choice.object.find('/') != std::string::npos) continue; // a file beside the wisdom
      choice.from = each.whole("from_size", 0);
      choice.to = each.whole("to_size", std::numeric_limits<std::int64_t>::max());
      choice.multiple = std::max<std::int64_t>(1, each.whole("multiple", 1));
      if (const Json* odd = each.find("odd")) choice.odd = odd->number != 0;
      if (const Json* power = each.find("power_of_two")) choice.power_of_two = power->number != 0;
      if (const Json* parameters = each.find("parameters")) choice.parameters = *parameters;
      found.push_back(std::move(choice));
    }
  } catch (const std::exception&) {
    found.clear();
  }
  return found;
}

// --- The kernel
// -------------------------------------------------------------------------------------------------------

template <class Signature>
class Kernel;

template <class R, class... A>
class Kernel<R(A...)> {
 public:
  using Arguments = std::tuple<std::decay_t<A>...>;
  using Function = std::function<R(A...)>;

  // `compiler`: of the file that declares the kernel.
  template <class F>
  Kernel(std::string name, Code<F> golden, std::string compiler = this_compiler()) : own_(std::make_shared<Own>()) {
    own_->title = std::move(name);
    own_->compiler = std::move(compiler);
    own_->golden = golden.function;
    own_->golden_hash = hex(golden.hash);
    own_->returned = golden.result;
    own_->parameters = golden.parameters;
    Registry& registry = Registry::all();
    const std::lock_guard<std::mutex> guard(registry.lock);
    registry.kernels.push_back(own_);
    if (registry.kernels.size() == 1 && std::getenv(tuning_variable)) std::atexit(tuning_point); // no kernel was called
  }

  // The golden copy, or what wisdom chose for the size of this call.
  R operator()(A... arguments) const {
    if (!own_->is_read.load(std::memory_order_acquire)) own_->read();
    if (!own_->plan.empty()) {
      const std::int64_t size = own_->size(arguments...);
      for (const auto& [choice, run] : own_->plan)
        if (choice.fits(size)) return run(arguments...);
    }
    return own_->golden(arguments...);
  }
  R golden(A... arguments) const { return own_->golden(arguments...); }

  // See docs/guides/tune-your-kernel.md.
  Kernel& hint(std::string text) { return own_->hint = std::move(text), *this; }
  // Number of trips of a call.
  template <class F>
  Kernel& size(F function) {
    return own_->size = function, *this;
  }
  // Sizes that are tuned [default: over the trips of the hint].
  Kernel& sizes(std::vector<std::int64_t> sizes) { return own_->sizes = std::move(sizes), *this; }
  // Makes the arguments of a call of a size: std::tuple of them.
  template <class F>
  Kernel& inputs(F function) {
    return own_->inputs = function, *this;
  }
  // Results may differ by 2 gamma_n M: `operations(size)` is n, those behind one element; `magnitude` has the golden
  // copy's arguments and gives M, its result with absolute values. Without a bound every bit must be the same.
  template <class N, class F>
  Kernel& bound(N operations, F magnitude) {
    own_->operations = [operations](std::int64_t size) { return static_cast<double>(operations(size)); };
    own_->magnitude = magnitude;
    return *this;
  }
  // Inputs that are tried besides: "zeros", "huge", "tiny" [default: zeros].
  Kernel& edges(std::vector<std::string> kinds) { return own_->edges = std::move(kinds), *this; }

  // A function with the golden copy's arguments.
  template <class F>
  Kernel& variant(std::string name, Code<F> code) {
    Variant made;
    made.hash = [hash = code.hash](const Values&) { return hex(hash); };
    made.bound = [f = Function(code.function)](const Values&, const std::string&) { return f; };
    return add(std::move(name), std::move(made));
  }
  // With parameters: it takes their values first, (const Values&, golden copy's arguments...).
  template <class F>
  Kernel& variant(std::string name, std::vector<Parameter> parameters, Code<F> code) {
    Variant made;
    made.parameters = std::move(parameters);
    made.hash = [hash = code.hash](const Values&) { return hex(hash); };
    made.bound = [f = code.function](const Values& values, const std::string&) -> Function {
      return [f, values](A... arguments) -> R { return f(values, arguments...); };
    };
    return add(std::move(name), std::move(made));
  }
  // A function of a shared library with the golden copy's arguments; with others: variant() with a lambda.
  Kernel& library(std::string name, std::string file, std::string symbol) {
    Variant made;
    made.kind = "library";
    made.hash = [file, symbol](const Values&) { return hex(hash_of(symbol, hash_of(file))); };
    made.bound = [file, symbol](const Values&, const std::string&) { return loaded(file, symbol); };
    return add(std::move(name), std::move(made));
  }
  // Text of C++ from generate(values), with `extern "C"` function `symbol`. `kumihimo tune kernel` compiles it.
  template <class F>
  Kernel& source(std::string name, std::vector<Parameter> parameters, F generate, std::string symbol) {
    Variant made;
    made.kind = "source";
    made.parameters = std::move(parameters);
    made.text = [generate](const Values& values) -> std::string { return generate(values); };
    made.hash = [text = made.text, symbol](const Values& values) {
      return hex(hash_of(symbol, hash_of(text(values))));
    };
    made.bound = [symbol](const Values&, const std::string& object) { return loaded(object, symbol); };
    return add(std::move(name), std::move(made));
  }
  // A loop that is generated as the hint says (kumihimo/kernel/loops.py): `body` is one trip with the index i, `sums`
  // are variables to which it only adds. The golden copy must be of KUMIHIMO_FUNCTION, which gives the arguments'
  // names.
  Kernel& loop(std::string before, std::string body, std::string after = "", std::vector<std::string> sums = {},
               std::string trips = "n") {
    static constexpr const char* symbol = "kumihimo_loop";
    std::string names;
    for (const std::string& each : sums) names += (names.empty() ? "" : ",") + quoted(each);
    Variant made;
    made.kind = "loop";
    made.loop = "{\"prototype\":" + quoted(own_->returned + " " + symbol + own_->parameters) +
                ",\"before\":" + quoted(before) + ",\"body\":" + quoted(body) + ",\"after\":" + quoted(after) +
                ",\"trips\":" + quoted(trips) + ",\"sums\":[" + names + "]}";
    made.hash = [text = made.loop](const Values&) { return hex(hash_of(text)); };
    made.bound = [](const Values&, const std::string& object) { return loaded(object, symbol); };
    return add("loop", std::move(made));
  }

 private:
  struct Variant {
    std::string name, kind = "function", loop;
    std::vector<Parameter> parameters;
    std::function<std::string(const Values&)> text, hash;
    std::function<Function(const Values&, const std::string& object)> bound; // throws where it cannot be loaded
  };

  static Function loaded(const std::string& file, const std::string& symbol) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const address = library ? dlsym(library, symbol.c_str()) : nullptr;
    if (!address) {
      const char* const error = dlerror();
      throw Unavailable(error ? error : file + " has no " + symbol);
    }
    return reinterpret_cast<R (*)(A...)>(address);
  }

  Kernel& add(std::string name, Variant made) {
    const auto has_name = [&](const Variant& each) { return each.name == name; };
    if (name == "golden" || std::any_of(own_->variants.begin(), own_->variants.end(), has_name))
      throw std::invalid_argument("a variant needs a name of its own (got '" + name + "' of " + own_->title +
                                  "); give it another name");
    made.name = std::move(name);
    own_->variants.push_back(std::move(made));
    return *this;
  }

  // What copies of the kernel and the server share.
  struct Own : Served {
    std::string title, golden_hash, returned, parameters, hint, compiler;
    Function golden;
    std::function<std::int64_t(A...)> size;
    std::vector<std::int64_t> sizes;
    std::function<Arguments(Data&, std::int64_t)> inputs;
    std::function<double(std::int64_t)> operations;
    Function magnitude;
    std::vector<std::string> edges{"zeros"};
    std::vector<Variant> variants;
    std::vector<std::pair<Choice, Function>> plan;
    mutable std::atomic<bool> is_read{false};
    std::mutex reading;

    std::string name() const override { return title; }

    void run_golden() const override { is_read.store(true, std::memory_order_release); }

    void read() {
      tuning_point();
      const std::lock_guard<std::mutex> guard(reading);
      if (is_read.load(std::memory_order_relaxed)) return;
      if (size)
        for (Choice& choice : read_choices(title, golden_hash, compiler))
          if (Function run = chosen(choice)) plan.emplace_back(std::move(choice), std::move(run));
      is_read.store(true, std::memory_order_release);
    }

    // Empty where the variant is gone, was edited, or cannot be loaded: then the golden copy runs.
    Function chosen(const Choice& choice) const {
      try {
        for (const Variant& each : variants) {
          if (each.name != choice.variant) continue;
          const Values values = values_of(each, choice.parameters);
          if (each.hash(values) != choice.source) return {};
          return each.bound(values, wisdom_folder() + "/objects/" + choice.object);
        }
      } catch (const std::exception&) {
      }
      return {};
    }

    static Values values_of(const Variant& variant, const Json& given) {
      Values values;
      for (const Parameter& each : variant.parameters) values.push_back(given.whole(each.name, each.values.front()));
      return values;
    }

    std::string described() const override {
      std::string rows, asked, kinds;
      for (const Variant& each : variants) {
        std::string tried;
        for (const Parameter& p : each.parameters)
          tried += (tried.empty() ? "" : ",") + quoted(p.name) + ":" + list(p.values);
        rows += (rows.empty() ? "" : ",") + ("{\"name\":" + quoted(each.name)) + ",\"kind\":" + quoted(each.kind) +
                ",\"parameters\":{" + tried + "}" + (each.loop.empty() ? "" : ",\"loop\":" + each.loop) + "}";
      }
      for (const std::string& each : edges) kinds += (kinds.empty() ? "" : ",") + quoted(each);
      return "{\"name\":" + quoted(title) + ",\"compiler\":" + quoted(compiler) + ",\"golden\":" + quoted(golden_hash) +
             ",\"hint\":" + quoted(hint) + ",\"sizes\":" + list(sizes) + ",\"edges\":[" + kinds +
             "],\"bound\":" + (operations ? "true" : "false") + ",\"inputs\":" + (inputs && size ? "true" : "false") +
             ",\"variants\":[" + rows + "]}";
    }

    static std::string list(const std::vector<std::int64_t>& values) {
      std::string text;
      for (const std::int64_t each : values) text += (text.empty() ? "" : ",") + std::to_string(each);
      return "[" + text + "]";
    }

    std::string answer(const Json& request) const override {
      const std::string what = request.word("do"), wanted = request.word("variant");
      static const Json none;
      const Json* const given = request.find("parameters");
      const Variant* variant = nullptr;
      for (const Variant& each : variants)
        if (each.name == wanted) variant = &each;
      if (!variant && wanted != "golden") return "{\"refused\":\"there is no such variant\"}";
      const Values values = variant ? values_of(*variant, given ? *given : none) : Values{};
      if (what == "source") return "{\"text\":" + quoted(variant->text(values)) + "}";
      if (what == "hash") return "{\"hash\":" + quoted(variant->hash(values)) + "}";
      const Function run = variant ? variant->bound(values, request.word("object")) : golden;
      return what == "check" ? check(run, request) : time(run, request);
    }

    // What a call returns; of a function without a result something that is always equal.
    using Result = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::decay_t<R>>;

    std::string check(const Function& run, const Json& request) const {
      const std::int64_t n = request.whole("size", 0);
      const auto seed = static_cast<std::uint64_t>(request.whole("seed", 0));
      const std::string kind = request.word("input");
      const Bound allowed{operations ? operations(n) : 0};
      Data right(n, seed, kind), ours(n, seed, kind), terms(n, seed, kind);
      const bool is_bounded = operations && magnitude;
      Result theirs{}, most{}, result{};
      try {
        theirs = result_of(golden, inputs(right, n));
        if (is_bounded) most = result_of(magnitude, inputs(terms, n));
      } catch (const std::exception& error) {
        return "{\"skipped\":" + quoted(std::string("the golden copy throws ") + error.what()) + "}";
      }
      bool is_single = std::is_same_v<R, float>;
      for (const auto& each : right.arrays)
        is_single |= each->role != Role::input && each->is_float && each->element == sizeof(float);
      const double unit = is_single ? 0x1p-24 : 0x1p-53;
      if (is_bounded && !allowed.holds(unit)) {
        const std::string value = decimal(allowed.operations) + " operations with the unit roundoff " + decimal(unit);
        return "{\"unbounded\":" +
               quoted("the error bound holds for fewer operations than 1 / unit roundoff (got " + value +
                      "); correct operations, or declare the kernel without a bound") +
               "}";
      }
      result = result_of(run, inputs(ours, n));
      std::string said;
      try {
        said = fault(ours, right, is_bounded ? &terms : nullptr, allowed, result, theirs, most);
      } catch (const Overflowed& error) {
        return "{\"skipped\":" + quoted(error.what()) + "}";
      }
      if (!said.empty()) return "{\"refused\":" + quoted(said) + "}";
      return "{\"ok\":true" + (is_bounded ? ",\"gamma\":" + decimal(allowed.gamma(unit)) : std::string()) + "}";
    }

    // Where arrays and result of a variant's call differ from the golden copy's.
    static std::string fault(const Data& ours, const Data& right, const Data* terms, const Bound& allowed,
                             const Result& result, const Result& theirs, [[maybe_unused]] const Result& most) {
      std::string said = fault_of(ours, right, terms, allowed);
      if constexpr (std::is_floating_point_v<R>) {
        const double m = static_cast<double>(most), own_unit = sizeof(R) == sizeof(float) ? 0x1p-24 : 0x1p-53;
        if (said.empty())
          said = difference(static_cast<double>(result), static_cast<double>(theirs), terms ? &m : nullptr, allowed,
                            own_unit);
        if (said.rfind("is ", 0) == 0) said = "the result " + said;
      } else if constexpr (std::is_integral_v<R>) {
        if (said.empty() && result != theirs)
          said = "the result is " + std::to_string(result) + ", the golden copy's " + std::to_string(theirs);
      } else {
        if (said.empty() && !(result == theirs)) said = "the result differs from the golden copy's";
      }
      return said;
    }

    static Result result_of(const Function& function, const Arguments& arguments) {
      if constexpr (std::is_void_v<R>) {
        std::apply(function, arguments);
        return {};
      } else {
        return std::apply(function, arguments);
      }
    }

    // Keeps the arguments of the last size.
    std::string time(const Function& run, const Json& request) const {
      const std::int64_t n = request.whole("size", 0), times = std::max<std::int64_t>(1, request.whole("times", 1));
      static std::unique_ptr<Data> data;
      static Arguments arguments;
      static const Own* whose = nullptr;
      if (whose != this || !data || data->size != n) {
        data = std::make_unique<Data>(n, 0);
        arguments = inputs(*data, n);
        whose = this;
      }
      const auto now = [] { return std::chrono::steady_clock::now(); };
      std::chrono::duration<double> spent{0};
      if (data->has_in_out()) { // each call on the same input, whatever a call before it wrote
        for (std::int64_t i = 0; i < times; ++i) {
          data->restore();
          const auto start = now();
          call(run, arguments);
          spent += now() - start;
        }
      } else {
        const auto start = now();
        for (std::int64_t i = 0; i < times; ++i) call(run, arguments);
        spent = now() - start;
      }
      return "{\"seconds\":" + decimal(std::max(spent.count(), 1e-12) / static_cast<double>(times)) + "}";
    }

    static void call(const Function& run, const Arguments& arguments) {
      if constexpr (std::is_void_v<R>) {
        std::apply(run, arguments);
        asm volatile("" : : : "memory");
      } else {
        R result = std::apply(run, arguments);
        asm volatile("" : : "g"(&result) : "memory"); // the compiler must not drop the call
      }
    }
  };

  std::shared_ptr<Own> own_;
};

// Runs an external command, as a variant may: writes `given` to its standard input and returns its standard output.
// Throws where it fails. The words go to no shell.
inline std::string run_command(const std::vector<std::string>& words, std::string_view given);

} // namespace kumihimo::kernel

#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace kumihimo::kernel {

inline std::string run_command(const std::vector<std::string>& words, std::string_view given) {
  int to[2], from[2];
  if (words.empty() || pipe(to) != 0) throw std::runtime_error("no command");
  if (pipe(from) != 0) {
    close(to[0]), close(to[1]);
    throw std::runtime_error("no pipe");
  }
  std::vector<char*> argv;
  for (const std::string& each : words) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], 0), dup2(from[1], 1);
    for (const int each : {to[0], to[1], from[0], from[1]}) close(each);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(to[0]), close(from[1]);
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before); // a command need not read all
  std::string answer;
  std::array<char, 65536> buffer;
  std::size_t written = 0;
  bool is_open = true;
  for (bool more = child > 0; more;) {
    if (is_open && written == given.size()) close(to[1]), is_open = false;
    pollfd ends[2] = {{from[0], POLLIN, 0}, {is_open ? to[1] : -1, POLLOUT, 0}};
    if (poll(ends, 2, -1) < 0 && errno != EINTR) break;
    if (ends[1].revents) {
      const std::size_t part = std::min<std::size_t>(given.size() - written, 4096); // PIPE_BUF: does not block
      const ssize_t count = write(to[1], given.data() + written, part);
      written = count < 0 ? given.size() : written + static_cast<std::size_t>(count);
    }
    if (ends[0].revents) {
      const ssize_t count = ::read(from[0], buffer.data(), buffer.size());
      if (count <= 0)
        more = false;
      else
        answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  if (is_open) close(to[1]);
  close(from[0]);
  sigaction(SIGPIPE, &before, nullptr);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the command " + words.front() + " failed");
  return answer;
}

} // namespace kumihimo::kernel

#endif
