#include "kernels/check.hpp"

#include "kernels/inputs.hpp"

#include <fmt/format.h>

#include <array>

namespace kumihimo::kernels {
namespace {

enum class Aliasing { distinct, target_is_left, target_is_right, all_same };
constexpr std::array aliasings = {Aliasing::distinct, Aliasing::target_is_left, Aliasing::target_is_right,
                                  Aliasing::all_same};
constexpr std::array<std::string_view, aliasings.size()> names = {
    "target of its own", "target equal to the left operand", "target equal to the right operand", "one array for all"};

// Bytes: every length up to the first, beyond the longest unrolled loop; then some from which loops may stream.
constexpr std::int64_t most_short = 400;
constexpr std::int64_t longer[] = {1023, 1024, 1025, 1101, 1188, 1215, 1303, 4103, 20'011};

struct CheckCase {
  DataType type;
  Operation op;
  std::int64_t count;
  Aliasing aliasing;
  int left_offset, right_offset, target_offset; // bytes from an aligned address

  std::string text() const {
    return fmt::format("{} of {} {}, {}, offsets {} {} {}", name_of(op), count, name_of(type),
                       names[static_cast<std::size_t>(aliasing)], left_offset, right_offset, target_offset);
  }
};

bool payload_is_free(const CheckCase& c) {
  return is_floating(c.type) && (c.op == Operation::sum || c.op == Operation::prod);
}

std::string fault(ReduceKernel kernel, const CheckCase& c, std::mt19937_64& random) {
  const auto left = operand(c.type, c.count, random);
  const auto right = c.aliasing == Aliasing::all_same ? left : operand(c.type, c.count, random);
  std::vector<unsigned char> expected(left.size());
  reduce_plain(c.type, c.op)(left.data(), right.data(), expected.data(), c.count);

  Guarded a(c.type, c.count, c.left_offset), b(c.type, c.count, c.right_offset), t(c.type, c.count, c.target_offset);
  a.fill(left);
  b.fill(right);
  Guarded& second = c.aliasing == Aliasing::all_same ? a : b;
  Guarded& target = c.aliasing == Aliasing::distinct ? t : c.aliasing == Aliasing::target_is_right ? b : a;
  kernel(a.data(), second.data(), target.data(), c.count);

  const auto at = first_difference(c.type, target.data(), expected.data(), c.count, payload_is_free(c));
  if (at >= 0) return fmt::format("{}: element {} differs from the golden copy", c.text(), at);
  if (!a.guards_intact() || !b.guards_intact() || !t.guards_intact()) return c.text() + ": it wrote outside the target";
  const auto untouched = [](Guarded& buffer, const std::vector<unsigned char>& values) {
    return values.empty() || std::memcmp(buffer.data(), values.data(), values.size()) == 0;
  };
  if (&target != &a && !untouched(a, left)) return c.text() + ": it changed the left operand";
  if (&target != &b && !untouched(b, right)) return c.text() + ": it changed the right operand";
  return {};
}

std::string copy_fault(CopyKernel kernel, std::int64_t bytes, int source_offset, int target_offset,
                       std::mt19937_64& random) {
  const auto where = [&](const char* wrong) {
    return fmt::format("copy of {} bytes, offsets {} {}: {}", bytes, source_offset, target_offset, wrong);
  };
  const auto values = operand(DataType::uint8, bytes, random);
  Guarded source(DataType::uint8, bytes, source_offset), target(DataType::uint8, bytes, target_offset);
  source.fill(values);
  kernel(source.data(), target.data(), bytes);
  const auto equal = [&](Guarded& found) {
    return first_difference(DataType::uint8, found.data(), values.data(), bytes, false) < 0;
  };
  if (!equal(target)) return where("the target differs from the source");
  if (!equal(source)) return where("it changed the source");
  kernel(source.data(), source.data(), bytes);
  if (!equal(source)) return where("it changed what was copied onto itself");
  return target.guards_intact() && source.guards_intact() ? std::string() : where("it wrote outside the target");
}

} // namespace

std::string first_fault(ReduceKernel kernel, DataType type, Operation op) {
  std::mt19937_64 random(static_cast<std::uint64_t>(type) * 100 + static_cast<std::uint64_t>(op));
  const auto all_forms = [&](std::int64_t count) {
    for (const Aliasing aliasing : aliasings) {
      const auto offset = [&] { return static_cast<int>(random() % 64); }; // mostly odd
      const CheckCase c{type, op, count, aliasing, offset(), offset(), offset()};
      if (std::string f = fault(kernel, c, random); !f.empty()) return f;
    }
    // With a target whose elements are aligned, as programs have it: those alone are streamed.
    const int aligned = static_cast<int>(random() % 8 * static_cast<std::uint64_t>(size_of(type)));
    return fault(kernel, CheckCase{type, op, count, Aliasing::distinct, 1, 3, aligned}, random);
  };
  const std::int64_t size = size_of(type);
  for (std::int64_t count = 0; count <= most_short / size; ++count)
    if (std::string f = all_forms(count); !f.empty()) return f;
  for (const std::int64_t bytes : longer)
    if (std::string f = all_forms((bytes + size - 1) / size); !f.empty()) return f;
  return {};
}

std::string first_fault(CopyKernel kernel) {
  std::mt19937_64 random(11);
  const auto all_offsets = [&](std::int64_t bytes) {
    for (const int target : {0, 1, 8, 63})
      if (std::string f = copy_fault(kernel, bytes, static_cast<int>(random() % 64), target, random); !f.empty())
        return f;
    return std::string();
  };
  for (std::int64_t bytes = 0; bytes <= most_short; ++bytes)
    if (std::string f = all_offsets(bytes); !f.empty()) return f;
  for (const std::int64_t bytes : longer)
    if (std::string f = all_offsets(bytes); !f.empty()) return f;
  return {};
}

} // namespace kumihimo::kernels
