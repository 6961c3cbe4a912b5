#include "interpose/device_memory.hpp"

#include "mpi_hooks/fast_path.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::interpose {
namespace {

// cuPointerGetAttributes, since CUDA 7: an address that it does not know leaves zeros and is no error.
enum CudaAttribute : int { cuda_memory_type = 2, cuda_is_managed = 8 };
enum CudaMemory : unsigned { cuda_host = 1 };
using CudaQuery = int (*)(unsigned count, const int* attributes, void** values, unsigned long long address);

// hipPointerGetAttributes. `type` has other values since ROCm 6, so it is not read.
struct HipAttributes {
  int type, device;
  void *on_device, *on_host;
  int is_managed;
  unsigned flags;
  std::array<std::uint64_t, 8> more; // than ROCm 7 has
};
using HipQuery = int (*)(HipAttributes*, const void* address);
using HipError = int (*)();

// Calls the next dlopen, because our hook expects a driver to be loaded.
void* handle_of(const std::string& path) {
  static const auto next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next ? next(path.c_str(), RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

// The query functions of loaded drivers. A found driver is never unloaded.
struct Drivers {
  std::atomic<unsigned long long> looked_at = 0; // libraries that were loaded at the last look
  std::atomic<CudaQuery> cuda = nullptr;
  std::atomic<HipQuery> hip = nullptr;
  std::atomic<HipError> hip_peek = nullptr, hip_clear = nullptr;

  bool any() const { return cuda || hip; }
  void look();
};
constinit Drivers drivers;

void Drivers::look() {
  struct Found {
    unsigned long long known, loaded = 0;
    std::vector<std::string> paths = {};
  } found{looked_at.load(std::memory_order_acquire)};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& all = *static_cast<Found*>(data);
        all.loaded = info->dlpi_adds;
        if (all.loaded == all.known) return 1; // nothing new
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (name.starts_with("libcuda.so") || name.starts_with("libamdhip64.so")) all.paths.emplace_back(path);
        return 0;
      },
      &found);
  if (found.loaded == found.known) return;
  for (const std::string& path : found.paths) {
    void* const image = handle_of(path);
    if (!image) continue;
    if (void* const query = dlsym(image, "cuPointerGetAttributes")) cuda = reinterpret_cast<CudaQuery>(query);
    if (void* const query = dlsym(image, "hipPointerGetAttributes")) {
      hip_peek = reinterpret_cast<HipError>(dlsym(image, "hipPeekAtLastError"));
      hip_clear = reinterpret_cast<HipError>(dlsym(image, "hipGetLastError"));
      hip = reinterpret_cast<HipQuery>(query);
    }
  }
  looked_at.store(found.loaded, std::memory_order_release);
}

bool cuda_holds(CudaQuery query, const void* address) {
  constexpr std::array attributes{static_cast<int>(cuda_memory_type), static_cast<int>(cuda_is_managed)};
  unsigned type = 0, managed = 0;
  std::array<void*, 2> values{&type, &managed};
  const int code =
      query(attributes.size(), attributes.data(), values.data(), reinterpret_cast<std::uintptr_t>(address));
  return code == 0 && (managed != 0 || (type != 0 && type != cuda_host));
}

// An address that HIP does not know may be an error; the program must not find it as its last error.
bool hip_holds(HipQuery query, const void* address) {
  const HipError peek = drivers.hip_peek, clear = drivers.hip_clear;
  const bool was_clear = peek && peek() == 0;
  HipAttributes found{};
  const bool known = query(&found, address) == 0;
  if (!known && was_clear && clear) clear();
  return known && (found.is_managed != 0 || (found.on_device && !found.on_host));
}

// By the files of the kernel's drivers.
bool has_gpu() {
  constexpr std::array files{"/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/nvmap",
                             "/dev/kfd",       "/dev/dxg",         "/sys/module/nvidia"};
  return std::any_of(files.begin(), files.end(), [](const char* file) { return access(file, F_OK) == 0; });
}

std::uint32_t this_thread() {
  static thread_local const auto id = static_cast<std::uint32_t>(gettid());
  return id;
}

// The longest time from a call of dlopen until the dynamic linker shows that it is loading.
constexpr std::chrono::seconds patience{10};
std::atomic<std::chrono::steady_clock::rep> loads_since = 0;

bool others_have_loaded() {
  const std::chrono::steady_clock::duration since(loads_since.load());
  return *static_cast<volatile const decltype(_r_debug.r_state)*>(&_r_debug.r_state) == r_debug::RT_CONSISTENT &&
         std::chrono::steady_clock::now().time_since_epoch() - since > patience;
}

} // namespace

void DeviceMemory::look() {
  static const bool gpu = has_gpu();
  const bool driver = has_driver();
  if ((gpu || driver) && !(possible_.fetch_or(always) & always)) mpi_hooks::FastPath::forget();
}

void DeviceMemory::expect_driver() {
  loads_since = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t before = possible_.load(), now = 0;
  do {
    const std::uint32_t by = thread_in(before);
    const std::uint64_t loads = (before + one_load) & ~(always | several);
    now = (before & always) | loads | (by == 0 || by == this_thread() ? this_thread() : several);
  } while (!possible_.compare_exchange_weak(before, now));
  mpi_hooks::FastPath::forget();
}

// The loading thread itself asks when it has finished, or from a constructor of the library, which is listed by then.
bool DeviceMemory::may_be_possible() {
  std::uint64_t before = possible_.load();
  if (thread_in(before) == 0) return (before & always) != 0;
  look();
  if (thread_in(before) != this_thread() && !others_have_loaded()) return true;
  const bool ended = possible_.compare_exchange_strong(before, before - thread_in(before)); // unless another has begun
  return !ended || (before & always) != 0;
}

bool DeviceMemory::has_driver() {
  drivers.look();
  return drivers.any();
}

bool DeviceMemory::is_on_device(const void* address) {
  if (!address || !drivers.any()) return false;
  const CudaQuery cuda = drivers.cuda;
  const HipQuery hip = drivers.hip;
  return (cuda && cuda_holds(cuda, address)) || (hip && hip_holds(hip, address));
}

} // namespace kumihimo::interpose
