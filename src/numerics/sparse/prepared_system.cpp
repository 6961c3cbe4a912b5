#include "sparse/prepared_system.hpp"

#include "sparse/memory.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace kumihimo::sparse {
namespace {

constexpr std::int64_t few_rows_with_ghosts = 1024; // a parallel region takes longer than so many rows

template <class Use>
void for_parts(const RowNumbering& numbering, int thread, int team, Use use) {
  const threads::IndexRange mine = threads::part(numbering.parts, thread, team);
  for (std::int64_t p = mine.begin; p < mine.end; ++p) use(static_cast<int>(p));
}

} // namespace

// One parallel region; work(block, range, scratch) for each block of the thread, in the order of memory.
template <class Work>
void PreparedSystem::for_own_blocks(Work work) const {
  const int team = std::min(threads::count(), scratch_threads_);
#pragma omp parallel num_threads(team)
  {
    const int thread = omp_get_thread_num();
    double* const scratch = const_cast<double*>(scratch_.data()) + thread * longest_block_;
    numbering_.in_order(threads::part(numbering_.parts, thread, omp_get_num_threads()),
                        [&](int c, int p) { work(numbering_.block_of(c, p), numbering_.at(c, p), scratch); });
  }
}

// One parallel region; work(block, range, scratch) colour by colour, with a barrier after each.
template <class Work>
static void sweep_colours(const RowNumbering& numbering, int team, double* all_scratch, std::int64_t longest,
                          bool forward, Work work) {
#pragma omp parallel num_threads(team)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    double* const scratch = all_scratch + thread * longest;
    for (int k = 0; k < numbering.colours; ++k) {
      const int c = forward ? k : numbering.colours - 1 - k;
      for_parts(numbering, thread, threads,
                [&](int p) { work(numbering.block_of(c, p), numbering.at(c, p), scratch); });
#pragma omp barrier
    }
  }
}

void PreparedSystem::to_system(const double* from, double* to) const {
  const std::int64_t n = rows();
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[numbering_.old_of_new[i]];
}

void PreparedSystem::from_system(const double* from, double* to) const {
  const std::int64_t n = rows();
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[numbering_.new_of_old[i]];
}

void PreparedSystem::multiply_rows(const double* x, double* y) const {
  RowVectors v{.gathered = x, .diagonal = diagonal_.data(), .out = y};
  const RowLayout layout = variant_->layout;
  const Loop<double> product = set_->loop<double>(layout, Finish::product),
                     add = set_->loop<double>(layout, Finish::add);
  const bool two = variant_->copies == Copies::two;
  for_own_blocks([&](std::int64_t block, threads::IndexRange of, double* scratch) {
    RowVectors mine = v;
    mine.scratch = scratch;
    product(two ? both_ : halves_.lower, block, of, mine);
    if (!two) add(halves_.upper, block, of, mine);
  });
}

void PreparedSystem::add_ghosts(const double* x, double* y) const {
  const auto rows_with_ghosts = static_cast<std::int64_t>(ghost_rows_.size());
  const int team = rows_with_ghosts < few_rows_with_ghosts ? 1 : threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::int64_t g = 0; g < rows_with_ghosts; ++g)
    for (std::int64_t k = ghost_entries_.begin[g]; k < ghost_entries_.begin[g + 1]; ++k)
      y[ghost_rows_[g]] += ghost_entries_.value[k] * x[ghost_entries_.column[k]];
}

template <class Value>
void PreparedSystem::sweep(const StoredRows<Value>& lower, const StoredRows<Value>& upper, const double* r,
                           double* z) const {
  const Loop<Value> forward = set_->loop<Value>(variant_->layout, Finish::forward);
  const Loop<Value> backward = set_->loop<Value>(variant_->layout, Finish::backward);
  const RowVectors v{.gathered = z, .diagonal = inverse_pivots_.data(), .in = r, .out = z};
  const int team = std::min(threads::count(), scratch_threads_);
#pragma omp parallel num_threads(team)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    RowVectors mine = v;
    mine.scratch = const_cast<double*>(scratch_.data()) + thread * longest_block_;
    for (int c = 0; c < numbering_.colours; ++c) {
      for_parts(numbering_, thread, threads,
                [&](int p) { forward(lower, numbering_.block_of(c, p), numbering_.at(c, p), mine); });
#pragma omp barrier
    }
    // The last colour has no upper entries.
    for (int c = numbering_.colours - 2; c >= 0; --c) {
      for_parts(numbering_, thread, threads,
                [&](int p) { backward(upper, numbering_.block_of(c, p), numbering_.at(c, p), mine); });
#pragma omp barrier
    }
  }
}

void PreparedSystem::precondition(const double* r, double* z) const {
  if (variant_->factor_type == FactorType::float32)
    sweep(float_lower_, float_upper_, r, z);
  else
    sweep(halves_.lower, halves_.upper, r, z);
}

// In the order of the colours, so that the number of threads does not matter.
double PreparedSystem::sum_of_blocks() const {
  double sum = 0;
  for (const double part : partial_) sum += part;
  return sum;
}

void PreparedSystem::search_direction(double beta, const double* r, double* p, double* t) const {
  const Loop<double> loop = set_->loop<double>(variant_->layout, Finish::transformed_backward);
  sweep_colours(numbering_, std::min(threads::count(), scratch_threads_), const_cast<double*>(scratch_.data()),
                longest_block_, false, [&](std::int64_t block, threads::IndexRange of, double* scratch) {
                  loop(scaled_.upper, block, of,
                       {.gathered = t, .in = r, .out = t, .also = p, .beta = beta, .scratch = scratch});
                });
}

double PreparedSystem::curvature(const double* p, double* t, double* u) const {
  const Loop<double> loop = set_->loop<double>(variant_->layout, Finish::transformed_forward);
  double* const partial = const_cast<double*>(partial_.data());
  sweep_colours(numbering_, std::min(threads::count(), scratch_threads_), const_cast<double*>(scratch_.data()),
                longest_block_, true, [&](std::int64_t block, threads::IndexRange of, double* scratch) {
                  partial[block] = loop(
                      scaled_.lower, block, of,
                      {.gathered = u, .diagonal = excess_.data(), .in = p, .out = u, .also = t, .scratch = scratch});
                });
  return sum_of_blocks();
}

double PreparedSystem::advance(double alpha, const double* t, const double* u, double* r, double* x) const {
  double* const partial = const_cast<double*>(partial_.data());
  for_own_blocks([&](std::int64_t block, threads::IndexRange of, double*) {
    partial[block] = set_->update(of, alpha, t, u, r, x);
  });
  return sum_of_blocks();
}

void PreparedSystem::transform_residual(const double* r, double* transformed) const {
  const Loop<double> forward = set_->loop<double>(variant_->layout, Finish::forward);
  // (D + L) y = r; then S y, since S^-1 (D + L) S^-1 is the scaled I + L.
  sweep_colours(numbering_, std::min(threads::count(), scratch_threads_), const_cast<double*>(scratch_.data()),
                longest_block_, true, [&](std::int64_t block, threads::IndexRange of, double* scratch) {
                  forward(halves_.lower, block, of,
                          {.gathered = transformed,
                           .diagonal = inverse_pivots_.data(),
                           .in = r,
                           .out = transformed,
                           .scratch = scratch});
                });
  for_own_blocks([&](std::int64_t, threads::IndexRange of, double*) {
    for (std::int64_t i = of.begin; i < of.end; ++i) transformed[i] *= scale_[i];
  });
}

double PreparedSystem::residual_norm(const double* transformed) const {
  const Loop<double> loop = set_->loop<double>(variant_->layout, Finish::residual);
  double* const partial = const_cast<double*>(partial_.data());
  for_own_blocks([&](std::int64_t block, threads::IndexRange of, double* scratch) {
    partial[block] = loop(scaled_.lower, block, of,
                          {.gathered = transformed, .diagonal = scale_.data(), .in = transformed, .scratch = scratch});
  });
  return std::sqrt(sum_of_blocks());
}

void PreparedSystem::add_solution(const double* transformed, double* x) const {
  for_own_blocks([&](std::int64_t, threads::IndexRange of, double*) {
    for (std::int64_t i = of.begin; i < of.end; ++i) x[i] += transformed[i] / scale_[i];
  });
}

std::int64_t PreparedSystem::bytes_of_product() const {
  const std::int64_t matrix = variant_->copies == Copies::two ? both_.bytes() : halves_.bytes();
  const std::int64_t ghost_entries = ghost_entries_.entries() * 12 + std::int64_t{ghosts()} * 8;
  return matrix + ghost_entries + std::int64_t{rows()} * 8 * 3; // diagonal, x, y
}

std::int64_t PreparedSystem::bytes_of_preconditioner() const {
  const std::int64_t factor =
      variant_->factor_type == FactorType::float32 ? float_lower_.bytes() + float_upper_.bytes() : halves_.bytes();
  return factor + std::int64_t{rows()} * 8 * 3; // r, pivots, z
}

std::int64_t PreparedSystem::bytes_of_padding() const {
  return both_.padded_bytes() + halves_.padded_bytes() + float_lower_.padded_bytes() + float_upper_.padded_bytes() +
         scaled_.padded_bytes();
}

std::int64_t PreparedSystem::bytes_of_transformed_iteration() const {
  return scaled_.bytes() + std::int64_t{rows()} * 8 * 6; // r, p, t, u, e, x
}

FactorChoice factor_choice(const SparseVariant& variant, const ParameterValues& parameters) {
  return {.colours = parameters.at("colours"),
          .order = variant.order,
          .sigma = variant.layout == RowLayout::sell ? static_cast<int>(parameters.at("sigma")) : 1,
          .off_diagonals = variant.copies == Copies::two ? OffDiagonals::own : OffDiagonals::of_matrix};
}

class Preparation {
 public:
  Preparation(const CrsMatrix& matrix, const SparseVariant& variant, const PrepareOptions& options)
      : a_(matrix), variant_(variant), options_(options) {}

  Result<PreparedSystem> run() {
    const auto start = std::chrono::steady_clock::now();
    TRY(check());
    const std::int64_t chunk = variant_.layout == RowLayout::sell      ? value_["chunk"]
                               : variant_.layout == RowLayout::streams ? value_["streams"]
                                                                       : 1;
    chunk_ = static_cast<int>(chunk);
    Factorisations own, &factorisations = options_.factorisations ? *options_.factorisations : own;
    const std::shared_ptr<const FactoredMatrix> factored =
        TRY(factorisations.of(a_, factor_choice(variant_, value_), options_.colouring));
    made_.kept_seconds_ = factorisations.saved_seconds();
    made_.numbering_ = factored->numbering;
    for (const threads::IndexRange& block : made_.numbering_.block)
      made_.longest_block_ = std::max(made_.longest_block_, (block.size() + 7) / 8 * 8);
    TRY(store_matrix(factored->parts, factored->factor));
    if (made_.is_transformed()) TRY(store_scaled(factored->parts, factored->factor));
    TRY(store_rest(factored->parts));
    made_.set_up_seconds_ =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() + made_.kept_seconds_;
    return std::move(made_);
  }

 private:
  Status check() {
    for (const auto& [name, number] : options_.parameters) {
      const auto taken = variant_.description.parameters;
      const auto found =
          std::find_if(taken.begin(), taken.end(), [&](const TakenParameter& t) { return t.parameter->name == name; });
      if (found == taken.end())
        return wrong_value(fmt::format("variant {} takes no parameter of this name", variant_.description.name), name);
      TRY(found->parameter->check(number));
    }
    value_ = with_defaults(variant_.description.parameters, options_.parameters);
    made_.variant_ = &variant_;
    made_.set_ = options_.instructions ? options_.instructions : instruction_sets().front();
    made_.ghosts_count_ = a_.columns - a_.rows;
    made_.scratch_threads_ = threads::count();
    return Nothing{};
  }

  Status check_single_precision(const Factor& factor) const {
    constexpr double largest = std::numeric_limits<float>::max();
    for (const double value : factor.lower)
      if (std::abs(value) > largest)
        return not_applicable("the factor must fit single precision", fmt::format("{:g}", value),
                              "use a variant without a single-precision factor");
    return Nothing{};
  }

  template <class Value>
  Status store_side(StoredRows<Value>& to, const SplitMatrix& parts, TriangleSide side, const Factor* factor) {
    to = TRY(store<Value>(parts, made_.numbering_, side, variant_.layout, chunk_, factor));
    return Nothing{};
  }

  Status store_matrix(const SplitMatrix& parts, const Factor& factor) {
    if (variant_.copies == Copies::two) TRY(store_side(made_.both_, parts, TriangleSide::both, nullptr));
    if (variant_.factor_type == FactorType::float32) {
      TRY(check_single_precision(factor));
      TRY(store_side(made_.float_lower_, parts, TriangleSide::lower, &factor));
      TRY(store_side(made_.float_upper_, parts, TriangleSide::upper, &factor));
    } else {
      TRY(store_side(made_.halves_.lower, parts, TriangleSide::lower, &factor));
      TRY(store_side(made_.halves_.upper, parts, TriangleSide::upper, &factor));
    }
    made_.diagonal_ = TRY(threads::ThreadedArray<double>::unwritten(a_.rows));
    made_.inverse_pivots_ = TRY(threads::ThreadedArray<double>::unwritten(a_.rows));
    made_.numbering_.for_rows([&](std::int32_t i) {
      made_.diagonal_[i] = parts.diagonal[i];
      made_.inverse_pivots_[i] = 1 / factor.pivot[i];
    });
    return Nothing{};
  }

  Status store_scaled(const SplitMatrix& parts, const Factor& factor) {
    made_.scale_ = TRY(threads::ThreadedArray<double>::unwritten(a_.rows));
    made_.excess_ = TRY(threads::ThreadedArray<double>::unwritten(a_.rows));
    made_.numbering_.for_rows([&](std::int32_t i) {
      made_.scale_[i] = std::sqrt(factor.pivot[i]);
      made_.excess_[i] = parts.diagonal[i] / factor.pivot[i] - 2;
    });
    Factor scaled;
    const auto scale = [&](const Triangle& triangle, UnwrittenVector<double>& values) {
      values.resize(triangle.value.size());
      made_.numbering_.for_rows([&](std::int32_t i) {
        for (std::int64_t k = triangle.begin[i]; k < triangle.begin[i + 1]; ++k)
          values[k] = triangle.value[k] / (made_.scale_[i] * made_.scale_[triangle.column[k]]);
      });
    };
    scale(parts.lower, scaled.lower);
    scale(parts.upper, scaled.upper);
    TRY(store_side(made_.scaled_.lower, parts, TriangleSide::lower, &scaled));
    TRY(store_side(made_.scaled_.upper, parts, TriangleSide::upper, &scaled));
    return Nothing{};
  }

  Status store_rest(const SplitMatrix& parts) {
    for (std::int32_t i = 0; i < a_.rows; ++i) {
      const std::int64_t first = parts.ghosts.begin[i], end = parts.ghosts.begin[i + 1];
      if (first == end) continue;
      made_.ghost_rows_.push_back(i);
      Triangle& to = made_.ghost_entries_;
      to.column.insert(to.column.end(), parts.ghosts.column.begin() + first, parts.ghosts.column.begin() + end);
      to.value.insert(to.value.end(), parts.ghosts.value.begin() + first, parts.ghosts.value.begin() + end);
      to.begin.push_back(static_cast<std::int64_t>(to.column.size()));
    }
    made_.partial_ =
        TRY(threads::ThreadedArray<double>::zeros(static_cast<std::int64_t>(made_.numbering_.block.size())));
    made_.scratch_ = TRY(threads::ThreadedArray<double>::zeros(made_.scratch_threads_ * made_.longest_block_));
    return Nothing{};
  }

  const CrsMatrix& a_;
  const SparseVariant& variant_;
  const PrepareOptions& options_;
  ParameterValues value_;
  int chunk_ = 1;
  PreparedSystem made_;
};

Result<PreparedSystem> prepare(const CrsMatrix& matrix, const SparseVariant& variant, const PrepareOptions& options) {
  return within_memory("the prepared system", [&] { return Preparation(matrix, variant, options).run(); });
}

} // namespace kumihimo::sparse
