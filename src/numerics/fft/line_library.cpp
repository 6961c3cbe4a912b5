#include "fft/line_library.hpp"

#include "base/locked_file.hpp"
#include "base/whole_file.hpp"
#include "measure/clock.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace kumihimo::fft {
namespace {

constexpr const char* names[] = {"libfftw3.so.3", "libfftw3.so", "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};

// FFTW 3.3 manual, sections 4.5.4 (guru64) and 4.6 (new-array execute).
struct Dimension {
  std::ptrdiff_t n, in_stride, out_stride;
};
constexpr unsigned measured = 0, estimated = 1U << 6;

// Axes that are repeated, without those of one point, and those that follow each other as one: MKL takes one alone.
std::vector<Dimension> joined(const std::vector<Dimension>& repeated) {
  std::vector<Dimension> all;
  for (const Dimension& each : repeated) {
    if (each.n == 1) continue;
    if (!all.empty() && all.back().in_stride == each.n * each.in_stride)
      all.back() = {all.back().n * each.n, each.in_stride, each.out_stride};
    else
      all.push_back(each);
  }
  return all;
}

// Of all functions of FFTW only those that execute a plan may be called by several threads (section 5.4).
std::mutex planner;

struct FftwFunctions {
  using Plan = void*;
  using Execute = void (*)(Plan, void*, void*);
  using PlanReal = Plan (*)(int, const Dimension*, int, const Dimension*, void*, void*, unsigned);
  Plan (*plan)(int, const Dimension*, int, const Dimension*, void*, void*, int, unsigned) = nullptr;
  PlanReal plan_to_half = nullptr, plan_to_reals = nullptr;
  Execute execute = nullptr, execute_to_half = nullptr, execute_to_reals = nullptr;
  void (*destroy)(Plan) = nullptr;
  void (*set_limit)(double) = nullptr;
  // Of what it has measured (section 4.7). A library with FFTW's interface may lack them.
  int (*import_file)(const char*) = nullptr;
  char* (*export_text)() = nullptr;
};

class FftwPlan final : public BlockPlan {
 public:
  FftwPlan(FftwFunctions::Plan plan, FftwFunctions::Execute execute, void (*destroy)(FftwFunctions::Plan))
      : plan_(plan), execute_(execute), destroy_(destroy) {}
  ~FftwPlan() override {
    const std::scoped_lock lock(planner);
    destroy_(plan_);
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  void run(Complex* block) const override { execute_(plan_, block, block); }

 private:
  FftwFunctions::Plan plan_;
  FftwFunctions::Execute execute_;
  void (*destroy_)(FftwFunctions::Plan);
};

class FftwLibrary final : public LineLibrary { // it stays loaded: plans have its code
 public:
  FftwLibrary(void* library, std::string name) : library_(library), name_(std::move(name)) {}

  Status find() {
    if (!take(functions_.plan, "fftw_plan_guru64_dft") || !take(functions_.execute, "fftw_execute_dft") ||
        !take(functions_.plan_to_half, "fftw_plan_guru64_dft_r2c") ||
        !take(functions_.execute_to_half, "fftw_execute_dft_r2c") ||
        !take(functions_.plan_to_reals, "fftw_plan_guru64_dft_c2r") ||
        !take(functions_.execute_to_reals, "fftw_execute_dft_c2r") || !take(functions_.destroy, "fftw_destroy_plan") ||
        !take(functions_.set_limit, "fftw_set_timelimit"))
      return wrong_value("the library of transforms must have FFTW's interface for doubles", name_, "name another one");
    static_cast<void>(take(functions_.import_file, "fftw_import_wisdom_from_filename"));
    static_cast<void>(take(functions_.export_text, "fftw_export_wisdom_to_string"));
    if (const auto* const version = static_cast<const char*>(dlsym(library_, "fftw_version")))
      name_ += fmt::format(" ({})", version);
    return Nothing{};
  }

  std::string name() const override { return name_; }
  void set_planning_seconds(double seconds) override { seconds_ = seconds; }
  double planning_seconds() const override { return spent_; }

  bool read_measurements(const std::string& path) override {
    const std::scoped_lock lock(planner);
    std::error_code none;
    if (!functions_.import_file || !std::filesystem::exists(path, none)) return false;
    const bool read = functions_.import_file(path.c_str()) != 0;
    read_ = measurements();
    return read;
  }

  Status keep_measurements(const std::string& path) override {
    const std::scoped_lock lock(planner);
    if (!functions_.import_file || measurements() == read_) return Nothing{};
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    const LockedFile of_file(path);
    functions_.import_file(path.c_str()); // what other processes have added
    WholeFile file(path);
    file.write(measurements());
    if (file.finish()) return Nothing{};
    return failed("the measured plans cannot be stored", path, "make the folder writable");
  }

  Result<std::unique_ptr<BlockPlan>> plan(const Triple& lengths, const std::vector<std::size_t>& axes,
                                          TransformDirection direction) override {
    const Triple strides = dense_strides(lengths[1], lengths[2]);
    const auto make = [&](const Dimensions& along, const Dimensions& repeated, void* block, unsigned effort) {
      return functions_.plan(static_cast<int>(along.size()), along.data(), static_cast<int>(repeated.size()),
                             repeated.data(), block, block, direction == TransformDirection::forward ? -1 : 1, effort);
    };
    return planned({lengths, strides, strides, strides[0] * lengths[0]}, axes, make, functions_.execute);
  }

  Result<std::unique_ptr<BlockPlan>> plan_real(const Triple& lengths, const std::vector<std::size_t>& axes,
                                               TransformDirection direction) override {
    const bool forward = direction == TransformDirection::forward;
    const std::int64_t half = half_spectrum(lengths[2]);
    const Triple points = dense_strides(lengths[1], half), reals = dense_strides(lengths[1], 2 * half);
    const auto make = [&](const Dimensions& along, const Dimensions& repeated, void* block, unsigned effort) {
      return (forward ? functions_.plan_to_half : functions_.plan_to_reals)(
          static_cast<int>(along.size()), along.data(), static_cast<int>(repeated.size()), repeated.data(), block,
          block, effort);
    };
    return planned({lengths, forward ? reals : points, forward ? points : reals, points[0] * lengths[0]}, axes, make,
                   forward ? functions_.execute_to_half : functions_.execute_to_reals);
  }

 private:
  using Dimensions = std::vector<Dimension>;
  struct PlannedBlock {
    Triple lengths, in_strides, out_strides;
    std::int64_t points; // of its memory
  };
  static Triple dense_strides(std::int64_t rows, std::int64_t row) { return {rows * row, row, 1}; }

  // make(transformed axes, repeated axes, memory that measuring overwrites, effort): a plan of the library, or null.
  template <class Make>
  Result<std::unique_ptr<BlockPlan>> planned(const PlannedBlock& of, const std::vector<std::size_t>& axes, Make make,
                                             FftwFunctions::Execute execute) {
    Dimensions transformed, repeated;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool along = std::find(axes.begin(), axes.end(), axis) != axes.end();
      (along ? transformed : repeated).push_back({of.lengths[axis], of.in_strides[axis], of.out_strides[axis]});
    }
    const std::size_t bytes = static_cast<std::size_t>(of.points) * sizeof(Complex);
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(alignment, rounded);
    if (!block)
      return failed(fmt::format("there is not enough memory for a block of {} bytes", bytes), {}, "use smaller blocks");
    const std::scoped_lock lock(planner);
    const double left = seconds_ - spent_;
    functions_.set_limit(left > 0 ? left : -1.0);
    const std::int64_t begin = measure::now_ns();
    void* const plan = make(transformed, joined(repeated), block, left > 0 ? measured : estimated);
    spent_ += measure::seconds_since(begin);
    functions_.set_limit(-1.0); // the program's own plans, by the same library, have none
    std::free(block);
    if (!plan)
      return failed(fmt::format("{} has no plan for blocks of {}x{}x{} points", name_, of.lengths[0], of.lengths[1],
                                of.lengths[2]));
    return std::unique_ptr<BlockPlan>(std::make_unique<FftwPlan>(plan, execute, functions_.destroy));
  }

  template <class Function>
  bool take(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  std::string measurements() const {
    char* const text = functions_.export_text ? functions_.export_text() : nullptr;
    std::string copy = text ? text : "";
    std::free(text);
    return copy;
  }

  void* library_;
  std::string name_, read_;
  FftwFunctions functions_;
  double seconds_ = 0, spent_ = 0;
};

} // namespace

Result<std::unique_ptr<LineLibrary>> LineLibrary::open(const std::string& path) {
  void* library = nullptr;
  std::string name = path;
  if (path.empty()) {
    for (const char* const each : names)
      if (!library && (library = dlopen(each, RTLD_NOW | RTLD_LOCAL))) name = each;
    if (!library)
      return not_applicable("transforms need FFTW or MKL, and neither is here", {},
                            "install one (Debian: libfftw3-double3), or name its library");
  } else if (!(library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))) {
    return wrong_value("the library of transforms must be one that can be loaded", dlerror(), "name another one");
  }
  auto opened = std::make_unique<FftwLibrary>(library, name);
  (void)TRY(opened->find());
  return std::unique_ptr<LineLibrary>(std::move(opened));
}

} // namespace kumihimo::fft
