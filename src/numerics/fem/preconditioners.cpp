#include "fem/preconditioners.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace kumihimo::fem {

Result<BlockDiagonal> BlockDiagonal::make(std::span<const double> blocks) {
  BlockDiagonal made;
  const auto count = static_cast<std::int64_t>(blocks.size() / 9);
  made.inverses_ = TRY(threads::ThreadedArray<double>::zeros(9 * count));
  for (std::int64_t n = 0; n < count; ++n)
    if (!invert_block(blocks.data() + 9 * n, made.inverses_.data() + 9 * n))
      return wrong_value("the diagonal block of node " + std::to_string(n) + " must be positive definite", {},
                         "check the materials and the prescribed displacements");
  return made;
}

void BlockDiagonal::apply(const double* r, double* z) const {
  const int team = threads::count();
  const std::int64_t count = inverses_.size() / 9;
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const threads::IndexRange mine = threads::part(count, i, team);
    for (std::int64_t n = mine.begin; n < mine.end; ++n) {
      const double *const block = inverses_.data() + 9 * n, *const from = r + 3 * n;
      for (int a = 0; a < 3; ++a)
        z[3 * n + a] = block[3 * a] * from[0] + block[3 * a + 1] * from[1] + block[3 * a + 2] * from[2];
    }
  }
}

Result<GaussSeidel> GaussSeidel::make(const BlockMatrix& matrix) {
  std::vector<std::int32_t> owned(static_cast<std::size_t>(matrix.owned));
  std::iota(owned.begin(), owned.end(), 0);
  // The natural order of a grid needs 8 colours, reverse Cuthill-McKee about 15; of other numberings it needs fewer.
  NodeOrder order = coloured(matrix, owned);
  if (NodeOrder other = coloured(matrix, reverse_cuthill_mckee(matrix, owned));
      other.colour_begin.size() < order.colour_begin.size())
    order = std::move(other);
  GaussSeidel made;
  made.sweeps_ = TRY(Sweeps::make(matrix, order.nodes));
  made.colour_begin_ = std::move(order.colour_begin);
  made.work_ = TRY(threads::ThreadedArray<double>::zeros(3 * matrix.owned));
  return made;
}

void GaussSeidel::apply(const double* r, double* z) {
  const int team = threads::count();
  const std::size_t colours = colour_begin_.size() - 1;
  double* const work = work_.data();
#pragma omp parallel num_threads(team)
  {
    const auto of_colour = [&](std::size_t c, int i) {
      const std::int64_t begin = colour_begin_[c];
      const threads::IndexRange mine = threads::part(colour_begin_[c + 1] - begin, i, team);
      return threads::IndexRange{begin + mine.begin, begin + mine.end};
    };
    for (std::size_t c = 0; c < colours; ++c)
#pragma omp for schedule(static)
      for (int i = 0; i < team; ++i) {
        const threads::IndexRange mine = of_colour(c, i);
        sweeps_.forward(mine.begin, mine.end, r, work);
      }
    for (std::size_t c = colours; c-- > 0;)
#pragma omp for schedule(static)
      for (int i = 0; i < team; ++i) {
        const threads::IndexRange mine = of_colour(c, i);
        sweeps_.backward(mine.begin, mine.end, work);
        for (std::int64_t n = mine.begin; n < mine.end; ++n)
          std::copy_n(work + 3 * n, 3, z + 3 * static_cast<std::int64_t>(sweeps_.nodes()[static_cast<std::size_t>(n)]));
      }
  }
}

Result<AdditiveSchwarz> AdditiveSchwarz::make(const BlockMatrix& matrix, std::int64_t parts, int overlap) {
  if (parts < 1 || parts > matrix.owned)
    return wrong_value("the number of parts must be 1 to " + std::to_string(matrix.owned), parts);
  if (overlap != 0 && overlap != 1) return wrong_value("the overlap must be 0 or 1", overlap);
  AdditiveSchwarz made;
  std::int64_t places = 0;
  std::vector<std::int64_t> count(static_cast<std::size_t>(matrix.owned) + 1);
  RowNumbers work(matrix);
  for (std::int64_t i = 0; i < parts; ++i) {
    const threads::IndexRange own = threads::part(matrix.owned, i, parts);
    std::vector<std::int32_t> nodes;
    for (std::int64_t n = own.begin; n < own.end; ++n) {
      nodes.push_back(static_cast<std::int32_t>(n));
      for (std::int32_t at = matrix.row_begin[n]; overlap && at < matrix.row_begin[n + 1]; ++at)
        if (matrix.columns[at] < matrix.owned) nodes.push_back(matrix.columns[at]);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    made.parts_.push_back(TRY(Sweeps::make(matrix, reverse_cuthill_mckee(matrix, nodes, work), work)));
    made.part_begin_.push_back(places);
    places += static_cast<std::int64_t>(nodes.size());
    for (const std::int32_t n : nodes) ++count[static_cast<std::size_t>(n) + 1];
  }
  std::partial_sum(count.begin(), count.end(), count.begin());
  made.result_begin_ = count;
  made.results_.resize(static_cast<std::size_t>(places));
  for (std::size_t i = 0; i < made.parts_.size(); ++i)
    for (std::int64_t p = 0; p < made.parts_[i].size(); ++p) {
      const std::int32_t n = made.parts_[i].nodes()[static_cast<std::size_t>(p)];
      made.results_[static_cast<std::size_t>(count[static_cast<std::size_t>(n)]++)] = made.part_begin_[i] + p;
    }
  made.work_ = TRY(threads::ThreadedArray<double>::zeros(3 * places));
  return made;
}

double AdditiveSchwarz::bytes() const {
  double sum = static_cast<double>(results_.size()) * (24 + 8);
  for (const Sweeps& part : parts_) sum += part.bytes();
  return sum + static_cast<double>(result_begin_.size()) * (24 + 8);
}

double AdditiveSchwarz::flops() const {
  double sum = static_cast<double>(results_.size()) * 3;
  for (const Sweeps& part : parts_) sum += part.flops();
  return sum;
}

void AdditiveSchwarz::apply(const double* r, double* z) {
  const int team = threads::count();
  const auto owned = static_cast<std::int64_t>(result_begin_.size()) - 1;
  double* const work = work_.data();
#pragma omp parallel num_threads(team)
  {
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].forward(0, parts_[i].size(), r, work + 3 * part_begin_[i]);
      parts_[i].backward(0, parts_[i].size(), work + 3 * part_begin_[i]);
    }
#pragma omp for schedule(static)
    for (std::int64_t n = 0; n < owned; ++n) {
      double sum[3] = {};
      for (std::int64_t i = result_begin_[static_cast<std::size_t>(n)];
           i < result_begin_[static_cast<std::size_t>(n) + 1]; ++i)
        for (int a = 0; a < 3; ++a) sum[a] += work[3 * results_[static_cast<std::size_t>(i)] + a];
      std::copy_n(sum, 3, z + 3 * n);
    }
  }
}

} // namespace kumihimo::fem
