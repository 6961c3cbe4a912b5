// Busy time of links in bins of time, whose width doubles when they no longer reach to the end.
#pragma once

#include "packet/options.hpp"

namespace kumihimo::packet {

class Utilisation {
 public:
  Utilisation(std::size_t groups, std::size_t bins) : bins_(bins), busy_(groups * bins) {}

  void add(std::size_t group, Time start, Time length) {
    while ((start + length - 1) >> shift_ >= bins_) [[unlikely]] fold();
    Time* const busy = &busy_[group * bins_];
    for (Time end = start + length; start < end;) {
      const Time bin = start >> shift_, next = std::min(end, (bin + 1) << shift_);
      busy[bin] += next - start;
      start = next;
    }
  }

  Time width() const { return Time{1} << shift_; }
  Time busy(std::size_t group, std::size_t bin) const { return busy_[group * bins_ + bin]; }
  std::size_t bins() const { return bins_; }

 private:
  [[gnu::noinline]] void fold() {
    for (std::size_t group = 0; group < busy_.size(); group += bins_)
      for (std::size_t bin = 0; bin < bins_; ++bin) {
        const std::size_t from = 2 * bin;
        busy_[group + bin] =
            (from < bins_ ? busy_[group + from] : 0) + (from + 1 < bins_ ? busy_[group + from + 1] : 0);
      }
    ++shift_;
  }

  std::size_t bins_;
  std::vector<Time> busy_;
  unsigned shift_ = 10;
};

} // namespace kumihimo::packet
