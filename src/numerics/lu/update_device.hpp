// What takes a part of the updates beside the process's own processors: a GPU, or a group of processors. Several
// processes of a node may share one, by a lock.
#pragma once

#include "base/result.hpp"
#include "blas/blas.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::lu {

// C -= A B: A is m x k, B is k x n, by columns.
struct DeviceProduct {
  std::int64_t m = 0, n = 0, k = 0;
  const double* a = nullptr;
  std::int64_t lda = 1;
  const double* b = nullptr;
  std::int64_t ldb = 1;
  double* c = nullptr;
  std::int64_t ldc = 1;
};

// Held while a product runs on the device. Not the caller's threads: those of the device lock it.
class DeviceLock {
 public:
  virtual ~DeviceLock() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;
};

class UpdateDevice {
 public:
  virtual ~UpdateDevice() = default;
  virtual std::string name() const = 0;
  // Returns at once. One product at a time: wait() follows. The memory stays until then.
  virtual void start(const DeviceProduct& product) = 0;
  // Seconds from the start until the product was there, with the time in which others had the device. Error: the
  // device's library failed; C is then undefined.
  virtual Result<double> wait() = 0;
};

// A thread on each of these processors, which multiplies a share of the columns by a BLAS with one thread. `lock` and
// `blas` outlive it. Errors: no processors; one that this process may not use.
Result<std::unique_ptr<UpdateDevice>> processor_device(const std::vector<int>& processors, const blas::Blas& blas,
                                                       DeviceLock& lock);

// A GPU by cuBLAS, whose libraries are opened at run time. The matrices are copied to it and back for each product.
// `ordinal`: among the processes of the node, which take its GPUs in turn. `runtime`, `cublas`: paths; empty: the usual
// names. Errors: a library, or one of its functions, or a GPU is missing.
Result<std::unique_ptr<UpdateDevice>> gpu_device(int ordinal, DeviceLock& lock, const std::string& runtime = {},
                                                 const std::string& cublas = {});

// "0-3,8": processors of this machine, ascending. Error: it is no such list.
Result<std::vector<int>> parse_processors(const std::string& text);
// Binds the calling thread to some processors. Error: the system refuses.
Status bind_thread(const std::vector<int>& processors);

} // namespace kumihimo::lu
