#include "application/box_halo.hpp"

namespace kumihimo::application {
namespace {

// The cells of one field, in the order of memory.
template <class Visit>
void for_each_cell(const Halo& halo, const CellBox& box, Visit visit) {
  const std::int64_t X = halo.cells[0] + 2, Y = halo.cells[1] + 2;
  for (std::int64_t z = box.low[2]; z <= box.high[2]; ++z)
    for (std::int64_t y = box.low[1]; y <= box.high[1]; ++y)
      for (std::int64_t x = box.low[0]; x <= box.high[0]; ++x) visit(x + X * (y + Y * z));
}

void copy_across(const Halo& halo, const HaloMessage& message, double* field) {
  std::vector<std::int64_t> from;
  for_each_cell(halo, message.sent, [&](std::int64_t cell) { from.push_back(cell); });
  auto next = from.begin();
  for_each_cell(halo, message.received, [&](std::int64_t ghost) { field[ghost] = field[*next++]; });
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

Status BoxHalo::start(double* fields) {
  if (run_) return run_->start({fields, fields});
  for (const HaloMessage& message : messages_of(halo_, Rank{0}))
    if (message.to == 0)
      for (std::int64_t f = 0; f < halo_.fields; ++f)
        copy_across(halo_, message, fields + f * halo_.cells_with_ghosts());
  return Nothing{};
}

Status BoxHalo::run(double* fields) {
  if (Status s = start(fields); !s) return s;
  return wait();
}

} // namespace kumihimo::application
