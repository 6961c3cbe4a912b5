#include "application/ghosts.hpp"

#include "program/builder.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::application {
namespace {

// Block n of the input goes to neighbour n, and block n of the output comes from it.
Program program_of(const Ghosts& ghosts) {
  std::vector<Step> steps;
  for (std::size_t n = 0; n < ghosts.neighbours.size(); ++n)
    if (ghosts.neighbours[n].received > 0)
      steps.push_back(
          receive(ghosts.neighbours[n].rank, out[blocks(Layout::output_blocks, static_cast<std::int64_t>(n))]));
  for (std::size_t n = 0; n < ghosts.neighbours.size(); ++n)
    if (!ghosts.neighbours[n].sent.empty())
      steps.push_back(send(ghosts.neighbours[n].rank, in[blocks(Layout::input_blocks, static_cast<std::int64_t>(n))]));
  return program_of_one_round(std::move(steps), "exchange");
}

} // namespace

std::int64_t Ghosts::sent() const {
  std::int64_t all = 0;
  for (const Neighbour& n : neighbours) all += static_cast<std::int64_t>(n.sent.size());
  return all;
}

std::int64_t Ghosts::received() const {
  std::int64_t all = 0;
  for (const Neighbour& n : neighbours) all += n.received;
  return all;
}

Status check(const Ghosts& ghosts, Rank rank, std::int32_t ranks) {
  std::int32_t before = -1;
  for (const Ghosts::Neighbour& n : ghosts.neighbours) {
    if (n.rank < 0 || n.rank >= ranks || n.rank == rank.value)
      return wrong_value(fmt::format("a neighbour of rank {} must be another one of the {} ranks", rank.value, ranks),
                         n.rank);
    if (n.rank <= before) return wrong_value("neighbours must ascend by rank, each once", n.rank);
    before = n.rank;
    if (n.received < 0) return wrong_value("the number of ghosts must be at least 0", n.received);
    for (const std::int32_t row : n.sent)
      if (row < 0 || row >= ghosts.rows)
        return wrong_value(fmt::format("a row to be sent must be one of the rank's {}", ghosts.rows), row);
  }
  return Nothing{};
}

ProgramSet programs_of(std::int32_t ranks, std::function<std::shared_ptr<const Ghosts>(Rank)> of_rank) {
  DataLayout data;
  data.ranks = ranks;
  BlockLayout input, output;
  input.name = "input_blocks", output.name = "output_blocks";
  input.unit = output.unit = "message";
  for (std::int32_t r = 0; r < ranks; ++r)
    input.blocks = std::max(input.blocks, static_cast<std::int64_t>(of_rank(Rank{r})->neighbours.size()));
  output.blocks = input.blocks;
  input.blocks_at =
      output.blocks_at = [of_rank](Rank rank) { return static_cast<std::int64_t>(of_rank(rank)->neighbours.size()); };
  input.elements_at = [of_rank](Rank rank, std::int64_t n) {
    return static_cast<std::int64_t>(of_rank(rank)->neighbours[static_cast<std::size_t>(n)].sent.size());
  };
  output.elements_at = [of_rank](Rank rank, std::int64_t n) {
    return of_rank(rank)->neighbours[static_cast<std::size_t>(n)].received;
  };
  data.blocks = {std::move(input), std::move(output)};
  data.buffers = [](Rank) {
    BufferPair buffers;
    buffers.input = buffers.output = BufferPair::all_blocks;
    return buffers;
  };
  ProgramSet set;
  set.data = std::make_shared<const DataLayout>(std::move(data));
  set.program = [of_rank = std::move(of_rank)](Rank rank) { return program_of(*of_rank(rank)); };
  return set;
}

Result<std::unique_ptr<GhostExchange>> GhostExchange::make(Ghosts ghosts, Rank rank, std::int32_t ranks,
                                                           UnderWay& under_way) {
  if (Status s = check(ghosts, rank, ranks); !s) return s.error();
  auto made = std::make_unique<GhostExchange>();
  made->ghosts_ = std::make_shared<const Ghosts>(std::move(ghosts));
  for (const Ghosts::Neighbour& n : made->ghosts_->neighbours)
    made->rows_.insert(made->rows_.end(), n.sent.begin(), n.sent.end());
  made->packed_ = TRY(threads::ThreadedArray<double>::zeros(made->ghosts_->sent()));
  const ProgramSet set = programs_of(ranks, [own = made->ghosts_](Rank) { return own; });
  made->run_ = TRY(ProgramRun::make(set, rank, under_way));
  return made;
}

Result<std::unique_ptr<GhostExchange>> GhostExchange::without_neighbours(Ghosts ghosts) {
  auto made = std::make_unique<GhostExchange>();
  ghosts.neighbours.clear();
  made->ghosts_ = std::make_shared<const Ghosts>(std::move(ghosts));
  return made;
}

Status GhostExchange::start(double* vector) {
  if (!run_) return Nothing{};
  const auto count = static_cast<std::int64_t>(rows_.size());
  const std::int32_t* const rows = rows_.data();
  double* const packed = packed_.data();
#pragma omp parallel for schedule(static) if (count > 4096)
  for (std::int64_t i = 0; i < count; ++i) packed[i] = vector[rows[i]];
  return run_->start({packed, vector + ghosts_->rows});
}

Status GhostExchange::run(double* vector) {
  if (Status s = start(vector); !s) return s;
  return wait();
}

} // namespace kumihimo::application
