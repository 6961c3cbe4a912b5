// Memory of a real GPU, where there is one. The driver is loaded as programs load it.
#include "interpose/device_memory.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace kumihimo::interpose {
namespace {

using Address = unsigned long long;

template <class F>
F* in(void* driver, const char* name) {
  return reinterpret_cast<F*>(dlsym(driver, name));
}

TEST(DeviceMemory, OfARealDeviceManagedAndOnTheDeviceButNotPinned) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) GTEST_SKIP() << "no libcuda.so.1 on this machine";
  int device = 0;
  void* context = nullptr;
  if (in<int(unsigned)>(driver, "cuInit")(0) != 0 || in<int(int*, int)>(driver, "cuDeviceGet")(&device, 0) != 0)
    GTEST_SKIP() << "no device for libcuda.so.1 on this machine";
  ASSERT_EQ(in<int(void**, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, device), 0);
  ASSERT_EQ(in<int(void*)>(driver, "cuCtxSetCurrent")(context), 0);
  constexpr std::size_t bytes = 1 << 16;
  Address there = 0, managed = 0;
  void* pinned = nullptr;
  ASSERT_EQ(in<int(Address*, std::size_t)>(driver, "cuMemAlloc_v2")(&there, bytes), 0);
  ASSERT_EQ(in<int(Address*, std::size_t, unsigned)>(driver, "cuMemAllocManaged")(&managed, bytes, 1), 0);
  ASSERT_EQ(in<int(void**, std::size_t)>(driver, "cuMemAllocHost_v2")(&pinned, bytes), 0);
  const std::vector<std::byte> plain(bytes);
  DeviceMemory::look();
  EXPECT_TRUE(DeviceMemory::holds(reinterpret_cast<void*>(there + 100)));
  EXPECT_TRUE(DeviceMemory::holds(reinterpret_cast<void*>(managed + 100)));
  EXPECT_FALSE(DeviceMemory::holds(pinned));
  EXPECT_FALSE(DeviceMemory::holds(plain.data()));
}

} // namespace
} // namespace kumihimo::interpose
