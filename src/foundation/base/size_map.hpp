// Values by size. Every size has exactly one value; a size class is a range of sizes with the same value.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace kumihimo {

// Both ends are included. The unit is the problem's own, bytes for collectives and kernels.
struct SizeRange {
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  constexpr bool has(std::int64_t size) const { return size >= from && size <= to; }
  constexpr bool operator==(const SizeRange&) const = default;
};

template <class Value>
class SizeMap {
 public:
  struct Class {
    std::int64_t to; // included; the class begins behind the previous one, the first at 0
    Value value;
    bool operator==(const Class&) const = default;
  };

  explicit SizeMap(Value everywhere = {}) : classes_{{SizeRange{}.to, everywhere}} {}

  const Value& at(std::int64_t size) const {
    std::size_t i = 0;
    while (size > classes_[i].to) ++i;
    return classes_[i].value;
  }
  // Replaces the values of these sizes.
  void set(SizeRange range, const Value& value) {
    std::vector<Class> before;
    before.swap(classes_);
    std::int64_t first = 0;
    for (const Class& old : before) {
      if (first < range.from) add(old.to < range.from ? old.to : range.from - 1, old.value);
      if (range.has(first) || (first < range.from && old.to >= range.from))
        add(old.to < range.to ? old.to : range.to, value);
      if (old.to > range.to) add(old.to, old.value);
      if (old.to == SizeRange{}.to) break;
      first = old.to + 1;
    }
  }
  // Replaces the values of those of these sizes that no earlier give() had: the first one that has a size decides.
  void give(SizeRange range, const Value& value) {
    std::vector<SizeRange> left = {range};
    for (const SizeRange& given : given_) {
      std::vector<SizeRange> rest;
      for (const SizeRange& each : left) {
        if (each.from < given.from) rest.push_back({each.from, each.to < given.from ? each.to : given.from - 1});
        if (each.to > given.to) rest.push_back({each.from > given.to ? each.from : given.to + 1, each.to});
      }
      left.swap(rest);
    }
    for (const SizeRange& each : left) set(each, value);
    given_.push_back(range);
  }
  const std::vector<Class>& classes() const { return classes_; } // ascending; neighbours differ

 private:
  void add(std::int64_t to, const Value& value) {
    if (!classes_.empty() && classes_.back().value == value)
      classes_.back().to = to;
    else
      classes_.push_back({to, value});
  }
  std::vector<Class> classes_;
  std::vector<SizeRange> given_;
};

} // namespace kumihimo
