#include "amg/smoothed_aggregation.hpp"

#include "threads/team.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <vector>

#if KUMIHIMO_AMGCL
// clang-format off: first what AMGCL's adapter uses and does not include
#include <boost/range.hpp>
#include <boost/tuple/tuple.hpp>
// clang-format on
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/relaxation/spai0.hpp>
#endif

namespace kumihimo::amg {

#if KUMIHIMO_AMGCL
namespace {

using Backend = amgcl::backend::builtin<double>;
using Hierarchy = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;

// From 5 threads on AMGCL multiplies matrices by another algorithm, which adds in another order.
constexpr int most_threads_of_set_up = 4;

// AMGCL's row and column numbers are of pointer size.
struct MatrixCopy {
  std::vector<std::ptrdiff_t> begins, columns;
  std::vector<double> values;

  explicit MatrixCopy(const CompressedRows& matrix)
      : begins(matrix.begins.begin(), matrix.begins.end()), columns(matrix.columns.begin(), matrix.columns.end()),
        values(matrix.values.begin(), matrix.values.end()) {}
};

class OfAmgcl final : public SmoothedAggregation {
 public:
  OfAmgcl(std::int64_t rows, const MatrixCopy& copy)
      : rows_(rows), hierarchy_(boost::tie(rows_, copy.begins, copy.columns, copy.values)),
        // Levels shrink by 10 to 30, so the first one and its grid transfers dominate: a smoothing before and one
        // after, the residual between, and the prolongation there and back.
        bytes_(3 * (16 * static_cast<std::int64_t>(copy.values.size()) + 40 * rows_)) {}

  void apply(const double* r, double* z) const override {
    auto result = boost::make_iterator_range(z, z + rows_);
    hierarchy_.apply(boost::make_iterator_range(r, r + rows_), result);
  }
  std::int64_t bytes() const override { return bytes_; }

 private:
  std::int64_t rows_;
  Hierarchy hierarchy_;
  std::int64_t bytes_;
};

} // namespace

bool is_available() { return true; }

Result<std::unique_ptr<SmoothedAggregation>> SmoothedAggregation::make(const CompressedRows& matrix) {
  try {
    std::unique_ptr<SmoothedAggregation> made;
    threads::run_apart(std::min(threads::count(), most_threads_of_set_up),
                       [&] { made = std::make_unique<OfAmgcl>(matrix.count(), MatrixCopy(matrix)); });
    return made;
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory for algebraic multigrid", {}, "choose another preconditioner");
  } catch (const std::exception& error) {
    return failed("AMGCL refuses the matrix", error.what(), "choose another preconditioner");
  }
}

#else

bool is_available() { return false; }

Result<std::unique_ptr<SmoothedAggregation>> SmoothedAggregation::make(const CompressedRows&) {
  return not_applicable("the variant amg needs AMGCL, which this build lacks", {},
                        "install libboost-dev, and run make build where PyPI can be reached");
}

#endif

} // namespace kumihimo::amg
