#include "distributed_fft/library_exchange.hpp"

#include "threads/array.hpp"

#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::ArrayBox;
using fft::Complex, fft::PointBox;
using Array = threads::ThreadedArray<Complex>;

// A point is two doubles.
ArrayBox part_of_array(const PointBox& array, const PointBox& part, std::int64_t bands) {
  return {{bands, array.length(0), array.length(1), 2 * array.length(2)},
          {0, part.begin[0] - array.begin[0], part.begin[1] - array.begin[1], 2 * (part.begin[2] - array.begin[2])},
          {bands, part.length(0), part.length(1), 2 * part.length(2)}};
}

std::vector<ArrayBox> parts_of_array(const PointBox& array, const std::vector<PointBox>& others, std::int64_t bands) {
  std::vector<ArrayBox> parts;
  for (const PointBox& other : others) parts.push_back(part_of_array(array, fft::common_box(array, other), bands));
  return parts;
}

class LibraryTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, ExchangeRanks ranks) {
    auto made = std::make_unique<LibraryTransposition>();
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const PointBox &before = task.before[rank], &after = task.after[rank];
    if (Status s = ranks.all().agree(made->allocate(task.bands * before.points(), task.bands * after.points())); !s)
      return s.error();
    made->target_ = {fft::dense_brick(before, made->before_.data())};
    made->source_ = {fft::dense_brick(after, made->after_.data())};
    made->exchange_ = TRY(ranks.library_arrays(parts_of_array(before, task.after, task.bands),
                                               parts_of_array(after, task.before, task.bands)));
    const PointBox own = fft::common_box(before, after);
    made->bytes_ = static_cast<double>(sizeof(Complex)) * static_cast<double>(task.bands) *
                   static_cast<double>(before.points() - own.points());
    return std::unique_ptr<Transposition>(std::move(made));
  }

  Status start() override {
    return exchange_->run(reinterpret_cast<const double*>(before_.data()), reinterpret_cast<double*>(after_.data()));
  }
  double bytes_sent() const override { return bytes_; }

 private:
  Status allocate(std::int64_t before, std::int64_t after) {
    before_ = TRY(Array::zeros(before));
    after_ = TRY(Array::zeros(after));
    return Nothing{};
  }

  Array before_, after_;
  std::unique_ptr<application::ArrayExchange> exchange_;
  double bytes_ = 0;
};

} // namespace

Result<std::unique_ptr<Transposition>> exchange_by_library(const TranspositionTask& task, const TransformWay& way,
                                                           ExchangeRanks ranks) {
  if (way.single_precision)
    return not_applicable("the MPI library's datatypes do not turn doubles into floats", {}, "leave wire=float32 out");
  return LibraryTransposition::make(task, ranks);
}

} // namespace kumihimo::distributed_fft
