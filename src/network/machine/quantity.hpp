// A number of a machine and where it comes from. The unit is in the type (Seconds, Bytes, BytesPerSecond, a count), so
// that a rate is never read as a time; the source travels with the number to every report that uses it.
#pragma once

#include "base/datatype.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo {

// published: in the literature or the vendor's documents; measured: by us or by a data set that is named; fitted: the
// value at which predictions are nearest to measured times, and the source says to which; assumed: nobody's figure was
// found, and the source says why this one was taken.
enum class Provenance : std::uint8_t { published, measured, fitted, assumed };
inline constexpr std::array<Provenance, 4> provenances = {Provenance::published, Provenance::measured,
                                                          Provenance::fitted, Provenance::assumed};
std::string_view name_of(Provenance provenance);

template <class T>
struct Quantity {
  T value{};
  Provenance provenance = Provenance::assumed;
  std::string source;
};

// Which reductions something can do.
struct OperationSet {
  std::uint32_t bits = 0; // of each Operation, one
  bool contains(Operation op) const { return (bits >> static_cast<unsigned>(op) & 1U) != 0; }
  void insert(Operation op) { bits |= 1U << static_cast<unsigned>(op); }
  bool operator==(const OperationSet&) const = default;
};

// Numbers with units, as machine files write them: "5 GB/s", "100 ns", "1 MiB". Prefixes k M G T are powers of 1000, Ki
// Mi Gi Ti of 1024; times are ns, us (or µs), ms, s. Errors: anything but one positive finite number and one unit of
// the right kind; a size that is no whole number of bytes.
Result<Bytes> parse_bytes(std::string_view text);
Result<Seconds> parse_seconds(std::string_view text);
Result<BytesPerSecond> parse_rate(std::string_view text);
Result<FlopsPerSecond> parse_flop_rate(std::string_view text); // "16 Gflop/s"

// "sum max": names of built-in operations with a blank between. Errors: none, another name, one twice.
Result<OperationSet> parse_operations(std::string_view text);

// For people, in the largest unit that leaves at least 1: "5 GB/s", "100 ns", "1 MiB"; read back by the parsers to the
// same value.
std::string text_of(Bytes bytes);
std::string text_of(Seconds seconds);
std::string text_of(BytesPerSecond rate);
std::string text_of(FlopsPerSecond rate);
std::string text_of(std::int64_t count);
std::string text_of(OperationSet operations);

} // namespace kumihimo
