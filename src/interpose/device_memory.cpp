#include "interpose/device_memory.hpp"

#include "mpi_hooks/fast_path.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

// Never unloaded once they are found here.
struct Drivers {
  std::atomic<unsigned long long> looked_at = 0; // objects that had been loaded when they were looked for
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
    void* const image = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
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

// An address that HIP does not know may be an error, which the program must not find as its last one.
bool hip_holds(HipQuery query, const void* address) {
  const HipError peek = drivers.hip_peek, clear = drivers.hip_clear;
  const bool was_clear = peek && peek() == 0;
  HipAttributes found{};
  const bool known = query(&found, address) == 0;
  if (!known && was_clear && clear) clear();
  return known && (found.is_managed != 0 || (found.on_device && !found.on_host));
}

// As the kernel's drivers show it.
bool has_gpu() {
  constexpr std::array files{"/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/nvmap",
                             "/dev/kfd",       "/dev/dxg",         "/sys/module/nvidia"};
  return std::any_of(files.begin(), files.end(), [](const char* file) { return access(file, F_OK) == 0; });
}

} // namespace

void DeviceMemory::look() {
  static const bool gpu = has_gpu();
  if ((gpu || has_driver()) && !possible_.exchange(true)) mpi_hooks::FastPath::forget();
}

bool DeviceMemory::has_driver() {
  if (!drivers.any()) drivers.look();
  return drivers.any();
}

bool DeviceMemory::is_on_device(const void* address) {
  if (!address || !has_driver()) return false;
  const CudaQuery cuda = drivers.cuda;
  const HipQuery hip = drivers.hip;
  return (cuda && cuda_holds(cuda, address)) || (hip && hip_holds(hip, address));
}

} // namespace kumihimo::interpose
