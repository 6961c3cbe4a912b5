#include "krylov/run.hpp"

#include "krylov/right_side.hpp"
#include "threads/partition.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace kumihimo::krylov {
namespace {

constexpr int most_attempts = 5; // replacements in a row that bring the true residual no further
constexpr double progress_of_attempt = 0.9;
// By the estimate: iterations between replacements, and how far it must be above that of a residual just computed.
constexpr std::int64_t least_between = 5;
constexpr double least_gain = 1000;

class SolverTimer {
 public:
  explicit SolverTimer(double& seconds) : seconds_(seconds) {}
  ~SolverTimer() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void copy_rows(std::int64_t rows, const double* from, double* to) {
#pragma omp parallel
  {
    const auto [begin, end] = threads::part(rows, omp_get_thread_num(), omp_get_num_threads());
    if (begin < end) std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(double));
  }
}

} // namespace

SolverRun::SolverRun(LinearSystem& system, Sums& sums, std::span<const double> b, std::span<double> x,
                     const SolverOptions& options, Solution& solution)
    : system_(system), sums_(sums), options_(options), solution_(solution), given_b_(b), given_x_(x) {}

double* SolverRun::vector() {
  if (failure_) return nullptr;
  Result<threads::ThreadedArray<double>> made =
      threads::ThreadedArray<double>::zeros(std::max<std::int64_t>(1, system_.length()));
  if (!made) {
    failure_ = made.error();
    return nullptr;
  }
  memory_.push_back(*std::move(made));
  return memory_.back().data();
}

void SolverRun::end(Ending ending, Error error) {
  if (ended_) return;
  ended_ = true;
  solution_.ending = ending;
  error_ = std::move(error);
}

void SolverRun::product(double* in, double* out) {
  const SolverTimer timed(solution_.seconds.product);
  if (Status s = system_.multiply(in, out); !s && !failure_) failure_ = s.error();
}

void SolverRun::precondition(const double* in, double* out) {
  const SolverTimer timed(solution_.seconds.preconditioner);
  if (Status s = system_.precondition(in, out); !s && !failure_) failure_ = s.error();
}

SumArray SolverRun::run(VectorKernel kernel, std::initializer_list<double*> vectors, double alpha, double beta) {
  const bool only_reads = description_of(kernel).bytes_per_row == 8 * description_of(kernel).vectors;
  const SolverTimer timed(only_reads ? solution_.seconds.dots : solution_.seconds.updates);
  Operands operands;
  std::copy(vectors.begin(), vectors.end(), operands.vectors.begin());
  operands.alpha = alpha;
  operands.beta = beta;
  return loops_.run(kernel, operands);
}

void SolverRun::copy(const double* from, double* to) {
  const SolverTimer timed(solution_.seconds.updates);
  copy_rows(system_.rows(), from, to);
}

void SolverRun::gram(const KrylovBasis& basis, std::span<double> sums) {
  const SolverTimer timed(solution_.seconds.dots);
  const std::int64_t needed = krylov::gram_blocks(system_.rows()) * static_cast<std::int64_t>(sums.size());
  if (gram_blocks_.size() < needed) {
    Result<threads::ThreadedArray<double>> made = threads::ThreadedArray<double>::zeros(needed);
    if (!made) {
      if (!failure_) failure_ = made.error();
      return;
    }
    gram_blocks_ = *std::move(made);
  }
  krylov::gram(system_.rows(), basis, gram_blocks_, sums);
}

void SolverRun::combine(const KrylovBasis& basis, const Combination& coordinates, const CombinationTargets& targets) {
  const SolverTimer timed(solution_.seconds.updates);
  krylov::combine(system_.rows(), basis, coordinates, targets);
}

void SolverRun::recur(double* y, double c, const double* u, double h, double g, const double* w) {
  const SolverTimer timed(solution_.seconds.updates);
  krylov::recur(system_.rows(), y, c, u, h, g, w);
}

void SolverRun::send(std::span<const double> local) {
  payload_ = local.size();
  message_.assign(local.begin(), local.end());
  message_.push_back(failure_ ? 1 : 0);
  message_.push_back(wants_stop_ ? 1 : 0);
}

void SolverRun::start(std::span<const double> local) {
  if (ended_) return;
  const SolverTimer timed(solution_.seconds.waiting);
  send(local);
  if (Status s = sums_.start(message_); !s) end(Ending::system_failed, s.error());
}

std::span<const double> SolverRun::wait() {
  if (!ended_) {
    const SolverTimer timed(solution_.seconds.waiting);
    if (Status s = sums_.wait(); !s) end(Ending::system_failed, s.error());
  }
  return received();
}

std::span<const double> SolverRun::sum(std::span<const double> local) {
  if (!ended_) {
    const SolverTimer timed(solution_.seconds.waiting);
    send(local);
    if (Status s = sums_.sum(message_); !s) end(Ending::system_failed, s.error());
  }
  return received();
}

std::span<const double> SolverRun::received() {
  if (!ended_ && message_[payload_] > 0)
    end(Ending::system_failed, failure_ ? *failure_ : failed("the solve ends because another rank failed"));
  if (!ended_ && message_[payload_ + 1] > 0)
    end(Ending::stopped, failed(fmt::format("the solve was stopped in iteration {}", solution_.iterations)));
  return std::span<const double>(message_).first(payload_);
}

bool SolverRun::begin(const Status& arguments) {
  const std::int64_t rows = system_.rows();
  if (!arguments) failure_ = arguments.error();
  Result<VectorLoops> loops = VectorLoops::of(rows);
  if (loops)
    loops_ = *std::move(loops);
  else if (!failure_)
    failure_ = loops.error();
  b_ = vector();
  x_ = vector();
  if (!failure_) {
    copy_rows(rows, given_b_.data(), b_);
    copy_rows(rows, given_x_.data(), x_);
  }
  double nonzeros = 0;
  for (const double each : given_b_) nonzeros += each != 0;
  const double local[] = {failure_ ? 0.0 : run(VectorKernel::square, {b_})[0], nonzeros};
  const auto all = sum(local);
  if (ended_) return false;
  const Result<double> norm = norm_of_right_side(all[0], all[1] > 0);
  if (!norm) {
    end(Ending::not_finite, norm.error());
    return false;
  }
  norm_b_ = *norm;
  if (norm_b_ == 0) {
    std::fill(given_x_.begin(), given_x_.end(), 0.0);
    solution_.history = {0};
    ended_ = true;
    return false;
  }
  tolerance_ = options_.tolerance * norm_b_;
  least_ = least_true_ = std::numeric_limits<double>::infinity();
  return true;
}

Error SolverRun::not_finite(std::string_view what) const {
  return failed(fmt::format("{} in iteration {} is not a finite number", what, solution_.iterations), {},
                "check that the matrix, the preconditioner and the initial guess are finite");
}

bool SolverRun::verify(double true_rr) {
  const double residual = std::sqrt(true_rr);
  solution_.residual = residual / norm_b_;
  if (residual <= tolerance_) {
    ended_ = true;
    return true;
  }
  if (residual < progress_of_attempt * least_true_) {
    least_true_ = residual;
    attempts_ = 0;
  } else if (claimed_ && ++attempts_ >= most_attempts) {
    end(Ending::stagnation,
        failed(fmt::format("the residual stagnates at {:.3g} in iteration {}, above the tolerance {:g}",
                           residual / norm_b_, solution_.iterations, options_.tolerance),
               {},
               fmt::format("rounding lets about {:.1g} be reached: raise the tolerance",
                           Deviation::unit * deviation.matrix() * std::sqrt(std::max(0.0, xx_)) / norm_b_)));
  }
  return false;
}

bool SolverRun::replace(double* r, double* scratch) {
  if (ended_) return false;
  const bool is_first = judged_ < 0;
  if (is_first && (sum({}), ended_)) return false; // a rank had no memory for its vectors
  product(x_, scratch);
  const SumArray own = run(VectorKernel::residual, {b_, scratch, r});
  const double local[] = {own[0], own[1], run(VectorKernel::square, {x_})[0]};
  const auto all = sum(local);
  if (ended_) return false;
  const double dd = all[0], rr = all[1];
  xx_ = all[2];
  if (!std::isfinite(rr)) {
    end(Ending::not_finite, not_finite("the residual b - A x"));
    return false;
  }
  if (!is_first) {
    ++solution_.replacements;
    const double measured = std::sqrt(dd) / norm_b_;
    if (measured > solution_.largest_deviation) {
      solution_.largest_deviation = measured;
      solution_.estimated_deviation = deviation.value() / norm_b_;
    }
  }
  deviation.reset(std::sqrt(xx_));
  since_replacement_ = 0;
  fresh_ = true;
  if (is_first) solution_.history.push_back(std::sqrt(rr) / norm_b_);
  if (verify(rr)) return false;
  claimed_ = false;
  if (!ended_ && solution_.iterations >= options_.max_iterations) {
    end(Ending::iteration_limit,
        failed(fmt::format("the residual is {:.3g} after {} iterations, above the tolerance {:g}", solution_.residual,
                           solution_.iterations, options_.tolerance),
               {}, "allow more iterations, raise the tolerance or use a stronger preconditioner"));
  }
  if (!ended_ && since_least_ > options_.patience)
    end(Ending::stagnation, failed(fmt::format("the residual is {:.3g} and has not fallen for {} iterations",
                                               solution_.residual, since_least_),
                                   {}, "raise the tolerance or use a stronger preconditioner"));
  return !ended_;
}

Next SolverRun::judge(double rr, double rz, bool by_definition) {
  if (ended_) return Next::end;
  if (!std::isfinite(rr) || !std::isfinite(rz)) {
    end(Ending::not_finite, not_finite("the residual"));
    return Next::end;
  }
  const bool is_new = judged_ < solution_.iterations;
  const double residual = std::sqrt(std::max(rr, 0.0));
  if (is_new && solution_.iterations > 0) {
    fresh_ = false;
    ++since_replacement_;
    solution_.history.push_back(residual / norm_b_);
    if (options_.progress && !options_.progress({solution_.iterations, residual / norm_b_})) wants_stop_ = true;
    since_least_ = residual < least_ ? 0 : since_least_ + 1;
  }
  judged_ = solution_.iterations;
  least_ = std::min(least_, residual);
  if (!fresh_) {
    claimed_ = residual <= tolerance_;
    if (claimed_ || solution_.iterations >= options_.max_iterations || since_least_ > options_.patience)
      return Next::replace;
    if (options_.replace_every > 0 && since_replacement_ >= options_.replace_every) return Next::replace;
    if (options_.largest_deviation > 0 && since_replacement_ >= least_between &&
        deviation.value() > options_.largest_deviation * residual &&
        deviation.value() > least_gain * deviation.at_reset())
      return Next::replace;
  }
  if (!(rz > 0)) {
    if (!by_definition && !fresh_) return Next::replace;
    end(Ending::indefinite_preconditioner,
        failed("the preconditioner must be positive definite",
               fmt::format("r.M^-1 r in iteration {} must be above 0 (got {:.3g})", solution_.iterations, rz)));
    return Next::end;
  }
  return Next::go_on;
}

bool SolverRun::at_iteration(const FillState& own) {
  if (!options_.at_iteration) return true;
  const auto fill = [&](StateList& list) {
    list.number("iterations", solution_.iterations).number("replacements", solution_.replacements);
    list.number("residual", solution_.residual).number("deviation", deviation);
    list.number("largest deviation", solution_.largest_deviation);
    list.number("estimated deviation", solution_.estimated_deviation).vector("history", solution_.history);
    list.number("least", least_).number("least true", least_true_).number("since least", since_least_);
    list.number("since replacement", since_replacement_).number("attempts", attempts_).number("judged", judged_);
    list.number("x.x", xx_).number("fresh", fresh_).number("claimed", claimed_).array("x", rows_of(x_));
    own(list);
  };
  if (const Result<bool> done = options_.at_iteration(solution_.iterations, fill); !done)
    end(Ending::system_failed, done.error());
  return !ended_;
}

bool SolverRun::is_positive(double curvature) {
  if (ended_) return false;
  if (curvature > 0 && std::isfinite(curvature)) return true;
  if (!std::isfinite(curvature))
    end(Ending::not_finite, not_finite("p.A p"));
  else
    end(Ending::indefinite_matrix,
        failed("the matrix is singular or not positive definite",
               fmt::format("p.A p in iteration {} must be above 0 (got {:.3g})", solution_.iterations + 1, curvature)));
  return false;
}

Status SolverRun::finish() {
  if (x_ && solution_.iterations > 0) copy_rows(system_.rows(), x_, given_x_.data());
  if (error_) return *error_;
  return Nothing{};
}

} // namespace kumihimo::krylov
