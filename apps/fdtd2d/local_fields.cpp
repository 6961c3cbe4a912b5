#include "fdtd2d/local_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::fdtd2d {

using application::RankGrid, application::Runtime;

namespace {

FieldShape shape_of(const WaveProblem& problem, const RankGrid& ranks, std::int32_t rank, std::int64_t ghosts) {
  FieldShape shape = problem.whole;
  const auto part = ranks.part({shape.points[0], shape.points[1], 1}, rank);
  for (std::size_t a = 0; a < 2; ++a) {
    shape.first[a] = part[a].begin;
    shape.cells[a] = part[a].size();
  }
  shape.ghosts = ghosts;
  return shape;
}

template <class T>
Halo halo_of(const Fields<T>& fields, std::int64_t count) {
  const FieldShape& shape = fields.shape();
  Halo halo;
  halo.cells = {shape.cells[0], shape.cells[1], 1};
  halo.layers = {shape.ghosts, shape.ghosts, 0};
  halo.padding = fields.padding();
  halo.fields = count;
  halo.points = count == 1 ? 7 : 27; // Ez alone: H needs its neighbours along the axes
  halo.type = sizeof(T) == sizeof(float) ? DataType::float32 : DataType::float64;
  halo.periodic.fill(false);
  return halo;
}

} // namespace

template <class T>
Result<std::unique_ptr<LocalFields<T>>> LocalFields<T>::make(const WaveProblem& problem, const FdtdVariant& variant,
                                                             const ParameterValues& parameters, Runtime& runtime) {
  std::unique_ptr<LocalFields> made(new LocalFields(problem, variant, runtime));
  made->ranks_ = TRY(runtime.grid({problem.whole.points[0], problem.whole.points[1], 1}));
  const bool several = runtime.ranks() > 1;
  if (variant.of_float.upload && several)
    return not_applicable(fmt::format("the variant {} runs on one rank", variant.name), {}, "use --ranks 1");
  if (variant.is_wavefront()) {
    made->wavefront_.levels = static_cast<int>(parameters.at("levels"));
    made->wavefront_.columns = parameters.at("columns");
  }
  const std::int64_t ghosts = several ? made->wavefront_.levels : 1;
  const FieldShape shape = shape_of(problem, made->ranks_, runtime.rank(), ghosts);
  const std::array<std::int32_t, 3> at = made->ranks_.coordinates(runtime.rank());
  Status fits = Nothing{};
  for (std::size_t a = 0; a < 2; ++a) {
    const std::int32_t along = made->ranks_.ranks[a];
    made->wavefront_.has_neighbour[2 * a] = at[a] > 0;
    made->wavefront_.has_neighbour[2 * a + 1] = at[a] + 1 < along;
    if (along > 1 && shape.cells[a] < ghosts)
      fits = not_applicable(fmt::format("{} levels need as many nodes of a rank along each axis", ghosts),
                            shape.cells[a], "use fewer levels or ranks");
  }
  if (fits) fits = runtime.check_memory(Fields<T>::bytes(shape));
  if (Status s = runtime.agree(fits); !s) return s.error();
  Result<Fields<T>> fields = Fields<T>::make(shape);
  if (Status s = runtime.agree_on(fields); !s) return s.error();
  made->fields_ = std::move(*fields);
  made->halo_ = TRY(runtime.halo(halo_of(made->fields_, variant.is_wavefront() ? field_count : 1), made->ranks_));
  if (problem.is_mode) set_mode(made->fields_, problem.mode);

  // Each field is read once by H and by Ez, or once for all levels of a pass; what is written was read before.
  const auto cells = static_cast<double>(shape.cells[0] * shape.cells[1]), bytes = cells * sizeof(T);
  if (variant.is_wavefront() || variant.of_float.upload) {
    made->h_row_ =
        made->times_.declare("step", {elements_of_cell * bytes / made->wavefront_.levels, flops_of_cell * cells});
  } else {
    made->h_row_ = made->times_.declare("H", {5 * bytes, 6 * cells});
    made->e_row_ = made->times_.declare("Ez", {4 * bytes, 5 * cells});
  }
  if (several) made->ghosts_row_ = made->times_.declare("waiting for ghosts", {});
  TRY(made->upload());
  return made;
}

template <class T>
void LocalFields<T>::list_state(StateList& list) {
  const FieldShape& shape = fields_.shape();
  list.number("steps", done_);
  constexpr std::array<const char*, field_count> names{"Ez", "Hx", "Hy", "psi Ez x", "psi Ez y", "psi Hx", "psi Hy"};
  for (std::size_t f = 0; f < names.size(); ++f) {
    StateGrid field;
    field.element_bytes = sizeof(T);
    field.cells = {shape.points[0], shape.points[1], 1};
    field.ranks = ranks_.ranks;
    field.begin = {shape.first[0], shape.first[1], 0};
    field.size = {shape.cells[0], shape.cells[1], 1};
    field.first = reinterpret_cast<std::byte*>(fields_.memory() + static_cast<std::int64_t>(f) * fields_.size() +
                                               fields_.at(0, 0));
    field.row = fields_.row();
    list.grid(names[f], field);
  }
}

// A step brings no ghosts of H, which it updates itself: all fields come from the neighbours.
template <class T>
Status LocalFields<T>::take_state() {
  if (runtime_.ranks() > 1) {
    const std::unique_ptr<application::BoxHalo> all = TRY(runtime_.halo(halo_of(fields_, field_count), ranks_));
    if (Status s = all->run(fields_.memory()); !s) return s;
  }
  device_.reset(); // its memory first
  return runtime_.agree(upload());
}

template <class T>
Status LocalFields<T>::upload() {
  const auto upload = variant_.template kernels<T>().upload;
  if (!upload) return Nothing{};
  upload_row_ = times_.declare("copy to the device", {}, true);
  download_row_ = times_.declare("copy from the device", {}, true);
  device_ = TRY(times_.timed(upload_row_, [&] { return upload(fields_, problem_.source); }));
  return Nothing{};
}

template <class T>
Status LocalFields<T>::download() {
  if (!device_) return Nothing{};
  return times_.timed(download_row_, [&] { return device_->download(); });
}

template <class T>
template <class Call>
void LocalFields<T>::timed(std::size_t row, std::int64_t calls, Call call) {
  const std::int64_t begin = measure::now_ns();
  call();
  times_.add(row, calls, measure::seconds_since(begin));
}

template <class T>
void LocalFields<T>::add_source() {
  const WaveSource& source = problem_.source;
  if (source.node[0] < 0) return;
  const FieldShape& shape = fields_.shape();
  const std::int64_t x = source.node[0] - shape.first[0], y = source.node[1] - shape.first[1];
  if (x >= 0 && x < shape.cells[0] && y >= 0 && y < shape.cells[1])
    fields_.ez[fields_.at(x, y)] += static_cast<T>(source.added(done_, shape.courant));
}

// A rank also updates the H before its node 0 that its neighbour has, so that Ez alone is exchanged.
template <class T>
Status LocalFields<T>::step() {
  const FieldKernels<T>& kernels = variant_.template kernels<T>();
  const NodeBox e = nodes_of_e(fields_.shape()), h = places_of_h(e);
  NodeBox inner = h;
  if (runtime_.ranks() > 1) {
    if (Status s = halo_->start(fields_.ez); !s) return s;
    for (std::size_t a = 0; a < 2; ++a) {
      inner.begin[a] += wavefront_.has_neighbour[2 * a];
      inner.end[a] -= wavefront_.has_neighbour[2 * a + 1];
    }
    if (inner.is_empty()) inner = {h.begin, h.begin};
  }
  const std::int64_t rows = inner.end[1] - inner.begin[1];
  const auto update_rows = [&](const threads::IndexRange& range) {
    NodeBox piece = inner;
    piece.begin[1] = inner.begin[1] + range.begin;
    piece.end[1] = inner.begin[1] + range.end;
    timed(h_row_, 0, [&] { kernels.update_h(fields_, piece); });
  };
  times_.add(h_row_, 1, 0);
  if (runtime_.ranks() == 1) {
    update_rows({0, rows});
  } else {
    if (Status s = runtime_.beside_messages(rows, update_rows); !s) return s;
    if (Status s = times_.timed(ghosts_row_, [&] { return halo_->wait(); }); !s) return s;
    const std::array<NodeBox, 4> outer{{{{h.begin[0], h.begin[1]}, {h.end[0], inner.begin[1]}},
                                        {{h.begin[0], inner.end[1]}, {h.end[0], h.end[1]}},
                                        {{h.begin[0], inner.begin[1]}, {inner.begin[0], inner.end[1]}},
                                        {{inner.end[0], inner.begin[1]}, {h.end[0], inner.end[1]}}}};
    for (const NodeBox& box : outer)
      if (!box.is_empty()) timed(h_row_, 0, [&] { kernels.update_h(fields_, box); });
  }
  timed(e_row_, 1, [&] { kernels.update_e(fields_, e); });
  add_source();
  ++done_;
  return Nothing{};
}

template <class T>
Status LocalFields<T>::pass(int levels) {
  if (runtime_.ranks() > 1)
    if (Status s = times_.timed(ghosts_row_, [&] { return halo_->run(fields_.memory()); }); !s) return s;
  FieldWavefront how = wavefront_;
  how.levels = levels;
  timed(h_row_, levels, [&] { run_wavefront(fields_, how, problem_.source, done_); });
  done_ += levels;
  return Nothing{};
}

template <class T>
Status LocalFields<T>::run_on_device(std::int64_t steps) {
  Status status = Nothing{};
  timed(h_row_, steps, [&] { status = device_->run(done_, steps); });
  done_ += steps;
  return status;
}

template <class T>
Status LocalFields<T>::run(std::int64_t steps) {
  if (device_) return run_on_device(steps);
  for (const std::int64_t end = done_ + steps; done_ < end;) {
    const auto levels = static_cast<int>(std::min<std::int64_t>(wavefront_.levels, end - done_));
    if (Status s = variant_.is_wavefront() ? pass(levels) : step(); !s) return s;
  }
  return Nothing{};
}

template <class T>
void set_mode(const Fields<T>& f, const Mode& mode) {
  const FieldShape& s = f.shape();
  const double kx = M_PI * mode.p / static_cast<double>(s.points[0]),
               ky = M_PI * mode.q / static_cast<double>(s.points[1]);
  const auto value = [&](std::int64_t x, std::int64_t y) { // 0 on and beyond the walls, as the fields have it
    if (x <= 0 || x >= s.points[0] || y <= 0 || y >= s.points[1]) return 0.0;
    return std::sin(kx * static_cast<double>(x)) * std::sin(ky * static_cast<double>(y));
  };
  for (std::int64_t y = -s.ghosts; y < s.cells[1] + s.ghosts; ++y)
    for (std::int64_t x = -s.ghosts; x < s.cells[0] + s.ghosts; ++x) {
      const std::int64_t n = f.at(x, y), X = s.first[0] + x, Y = s.first[1] + y;
      const double here = value(X, Y);
      f.ez[n] = static_cast<T>(here);
      f.hx[n] = static_cast<T>(s.courant / 2 * (value(X, Y + 1) - here));
      f.hy[n] = static_cast<T>(-s.courant / 2 * (value(X + 1, Y) - here));
    }
}

template class LocalFields<float>;
template class LocalFields<double>;
template void set_mode(const Fields<float>&, const Mode&);
template void set_mode(const Fields<double>&, const Mode&);

} // namespace kumihimo::fdtd2d
