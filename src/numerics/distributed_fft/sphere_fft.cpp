#include "distributed_fft/sphere_fft.hpp"

#include "distributed_fft/exchanges.hpp"
#include "measure/clock.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using fft::Complex, fft::copy_points, fft::PointPointer, fft::Sphere, fft::Triple, fft::WaveColumn;
using Array = threads::ThreadedArray<Complex>;

// From plane to plane in memory, so that each begins where lines may be transformed, and rows of all planes do not meet
// in one set of the cache.
std::int64_t stride_of(std::int64_t points) {
  constexpr std::int64_t aligned = fft::alignment / static_cast<std::int64_t>(sizeof(Complex)), padding = 5 * aligned;
  return (points + aligned - 1) / aligned * aligned + padding;
}

} // namespace

SphereFft::SphereFft(Sphere sphere, std::int64_t bands, const TransformWay& way, Runtime& runtime)
    : sphere_(std::move(sphere)), bands_(bands), way_(way), runtime_(runtime), rank_(runtime.rank()),
      dealt_(fft::deal_columns(sphere_, runtime.ranks())) {
  way_.bands_at_once = std::clamp<std::int64_t>(way_.bands_at_once, 1, bands);
  block_count_ = (bands + way_.bands_at_once - 1) / way_.bands_at_once;
  for (std::int32_t rank = 0; rank < runtime.ranks(); ++rank) {
    const threads::IndexRange part = threads::part(sphere_.points[2], rank, runtime.ranks());
    parts_of_z_.push_back({part.begin, part.size()});
  }
  const Range& own = parts_of_z_[static_cast<std::size_t>(rank_)];
  box_ = fft::whole_box(sphere_.points);
  box_.begin[2] = own.first;
  box_.end[2] = own.first + own.count;
  for (const std::int32_t column : own_columns()) {
    first_coefficient_.push_back(coefficients_);
    coefficients_ += sphere_.columns[static_cast<std::size_t>(column)].coefficients();
  }
  planes_.resize(sphere_.planes.size());
  for (std::int32_t rank = 0; rank < runtime.ranks(); ++rank)
    for (std::size_t place = 0; place < dealt_[static_cast<std::size_t>(rank)].size(); ++place) {
      const WaveColumn& column =
          sphere_.columns[static_cast<std::size_t>(dealt_[static_cast<std::size_t>(rank)][place])];
      const auto plane = std::ranges::lower_bound(sphere_.planes, column.x) - sphere_.planes.begin();
      planes_[static_cast<std::size_t>(plane)].push_back({rank, static_cast<std::int64_t>(place), column.y});
    }
}

Result<SphereFft::BlockPlans> SphereFft::plans_of(fft::LineLibrary& library, const Triple& lengths, std::size_t axis) {
  BlockPlans plans;
  plans.to_grid = TRY(library.plan(lengths, {axis}, fft::TransformDirection::backward));
  plans.to_coefficients = TRY(library.plan(lengths, {axis}, fft::TransformDirection::forward));
  return plans;
}

Status SphereFft::plan(fft::LineLibrary& library) {
  const auto [nx, ny, nz] = sphere_.points;
  const std::int64_t depth = box_.length(2), columns = static_cast<std::int64_t>(own_columns().size());
  const auto at_once = [&](std::int64_t of_one, std::int64_t most) {
    return std::clamp<std::int64_t>(way_.block_bytes / (of_one * static_cast<std::int64_t>(sizeof(Complex))), 1, most);
  };
  std::int64_t largest = 1;
  if (columns > 0) {
    columns_at_once_ = at_once(nz, columns);
    columns_ = TRY(plans_of(library, {1, columns_at_once_, nz}, 2));
    if (const std::int64_t rest = columns % columns_at_once_) last_columns_ = TRY(plans_of(library, {1, rest, nz}, 2));
    largest = std::max(largest, columns_at_once_ * nz);
  }
  if (depth > 0) {
    plane_ = TRY(plans_of(library, {1, ny, depth}, 1));
    rows_at_once_ = at_once(nx * depth, ny);
    rows_ = TRY(plans_of(library, {nx, rows_at_once_, depth}, 0));
    if (const std::int64_t rest = ny % rows_at_once_) last_rows_ = TRY(plans_of(library, {nx, rest, depth}, 0));
    largest = std::max(largest, nx * rows_at_once_ * depth);
  }
  plane_stride_ = stride_of(ny * depth);
  half_ = TRY(Array::zeros(static_cast<std::int64_t>(planes_.size()) * plane_stride_));
  for (int thread = 0; thread < threads::count(); ++thread) buffers_.push_back(TRY(Array::unwritten(largest)));
  columns_row_ = times_.declare("columns along z", work_on_columns());
  planes_row_ = times_.declare("planes of x and y", work_on_planes());
  exchange_row_ = times_.declare("waiting for the exchange", {});
  return Nothing{};
}

namespace {

double flops_of_lines(std::int64_t points, std::int64_t n) {
  return 5.0 * static_cast<double>(points) * std::log2(std::max(2.0, static_cast<double>(n)));
}

} // namespace

application::KernelWork SphereFft::work_on_columns() const {
  const std::int64_t nz = sphere_.points[2], points = static_cast<std::int64_t>(own_columns().size()) * nz;
  return {sizeof(Complex) * static_cast<double>(coefficients_ + points), flops_of_lines(points, nz)};
}

application::KernelWork SphereFft::work_on_planes() const {
  const auto [nx, ny, nz] = sphere_.points;
  const std::int64_t depth = box_.length(2), of_planes = static_cast<std::int64_t>(sphere_.planes.size()) * ny * depth;
  const std::int64_t columns = static_cast<std::int64_t>(sphere_.columns.size()) * depth;
  return {sizeof(Complex) * static_cast<double>(columns + of_planes + box_.points()),
          flops_of_lines(of_planes, ny) + flops_of_lines(box_.points(), nx)};
}

Result<SphereFft::BandBlock> SphereFft::block_of(std::int64_t bands) {
  const BlockTable there = block_table(sphere_, runtime_.ranks(), bands);
  BlockTable back = there;
  for (std::int32_t from = 0; from < there.ranks; ++from)
    for (std::int32_t to = 0; to < there.ranks; ++to)
      back.points[static_cast<std::size_t>(from * there.ranks + to)] = there.at(to, from);
  BandBlock made;
  made.bands = bands;
  made.to_grid = TRY(make_exchange(there, way_, runtime_));
  made.to_coefficients = TRY(make_exchange(back, way_, runtime_));
  return made;
}

Result<std::unique_ptr<SphereFft>> SphereFft::make(Sphere sphere, std::int64_t bands, const TransformWay& way,
                                                   fft::LineLibrary& library, Runtime& runtime) {
  if (way.packs)
    return not_applicable("columns of a sphere go straight into messages", "packed",
                          "use fused, overlapped, leader or window");
  if (way.pieces > 1) return not_applicable("columns of a sphere are not exchanged in pieces", {}, "leave pieces out");
  std::unique_ptr<SphereFft> made(new SphereFft(std::move(sphere), bands, way, runtime));
  if (Status s = runtime.agree(made->plan(library)); !s) return s.error();
  const std::int64_t at_once = made->way_.bands_at_once;
  for (std::int64_t slot = 0; slot < (way.overlaps && made->block_count_ > 1 ? 2 : 1); ++slot)
    made->blocks_.push_back(TRY(made->block_of(at_once)));
  made->has_rest_ = bands % at_once > 0;
  if (made->has_rest_) made->rest_ = TRY(made->block_of(bands % at_once));
  return made;
}

template <class Call>
Status SphereFft::timed(std::size_t kernel, const BandBlock& block, Call call) {
  const std::int64_t begin = measure::now_ns();
  const Status done = call();
  times_.add(kernel, block.bands, measure::seconds_since(begin));
  return done;
}

template <class Work>
Status SphereFft::for_each_tile(std::int64_t count, Work work) {
  const auto run = [&](const threads::IndexRange& piece) {
#pragma omp parallel for schedule(static) num_threads(threads::count())
    for (std::int64_t number = piece.begin; number < piece.end; ++number)
      work(number, buffers_[static_cast<std::size_t>(omp_get_thread_num())].data());
  };
  const std::int64_t begin = measure::now_ns();
  nanoseconds_of_lines_ = 0;
  Status done = Nothing{};
  if (way_.overlaps)
    done = runtime_.beside_messages(count, run);
  else
    run({0, count});
  if (way_.profiles) { // messages beside the lines count as copies
    const std::int64_t lines = nanoseconds_of_lines_ / threads::count();
    profile_.add(ProfilePart::lines, lines);
    profile_.add(ProfilePart::copies, measure::now_ns() - begin - lines);
  }
  return done;
}

void SphereFft::run_lines(const fft::BlockPlan& plan, Complex* lines) {
  if (!way_.profiles) return plan.run(lines);
  const std::int64_t begin = measure::now_ns();
  plan.run(lines);
  nanoseconds_of_lines_ += measure::now_ns() - begin;
}

Status SphereFft::expand_columns(const Complex* coefficients, BandBlock& block) {
  const std::int64_t nz = sphere_.points[2], columns = static_cast<std::int64_t>(own_columns().size());
  const std::int64_t tiles = (columns + columns_at_once_ - 1) / columns_at_once_;
  return for_each_tile(block.bands * tiles, [&](std::int64_t number, Complex* lines) {
    const std::int64_t band = number / tiles, first = number % tiles * columns_at_once_;
    const std::int64_t count = std::min(columns_at_once_, columns - first);
    for (std::int64_t c = 0; c < count; ++c) {
      const auto own = static_cast<std::size_t>(first + c);
      fft::expand(sphere_.columns[static_cast<std::size_t>(own_columns()[own])],
                  coefficients + band * coefficients_ + first_coefficient_[own], lines + c * nz, nz);
    }
    run_lines(*(count == columns_at_once_ ? columns_ : last_columns_).to_grid, lines);
    for (std::int32_t rank = 0; rank < runtime_.ranks(); ++rank) {
      const auto [begin, depth] = parts_of_z_[static_cast<std::size_t>(rank)];
      const PointPointer to = block.to_grid->block_to(rank) + (band * columns + first) * depth;
      for (std::int64_t c = 0; c < count; ++c) copy_points(to + c * depth, lines + c * nz + begin, depth);
    }
  });
}

Status SphereFft::restrict_columns(BandBlock& block, Complex* coefficients) {
  const std::int64_t nz = sphere_.points[2], columns = static_cast<std::int64_t>(own_columns().size());
  const std::int64_t tiles = (columns + columns_at_once_ - 1) / columns_at_once_;
  return for_each_tile(block.bands * tiles, [&](std::int64_t number, Complex* lines) {
    const std::int64_t band = number / tiles, first = number % tiles * columns_at_once_;
    const std::int64_t count = std::min(columns_at_once_, columns - first);
    for (std::int32_t rank = 0; rank < runtime_.ranks(); ++rank) {
      const auto [begin, depth] = parts_of_z_[static_cast<std::size_t>(rank)];
      const PointPointer from = block.to_coefficients->block_from(rank) + (band * columns + first) * depth;
      for (std::int64_t c = 0; c < count; ++c) copy_points(lines + c * nz + begin, from + c * depth, depth);
    }
    run_lines(*(count == columns_at_once_ ? columns_ : last_columns_).to_coefficients, lines);
    for (std::int64_t c = 0; c < count; ++c) {
      const auto own = static_cast<std::size_t>(first + c);
      fft::restrict_to(sphere_.columns[static_cast<std::size_t>(own_columns()[own])], lines + c * nz, nz,
                       coefficients + band * coefficients_ + first_coefficient_[own]);
    }
  });
}

// Lines along y of the planes that have columns, then lines along x of some rows of y.
Status SphereFft::fill_grid(BandBlock& block, Complex* grid) {
  const auto [nx, ny, nz] = sphere_.points;
  const std::int64_t depth = box_.length(2), tiles = (ny + rows_at_once_ - 1) / rows_at_once_;
  if (depth == 0) return Nothing{};
  for (std::int64_t band = 0; band < block.bands; ++band, grid += box_.points()) {
    const auto along_y = [&](std::int64_t plane, Complex*) {
      Complex* const lines = half_.data() + plane * plane_stride_;
      std::fill(lines, lines + ny * depth, Complex(0));
      for (const Source& source : planes_[static_cast<std::size_t>(plane)]) {
        const auto columns = static_cast<std::int64_t>(dealt_[static_cast<std::size_t>(source.rank)].size());
        copy_points(lines + source.y * depth,
                    block.to_grid->block_from(source.rank) + (band * columns + source.place) * depth, depth);
      }
      run_lines(*plane_.to_grid, lines);
    };
    if (Status s = for_each_tile(static_cast<std::int64_t>(planes_.size()), along_y); !s) return s;
    const auto along_x = [&](std::int64_t tile, Complex* lines) {
      const std::int64_t y = tile * rows_at_once_, rows = std::min(rows_at_once_, ny - y);
      std::size_t plane = 0;
      for (std::int64_t x = 0; x < nx; ++x) {
        Complex* const row = lines + x * rows * depth;
        if (plane < sphere_.planes.size() && sphere_.planes[plane] == x)
          copy_points(row, half_.data() + static_cast<std::int64_t>(plane++) * plane_stride_ + y * depth, rows * depth);
        else
          std::fill(row, row + rows * depth, Complex(0));
      }
      run_lines(*(rows == rows_at_once_ ? rows_ : last_rows_).to_grid, lines);
      for (std::int64_t x = 0; x < nx; ++x)
        copy_points(grid + (x * ny + y) * depth, lines + x * rows * depth, rows * depth);
    };
    if (Status s = for_each_tile(tiles, along_x); !s) return s;
  }
  return Nothing{};
}

Status SphereFft::empty_grid(const Complex* grid, BandBlock& block) {
  const auto [nx, ny, nz] = sphere_.points;
  const std::int64_t depth = box_.length(2), tiles = (ny + rows_at_once_ - 1) / rows_at_once_;
  if (depth == 0) return Nothing{};
  const auto planes = static_cast<std::int64_t>(planes_.size());
  for (std::int64_t band = 0; band < block.bands; ++band, grid += box_.points()) {
    const auto along_x = [&](std::int64_t tile, Complex* lines) {
      const std::int64_t y = tile * rows_at_once_, rows = std::min(rows_at_once_, ny - y);
      for (std::int64_t x = 0; x < nx; ++x)
        copy_points(lines + x * rows * depth, grid + (x * ny + y) * depth, rows * depth);
      run_lines(*(rows == rows_at_once_ ? rows_ : last_rows_).to_coefficients, lines);
      for (std::int64_t plane = 0; plane < planes; ++plane)
        copy_points(half_.data() + plane * plane_stride_ + y * depth,
                    lines + sphere_.planes[static_cast<std::size_t>(plane)] * rows * depth, rows * depth);
    };
    if (Status s = for_each_tile(tiles, along_x); !s) return s;
    const auto along_y = [&](std::int64_t plane, Complex*) {
      Complex* const lines = half_.data() + plane * plane_stride_;
      run_lines(*plane_.to_coefficients, lines);
      for (const Source& source : planes_[static_cast<std::size_t>(plane)]) {
        const auto columns = static_cast<std::int64_t>(dealt_[static_cast<std::size_t>(source.rank)].size());
        copy_points(block.to_coefficients->block_to(source.rank) + (band * columns + source.place) * depth,
                    lines + source.y * depth, depth);
      }
    };
    if (Status s = for_each_tile(planes, along_y); !s) return s;
  }
  return Nothing{};
}

namespace {

// Blocks of bands through two stages and the exchange between them. Where exchanges overlap, a block's goes on beside
// the first stage of the next one.
template <class First, class Second, class Exchange>
Status run_blocks(std::int64_t blocks, bool overlaps, First first, Second second, Exchange exchange_of,
                  application::KernelTimes& times, std::size_t waiting, TransformProfile* profile, Runtime& runtime) {
  const auto end = [&](std::int64_t block) -> Status {
    BlockExchange& exchange = exchange_of(block);
    if (Status s = times.timed(waiting, [&] { return finish(exchange, profile); }); !s) return s;
    if (Status s = second(block); !s) return s;
    exchange.release();
    return runtime.poll();
  };
  for (std::int64_t block = 0; block < blocks; ++block) {
    BlockExchange& exchange = exchange_of(block);
    if (Status s = reserve(exchange, profile); !s) return s;
    if (Status s = first(block); !s) return s;
    if (Status s = start(exchange, profile, runtime); !s) return s;
    if (!overlaps || block > 0)
      if (Status s = end(overlaps ? block - 1 : block); !s) return s;
  }
  return overlaps ? end(blocks - 1) : Status(Nothing{});
}

} // namespace

Status SphereFft::to_grid(const Complex* coefficients, Complex* grid) {
  const std::int64_t at_once = way_.bands_at_once;
  const auto first = [&](std::int64_t number) {
    return timed(columns_row_, block(number),
                 [&] { return expand_columns(coefficients + number * at_once * coefficients_, block(number)); });
  };
  const auto second = [&](std::int64_t number) {
    return timed(planes_row_, block(number),
                 [&] { return fill_grid(block(number), grid + number * at_once * box_.points()); });
  };
  const auto exchange = [&](std::int64_t number) -> BlockExchange& { return *block(number).to_grid; };
  return run_blocks(block_count_, way_.overlaps, first, second, exchange, times_, exchange_row_, wanted_profile(),
                    runtime_);
}

Status SphereFft::to_coefficients(const Complex* grid, Complex* coefficients) {
  const std::int64_t at_once = way_.bands_at_once;
  const auto first = [&](std::int64_t number) {
    return timed(planes_row_, block(number),
                 [&] { return empty_grid(grid + number * at_once * box_.points(), block(number)); });
  };
  const auto second = [&](std::int64_t number) {
    return timed(columns_row_, block(number),
                 [&] { return restrict_columns(block(number), coefficients + number * at_once * coefficients_); });
  };
  const auto exchange = [&](std::int64_t number) -> BlockExchange& { return *block(number).to_coefficients; };
  return run_blocks(block_count_, way_.overlaps, first, second, exchange, times_, exchange_row_, wanted_profile(),
                    runtime_);
}

Status SphereFft::send_columns(std::int64_t number, const Complex* coefficients) {
  BandBlock& some = block(number);
  if (Status s = reserve(*some.to_grid, wanted_profile()); !s) return s;
  const Complex* const first = coefficients + number * way_.bands_at_once * coefficients_;
  if (Status s = timed(columns_row_, some, [&] { return expand_columns(first, some); }); !s) return s;
  return start(*some.to_grid, wanted_profile(), runtime_);
}

Status SphereFft::cross_grid(std::int64_t number, Complex* grid, const OnGrid& on_grid) {
  BandBlock& some = block(number);
  if (Status s = times_.timed(exchange_row_, [&] { return finish(*some.to_grid, wanted_profile()); }); !s) return s;
  if (Status s = timed(planes_row_, some, [&] { return fill_grid(some, grid); }); !s) return s;
  some.to_grid->release();
  on_grid(grid, number * way_.bands_at_once, some.bands);
  if (Status s = reserve(*some.to_coefficients, wanted_profile()); !s) return s;
  if (Status s = timed(planes_row_, some, [&] { return empty_grid(grid, some); }); !s) return s;
  return start(*some.to_coefficients, wanted_profile(), runtime_);
}

Status SphereFft::receive_columns(std::int64_t number, Complex* coefficients) {
  BandBlock& some = block(number);
  if (Status s = times_.timed(exchange_row_, [&] { return finish(*some.to_coefficients, wanted_profile()); }); !s)
    return s;
  Complex* const first = coefficients + number * way_.bands_at_once * coefficients_;
  if (Status s = timed(columns_row_, some, [&] { return restrict_columns(some, first); }); !s) return s;
  some.to_coefficients->release();
  return runtime_.poll();
}

// Where exchanges overlap, a block crosses the grid after the columns of the next one are sent, and its own come back
// after the next one has crossed.
Status SphereFft::there_and_back(const Complex* coefficients, Complex* grid, Complex* back, const OnGrid& on_grid) {
  const std::int64_t lag = way_.overlaps ? 1 : 0;
  const auto is_block = [this](std::int64_t number) { return number >= 0 && number < block_count_; };
  for (std::int64_t now = 0; now < block_count_ + 2 * lag; ++now) {
    if (is_block(now))
      if (Status s = send_columns(now, coefficients); !s) return s;
    if (is_block(now - lag))
      if (Status s = cross_grid(now - lag, grid, on_grid); !s) return s;
    if (is_block(now - 2 * lag))
      if (Status s = receive_columns(now - 2 * lag, back); !s) return s;
  }
  return Nothing{};
}

double SphereFft::bytes_sent() const {
  const double of_blocks = blocks_[0].to_grid->bytes_sent() * static_cast<double>(bands_ / way_.bands_at_once);
  return of_blocks + (has_rest_ ? rest_.to_grid->bytes_sent() : 0);
}

double SphereFft::bytes_counted() const {
  const auto of_block = [](const BandBlock& block) {
    return block.to_grid->bytes_counted() + block.to_coefficients->bytes_counted();
  };
  double all = has_rest_ ? of_block(rest_) : 0;
  for (const BandBlock& each : blocks_) all += of_block(each);
  return all;
}

// Block r to s: of each band, of each column of r, the points in the part of z of s.
BlockTable block_table(const Sphere& sphere, std::int32_t ranks, std::int64_t bands) {
  const std::vector<std::vector<std::int32_t>> dealt = fft::deal_columns(sphere, ranks);
  BlockTable table{ranks, {}};
  for (const std::vector<std::int32_t>& columns : dealt)
    for (std::int32_t to = 0; to < ranks; ++to)
      table.points.push_back(bands * static_cast<std::int64_t>(columns.size()) *
                             threads::part(sphere.points[2], to, ranks).size());
  return table;
}

double bytes_needed(const Sphere& sphere, std::int32_t ranks, std::int64_t bands, const TransformWay& way) {
  const std::int64_t at_once = std::clamp<std::int64_t>(way.bands_at_once, 1, bands), rest = bands % at_once;
  const double slots = way.overlaps && bands > at_once ? 2 : 1;
  const double exchanged = slots * static_cast<double>(at_once) + static_cast<double>(rest);
  const auto [nx, ny, nz] = sphere.points;
  const auto columns = static_cast<double>(sphere.columns.size());
  const double own = std::ceil(columns / ranks), depth = std::ceil(static_cast<double>(nz) / ranks);
  const double there = own * static_cast<double>(nz), here = columns * depth; // before and after an exchange
  const double half =
      static_cast<double>(sphere.planes.size()) * static_cast<double>(stride_of(ny * static_cast<std::int64_t>(depth)));
  const double line = std::max({static_cast<double>(nz), static_cast<double>(nx) * depth,
                                static_cast<double>(way.block_bytes) / sizeof(Complex)});
  const bool window = way.kind == ExchangeKind::window;
  const bool keeps_own = way.kind == ExchangeKind::messages && takes_unequal_blocks(way); // block where it is written
  const double of_messages = there + here - (keeps_own ? own * depth : 0);
  const double exchanges = window ? there + here : (way.single_precision ? 1 : 2) * of_messages;
  return (exchanged * exchanges + half + line * threads::count()) * sizeof(Complex);
}

} // namespace kumihimo::distributed_fft
