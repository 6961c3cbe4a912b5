#include "application/box_halo.hpp"

namespace kumihimo::application {
namespace {

// The cells of one field, in the order of memory.
template <class Visit>
void for_each_cell(const Halo& halo, const CellBox& box, Visit visit) {
  for (std::int64_t z = box.low[2]; z <= box.high[2]; ++z)
    for (std::int64_t y = box.low[1]; y <= box.high[1]; ++y)
      for (std::int64_t x = box.low[0]; x <= box.high[0]; ++x) visit(x + halo.row() * y + halo.plane() * z);
}

template <class T>
void copy_across(const Halo& halo, const HaloMessage& message, T* field) {
  std::vector<std::int64_t> from;
  for_each_cell(halo, message.sent, [&](std::int64_t cell) { from.push_back(cell); });
  auto next = from.begin();
  for_each_cell(halo, message.received, [&](std::int64_t ghost) { field[ghost] = field[*next++]; });
}

template <class T>
void copy_periodic_axes(const Halo& halo, T* fields) {
  for (const HaloMessage& message : messages_of(halo, Rank{0}))
    if (message.to == 0)
      for (std::int64_t f = 0; f < halo.fields; ++f) copy_across(halo, message, fields + f * halo.cells_with_ghosts());
}

} // namespace

Result<std::unique_ptr<BoxHalo>> BoxHalo::make(Halo halo, Rank rank, UnderWay& under_way) {
  auto made = std::make_unique<BoxHalo>();
  halo.compute_seconds = 0;
  made->run_ = TRY(ProgramRun::make(programs_of(halo).set, rank, under_way));
  made->halo_ = std::move(halo);
  return made;
}

Result<std::unique_ptr<BoxHalo>> BoxHalo::of_one_rank(Halo halo) {
  auto made = std::make_unique<BoxHalo>();
  made->halo_ = std::move(halo);
  return made;
}

Status BoxHalo::start(void* fields) {
  if (run_) return run_->start({fields, fields});
  if (halo_.type == DataType::float32)
    copy_periodic_axes(halo_, static_cast<float*>(fields));
  else
    copy_periodic_axes(halo_, static_cast<double*>(fields));
  return Nothing{};
}

Status BoxHalo::run(void* fields) {
  if (Status s = start(fields); !s) return s;
  return wait();
}

} // namespace kumihimo::application
