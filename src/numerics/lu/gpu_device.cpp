#include "lu/update_device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <utility>

namespace kumihimo::lu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* runtime_names[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
constexpr const char* cublas_names[] = {"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

// Of the CUDA runtime and of cuBLAS: all return 0 if they succeed.
struct CudaFunctions {
  int (*count)(int*) = nullptr;
  int (*use)(int) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*free)(void*) = nullptr;
  int (*copy)(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int) = nullptr;
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*dgemm)(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
               double*, int) = nullptr;
};
enum CopyKind : int { to_device = 1, from_device = 2 };
constexpr int as_it_is = 0; // CUBLAS_OP_N

Result<void*> opened(const std::string& path, std::span<const char* const> names, const char* what) {
  if (!path.empty()) {
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  } else {
    for (const char* const each : names)
      if (void* const library = dlopen(each, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return not_applicable(fmt::format("a GPU as device needs {}, and it is not here", what), {},
                        "install CUDA, or use device=PROCESSORS");
}

template <class Function>
Status find(Function& function, void* library, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) return not_applicable("the CUDA libraries must have all functions", std::string(name), "update them");
  return Nothing{};
}

Result<CudaFunctions> functions(const std::string& runtime, const std::string& cublas) {
  void* const cuda = TRY(opened(runtime, runtime_names, "the CUDA runtime (libcudart)"));
  void* const blas = TRY(opened(cublas, cublas_names, "cuBLAS (libcublas)"));
  CudaFunctions f;
  for (const Status& found : {find(f.count, cuda, "cudaGetDeviceCount"), find(f.use, cuda, "cudaSetDevice"),
                              find(f.allocate, cuda, "cudaMalloc"), find(f.free, cuda, "cudaFree"),
                              find(f.copy, cuda, "cudaMemcpy2D"), find(f.create, blas, "cublasCreate_v2"),
                              find(f.destroy, blas, "cublasDestroy_v2"), find(f.dgemm, blas, "cublasDgemm_v2")})
    if (!found) return found.error();
  return f;
}

Status succeeded(int code, const char* call) {
  if (code != 0) return failed(fmt::format("{} failed", call), fmt::format("code {}", code));
  return Nothing{};
}

// Memory of the GPU that grows.
class GpuMatrix {
 public:
  explicit GpuMatrix(const CudaFunctions& f) : f_(f) {}
  ~GpuMatrix() {
    if (memory_) f_.free(memory_);
  }
  GpuMatrix(const GpuMatrix&) = delete;
  GpuMatrix& operator=(const GpuMatrix&) = delete;
  // `rows` x `columns`, without gaps.
  Status fit(std::int64_t rows, std::int64_t columns) {
    rows_ = rows;
    columns_ = columns;
    const auto needed = static_cast<std::size_t>(rows * columns) * sizeof(double);
    if (needed <= bytes_) return Nothing{};
    if (memory_) f_.free(std::exchange(memory_, nullptr));
    bytes_ = 0;
    if (Status s = succeeded(f_.allocate(&memory_, needed), "cudaMalloc"); !s) return s;
    bytes_ = needed;
    return Nothing{};
  }
  Status put(const double* from, std::int64_t leading) {
    return succeeded(f_.copy(memory_, height(), from, bytes(leading), height(), width(), to_device), "cudaMemcpy2D");
  }
  Status get(double* to, std::int64_t leading) const {
    return succeeded(f_.copy(to, bytes(leading), memory_, height(), height(), width(), from_device), "cudaMemcpy2D");
  }
  double* data() const { return static_cast<double*>(memory_); }

 private:
  static std::size_t bytes(std::int64_t rows) { return static_cast<std::size_t>(rows) * sizeof(double); }
  std::size_t height() const { return bytes(rows_); } // of a column
  std::size_t width() const { return static_cast<std::size_t>(columns_); }
  const CudaFunctions& f_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::int64_t rows_ = 0, columns_ = 0;
};

class GpuDevice final : public UpdateDevice {
 public:
  GpuDevice(CudaFunctions functions, int number, DeviceLock& lock)
      : f_(functions), number_(number), lock_(lock), a_(f_), b_(f_), c_(f_) {}
  ~GpuDevice() override {
    if (running_.valid()) running_.wait();
    if (handle_) f_.destroy(handle_);
  }
  Status open() {
    if (Status s = succeeded(f_.use(number_), "cudaSetDevice"); !s) return s;
    return succeeded(f_.create(&handle_), "cublasCreate");
  }
  std::string name() const override { return fmt::format("GPU {} by cuBLAS", number_); }
  void start(const DeviceProduct& product) override {
    running_ = std::async(std::launch::async, [this, product, begin = Clock::now()]() -> Result<double> {
      lock_.lock();
      const Status done = multiply(product);
      lock_.unlock();
      if (!done) return done.error();
      return std::chrono::duration<double>(Clock::now() - begin).count();
    });
  }
  Result<double> wait() override { return running_.get(); }

 private:
  Status multiply(const DeviceProduct& p) {
    if (p.m < 1 || p.n < 1 || p.k < 1) return Nothing{};
    if (Status s = succeeded(f_.use(number_), "cudaSetDevice"); !s) return s; // of this thread
    if (Status s = a_.fit(p.m, p.k); !s) return s;
    if (Status s = b_.fit(p.k, p.n); !s) return s;
    if (Status s = c_.fit(p.m, p.n); !s) return s;
    if (Status s = a_.put(p.a, p.lda); !s) return s;
    if (Status s = b_.put(p.b, p.ldb); !s) return s;
    if (Status s = c_.put(p.c, p.ldc); !s) return s;
    const double minus = -1, one = 1;
    const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    if (Status s = succeeded(
            f_.dgemm(handle_, as_it_is, as_it_is, m, n, k, &minus, a_.data(), m, b_.data(), k, &one, c_.data(), m),
            "cublasDgemm");
        !s)
      return s;
    return c_.get(p.c, p.ldc); // waits for the product, which is in the same stream
  }

  CudaFunctions f_;
  int number_;
  DeviceLock& lock_;
  void* handle_ = nullptr;
  GpuMatrix a_, b_, c_;
  std::future<Result<double>> running_;
};

} // namespace

Result<std::unique_ptr<UpdateDevice>> gpu_device(int ordinal, DeviceLock& lock, const std::string& runtime,
                                                 const std::string& cublas) {
  const CudaFunctions found = TRY(functions(runtime, cublas));
  int gpus = 0;
  if (found.count(&gpus) != 0 || gpus < 1)
    return not_applicable("a GPU as device needs a GPU, and the CUDA runtime finds none", {},
                          "use device=PROCESSORS, or leave it out");
  auto made = std::make_unique<GpuDevice>(found, ordinal % gpus, lock);
  if (Status s = made->open(); !s) return s.error();
  return std::unique_ptr<UpdateDevice>(std::move(made));
}

} // namespace kumihimo::lu
