// Kernels of a program: a golden copy, variants of it and hints, of which `kumihimo tune kernel -- ./program` finds the
// fastest right one for each size. Include this header: C++17, POSIX, nothing to link (with glibc before 2.34: -ldl). A
// program that was not tuned runs the golden copy.
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

#include "kumihimo/kernel/choices.hpp"
#include "kumihimo/kernel/code.hpp"
#include "kumihimo/kernel/command.hpp"
#include "kumihimo/kernel/compare.hpp"
#include "kumihimo/kernel/data.hpp"
#include "kumihimo/kernel/json.hpp"
#include "kumihimo/kernel/machine.hpp"
#include "kumihimo/kernel/serving.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kumihimo::kernel {

template <class Signature>
class Kernel;

template <class R, class... A>
class Kernel<R(A...)> {
  static_assert(((!std::is_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>)&&...),
                "a kernel takes no non-const reference: take a pointer to what it writes");

 public:
  using Arguments = std::tuple<std::decay_t<A>...>;
  using Function = std::function<R(A...)>;

  // `compiler`: of the file that declares the kernel.
  template <class F>
  Kernel(std::string name, Code<F> golden, std::string compiler = this_compiler()) : own_(std::make_shared<Own>()) {
    own_->title = std::move(name);
    own_->compiler = std::move(compiler);
    own_->golden = golden.function;
    own_->golden_code = golden.hash;
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
  Kernel& edges(std::vector<std::string> kinds) {
    for (const std::string& each : kinds)
      if (each != "zeros" && each != "huge" && each != "tiny")
        throw std::invalid_argument("an edge input must be one of zeros, huge, tiny (got '" + each + "')");
    return own_->edges = std::move(kinds), *this;
  }

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
    made.hash = [file, symbol](const Values&) { return hex(hash_of(symbol, hash_of(file + stamp_of(file)))); };
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

  // Changes with the file; empty where the linker searches for it.
  static std::string stamp_of(const std::string& file) {
    struct stat found {};
    if (file.find('/') == std::string::npos || stat(file.c_str(), &found) != 0) return {};
    return " " + std::to_string(found.st_size) + " " + std::to_string(found.st_mtime);
  }

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
    std::string title, returned, parameters, hint, compiler;
    std::uint64_t golden_code = 0; // hash of its text
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
        for (Choice& choice : read_choices(title, golden_hash(), compiler))
          if (Function run = chosen(choice)) plan.emplace_back(std::move(choice), std::move(run));
      is_read.store(true, std::memory_order_release);
    }

    // Of the golden copy's text and of the bound: what a wider bound accepted, another may refuse.
    std::string golden_hash() const {
      std::string contract;
      try {
        for (const std::int64_t n : {1, 10, 1000, 100000})
          if (operations) contract += " " + decimal(operations(n));
      } catch (const std::exception&) {
        contract += " throws"; // the check says so
      }
      return hex(hash_of(contract, golden_code));
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
      for (const Parameter& each : variant.parameters) {
        const Json* const value = given.find(each.name);
        if (!value || value->kind != Json::Kind::number) throw std::runtime_error("no value of " + each.name);
        values.push_back(static_cast<std::int64_t>(value->number));
      }
      return values;
    }

    std::string described() const override {
      std::string rows, asked, kinds;
      for (const Variant& each : variants) {
        std::string tried;
        for (const Parameter& p : each.parameters)
          tried += (tried.empty() ? "" : ",") + quoted(p.name) + ":" + list(p.values);
        rows += (rows.empty() ? "" : ",") + ("{\"name\":" + quoted(each.name)) + ",\"kind\":" + quoted(each.kind) +
                ",\"hash\":" + quoted(each.text ? std::string() : each.hash({})) + ",\"parameters\":{" + tried + "}" +
                (each.loop.empty() ? "" : ",\"loop\":" + each.loop) + "}";
      }
      for (const std::string& each : edges) kinds += (kinds.empty() ? "" : ",") + quoted(each);
      return "{\"name\":" + quoted(title) + ",\"compiler\":" + quoted(compiler) +
             ",\"golden\":" + quoted(golden_hash()) + ",\"hint\":" + quoted(hint) + ",\"sizes\":" + list(sizes) +
             ",\"edges\":[" + kinds + "],\"bound\":" + (operations ? "true" : "false") +
             ",\"inputs\":" + (inputs && size ? "true" : "false") + ",\"variants\":[" + rows + "]}";
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
      if (what == "source")
        return "{\"text\":" + quoted(variant->text(values)) + ",\"hash\":" + quoted(variant->hash(values)) + "}";
      const Function run = variant ? variant->bound(values, request.word("object")) : golden;
      return what == "check" ? check(run, request) : time(run, request);
    }

    // What a call returns; of a function without a result something that is always equal.
    using Result = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::decay_t<R>>;

    static std::string misdeclared(const std::string& why) { return "{\"misdeclared\":" + quoted(why) + "}"; }

    // Why `size` is wrong for arguments of n trips: calls would run choices for other sizes. Empty where it is right.
    std::string fault_of_size(const Arguments& arguments, std::int64_t n) const {
      const std::string made = " for the arguments of inputs(data, " + std::to_string(n) + "); correct size or inputs";
      try {
        const std::int64_t found = std::apply(size, arguments);
        return found == n ? std::string() : "size gives " + std::to_string(found) + made;
      } catch (const std::exception& error) {
        return std::string("size throws ") + error.what() + made;
      }
    }

    std::string check(const Function& run, const Json& request) const {
      const std::int64_t n = request.whole("size", 0);
      const auto seed = static_cast<std::uint64_t>(request.whole("seed", 0));
      const std::string kind = request.word("input");
      Bound allowed;
      Data right(n, seed, kind), ours(n, seed, kind), terms(n, seed, kind);
      const bool is_bounded = operations && magnitude;
      Result theirs{}, most{}, result{};
      try {
        const Arguments given = inputs(right, n);
        if (const std::string said = fault_of_size(given, n); !said.empty()) return misdeclared(said);
        theirs = result_of(golden, given);
      } catch (const std::exception& error) {
        return "{\"skipped\":" + quoted(std::string("the golden copy throws ") + error.what()) + "}";
      }
      const auto is_written = [](const auto& each) { return each->role != Role::input; };
      if (std::is_void_v<R> && std::none_of(right.arrays.begin(), right.arrays.end(), is_written))
        return misdeclared("nothing can be compared: the kernel returns nothing and has no outputs; "
                           "make its outputs by data.output or data.in_out");
      try {
        if (operations) allowed.operations = operations(n);
        if (is_bounded) most = result_of(magnitude, inputs(terms, n));
      } catch (const std::exception& error) {
        return misdeclared(std::string("operations or magnitude throws ") + error.what());
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
        if (const std::string said = fault_of_size(arguments, n); !said.empty()) return misdeclared(said);
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

} // namespace kumihimo::kernel

#endif
