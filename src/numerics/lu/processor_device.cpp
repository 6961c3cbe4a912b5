#include "base/text_parsing.hpp"
#include "lu/update_device.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace kumihimo::lu {
namespace {

using Clock = std::chrono::steady_clock;

// Threads sleep until there is a product. The first one holds the lock for all of them.
class ProcessorDevice final : public UpdateDevice {
 public:
  ProcessorDevice(std::vector<int> processors, const blas::Blas& blas, DeviceLock& lock)
      : processors_(std::move(processors)), blas_(blas), lock_(lock),
        together_(static_cast<std::ptrdiff_t>(processors_.size())) {
    for (std::size_t number = 0; number < processors_.size(); ++number)
      threads_.emplace_back([this, number] { serve(number); });
  }
  ~ProcessorDevice() override {
    {
      const std::scoped_lock held(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }

  std::string name() const override {
    return fmt::format("processor{} {}", processors_.size() > 1 ? "s" : "", fmt::join(processors_, " "));
  }
  void start(const DeviceProduct& product) override {
    {
      const std::scoped_lock held(mutex_);
      product_ = product;
      begin_ = Clock::now();
      ++started_;
    }
    changed_.notify_all();
  }
  Result<double> wait() override {
    std::unique_lock held(mutex_);
    changed_.wait(held, [&] { return done_ == started_; });
    return seconds_;
  }

 private:
  void serve(std::size_t number) {
    (void)bind_thread({processors_[number]}); // it was possible when the device was made
    for (std::uint64_t next = 1;; ++next) {
      {
        std::unique_lock held(mutex_);
        changed_.wait(held, [&] { return ends_ || started_ == next; });
        if (started_ != next) return;
      }
      if (number == 0) lock_.lock();
      together_.arrive_and_wait();
      multiply_share(static_cast<std::int64_t>(number));
      together_.arrive_and_wait();
      if (number != 0) continue;
      lock_.unlock();
      {
        const std::scoped_lock held(mutex_);
        seconds_ = std::chrono::duration<double>(Clock::now() - begin_).count();
        done_ = next;
      }
      changed_.notify_all();
    }
  }
  void multiply_share(std::int64_t number) const {
    const DeviceProduct& p = product_;
    const auto threads = static_cast<std::int64_t>(processors_.size());
    const std::int64_t first = p.n * number / threads, end = p.n * (number + 1) / threads;
    blas_.multiply(p.m, end - first, p.k, -1, p.a, p.lda, p.b + first * p.ldb, p.ldb, 1, p.c + first * p.ldc, p.ldc);
  }

  std::vector<int> processors_;
  const blas::Blas& blas_;
  DeviceLock& lock_;
  std::barrier<> together_;
  std::mutex mutex_;
  std::condition_variable changed_;
  DeviceProduct product_;
  Clock::time_point begin_;
  std::uint64_t started_ = 0, done_ = 0;
  double seconds_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

} // namespace

Result<std::vector<int>> parse_processors(const std::string& text) {
  const auto wrong = [&] {
    return wrong_value("processors must be numbers and ranges such as 0-3,8", fmt::format("'{}'", text));
  };
  std::vector<int> found;
  std::string_view rest = text;
  do {
    const std::optional<std::int32_t> first = take_count(rest);
    std::optional<std::int32_t> last = first;
    if (first && take(rest, "-")) last = take_count(rest);
    if (!first || !last || *last < *first || *last >= CPU_SETSIZE) return wrong();
    for (int each = *first; each <= *last; ++each) found.push_back(each);
  } while (take(rest, ","));
  if (!rest.empty()) return wrong();
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Status bind_thread(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : processors) CPU_SET(each, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    return wrong_value("processors must be some that this process may use",
                       fmt::format("{}", fmt::join(processors, " ")), "name others");
  return Nothing{};
}

Result<std::unique_ptr<UpdateDevice>> processor_device(const std::vector<int>& processors, const blas::Blas& blas,
                                                       DeviceLock& lock) {
  if (processors.empty()) return wrong_value("a device must have at least one processor", 0);
  Status usable = Nothing{};
  for (const int each : processors)
    std::thread([&] {
      if (Status bound = bind_thread({each}); !bound) usable = bound;
    }).join();
  if (!usable) return usable.error();
  return std::unique_ptr<UpdateDevice>(std::make_unique<ProcessorDevice>(processors, blas, lock));
}

} // namespace kumihimo::lu
