#include "kernels/copy.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>
#endif

namespace kumihimo::kernels {

// Of rows of variants.def.
CopyKernel copy_plain_of(const ParameterValues& values);
CopyKernel copy_streaming_of(const ParameterValues& values);
std::span<const TakenParameter> copy_streaming_parameters();

namespace {

// Of the first processor's cache at `index`, as Linux describes it ("32768K"); 0 if there is none. sysconf is of no
// use: in virtual machines glibc reports the sum of the host's caches.
std::int64_t cache_bytes(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  std::int64_t size = 0;
  char unit = ' ';
  if (!(file >> size)) return 0;
  file >> unit;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

std::int64_t last_level_cache_bytes() {
  std::int64_t largest = 0;
  for (int index = 0; const std::int64_t bytes = cache_bytes(index); ++index) largest = std::max(largest, bytes);
  return largest > 0 ? largest : 32 << 20; // the system does not say
}

constexpr std::string_view streamed = "streamed", cached = "cached";

#if defined(__x86_64__)
// Of AMD's design.
bool is_zen() {
  unsigned most = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &most, &ebx, &ecx, &edx) == 0) return false;
  std::array<char, 12> vendor{};
  for (std::size_t i = 0; const unsigned part : {ebx, edx, ecx}) std::memcpy(&vendor[4 * i++], &part, 4);
  const std::string_view name(vendor.data(), vendor.size());
  return name == "AuthenticAMD" || name == "HygonGenuine";
}

// Whole cache lines, with non-temporal stores; `target` is aligned to a line. Not ordered with later stores: see fence.
// `ahead`: bytes from the loads to what is prefetched; 0: nothing is.
template <std::int64_t ahead>
void stream_lines(const char* source, char* target, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 64) {
    if constexpr (ahead > 0) _mm_prefetch(source + at + ahead, _MM_HINT_NTA);
    const auto from = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at) + i); };
    const auto to = [&](int i) { return reinterpret_cast<__m128i*>(target + at) + i; };
    const __m128i a = from(0), b = from(1), c = from(2), d = from(3);
    _mm_stream_si128(to(0), a);
    _mm_stream_si128(to(1), b);
    _mm_stream_si128(to(2), c);
    _mm_stream_si128(to(3), d);
  }
}

// What follows, a flag that tells another process of the data for example, must not overtake it.
void fence() { _mm_sfence(); }
#else
bool is_zen() { return false; }
template <std::int64_t>
void stream_lines(const char* source, char* target, std::int64_t bytes) {
  std::memcpy(target, source, static_cast<std::size_t>(bytes));
}
void fence() {}
#endif

// Bytes up to the next cache line, at most `bytes`.
std::int64_t to_line(const void* target, std::int64_t bytes) {
  return std::min(bytes, static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(target) & 63));
}

} // namespace

std::int64_t streaming_threshold_bytes() {
  static const std::int64_t bytes = [] {
    const char* wish = std::getenv("KUMIHIMO_STREAMING_BYTES");
    const std::int64_t chosen = wish ? std::strtoll(wish, nullptr, 10) : 0;
    return std::max(chosen > 0 ? chosen : last_level_cache_bytes() / 4, smallest_streaming_threshold_bytes);
  }();
  return bytes;
}

bool streams_to_other_cores() {
  static const bool streams = [] {
    const char* wish = std::getenv("KUMIHIMO_SHARED_STORES");
    if (wish && (wish == streamed || wish == cached)) return wish == streamed;
    return is_zen();
  }();
  return streams;
}

namespace {

void copy_plain(const void* source, void* target, std::int64_t bytes) {
  if (bytes > 0 && source != target) std::memcpy(target, source, static_cast<std::size_t>(bytes));
}

// Prefetchers of some processors follow loads beside stores that bypass the caches less far than they could.
constexpr Parameter prefetch{.name = "prefetch",
                             .meaning = "Prefetch distance in bytes, 0 for none",
                             .symbol = "BYTES",
                             .min = 0,
                             .max = 4096,
                             .tuning_values = {1024, 4096}};

template <std::int64_t ahead>
void copy_streamed(const void* source, void* target, std::int64_t bytes) {
  if (bytes <= 0 || source == target) return;
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  const std::int64_t head = to_line(to, bytes), lines = (bytes - head) / 64 * 64, tail = bytes - head - lines;
  std::memcpy(to, from, static_cast<std::size_t>(head));
  stream_lines<ahead>(from + head, to + head, lines);
  std::memcpy(to + head + lines, from + head + lines, static_cast<std::size_t>(tail));
  fence();
}

} // namespace

void copy_streaming(const void* source, void* target, std::int64_t bytes) { copy_streamed<0>(source, target, bytes); }

CopyKernel copy_plain_of(const ParameterValues&) { return copy_plain; }

std::span<const TakenParameter> copy_streaming_parameters() {
  static constexpr TakenParameter taken[] = {{&prefetch, 0}};
  return taken;
}

CopyKernel copy_streaming_of(const ParameterValues& values) {
  switch (values.at(std::string(prefetch.name))) {
  case 0: return copy_streaming;
  case 1024: return copy_streamed<1024>;
  case 4096: return copy_streamed<4096>;
  default: return nullptr;
  }
}

} // namespace kumihimo::kernels
