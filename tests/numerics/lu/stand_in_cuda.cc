// A stand-in for the CUDA runtime and cuBLAS: "device" memory is memory. It knows two GPUs, and refuses memory that it
// did not give.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

namespace {
std::mutex mutex;
std::set<const void*> given;
bool is_given(const void* memory) {
  const std::scoped_lock held(mutex);
  return given.count(memory) > 0;
}
constexpr int invalid = 1;
} // namespace

extern "C" {

int cudaGetDeviceCount(int* count) {
  *count = 2;
  return 0;
}
int cudaSetDevice(int number) { return number < 2 ? 0 : invalid; }
int cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  const std::scoped_lock held(mutex);
  given.insert(*memory);
  return 0;
}
int cudaFree(void* memory) {
  const std::scoped_lock held(mutex);
  if (given.erase(memory) == 0) return invalid;
  std::free(memory);
  return 0;
}
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind) {
  if (!is_given(kind == 1 ? to : from) || width > to_pitch || width > from_pitch) return invalid;
  for (std::size_t i = 0; i < height; ++i)
    std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
  return 0;
}
int cublasCreate_v2(void** handle) {
  *handle = &given;
  return 0;
}
int cublasDestroy_v2(void*) { return 0; }
int cublasDgemm_v2(void* handle, int a_as, int b_as, int m, int n, int k, const double* alpha, const double* a, int lda,
                   const double* b, int ldb, const double* beta, double* c, int ldc) {
  if (handle != &given || a_as != 0 || b_as != 0 || !is_given(a) || !is_given(b) || !is_given(c)) return invalid;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i + l * lda] * b[l + j * ldb];
      c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc];
    }
  return 0;
}
}
