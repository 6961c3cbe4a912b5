#include "application/program_run.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace kumihimo::application {

using transport::Transport;

Result<bool> UnderWay::advance() {
  if (runs_.empty()) return false;
  const Transport::Progress progress = transport_.progress();
  if (progress == Transport::Progress::failed) return transport_.error();
  bool moved = progress == Transport::Progress::moved;
  for (std::size_t i = 0; i < runs_.size();) {
    const bool done = TRY(runs_[i]->execution_->advance());
    if (!done) {
      ++i;
      continue;
    }
    runs_[i]->under_way_ = false;
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
    moved = true;
  }
  return moved;
}

Status UnderWay::wait_for(const ProgramRun& run) {
  while (run.under_way_) {
    const bool moved = TRY(advance());
    if (!moved && run.under_way_) transport_.idle();
  }
  return Nothing{};
}

Status UnderWay::wait_until_may_begin(transport::Stream stream, std::int64_t number) {
  for (;;) {
    const auto old = std::ranges::find_if(runs_, [&](const ProgramRun* run) {
      return run->stream_ == stream && run->number_ <= number - transport::instances_at_once;
    });
    if (old == runs_.end()) return Nothing{};
    if (Status s = wait_for(**old); !s) return s;
  }
}

Result<std::unique_ptr<ProgramRun>> ProgramRun::compile(const ProgramSet& set, Rank rank, UnderWay& others,
                                                        const transport::Reduction& reduction, transport::Stream stream,
                                                        bool in_place_safe) {
  execute::CompiledProgram program = TRY(execute::compile(set, rank, {.hints = {}, .in_place_safe = in_place_safe}));
  return std::unique_ptr<ProgramRun>(new ProgramRun(std::move(program), others, reduction, stream));
}

Result<std::unique_ptr<ProgramRun>> ProgramRun::make(const ProgramSet& set, Rank rank, UnderWay& others,
                                                     const transport::Reduction& reduction, transport::Stream stream,
                                                     bool in_place_safe) {
  Result<std::unique_ptr<ProgramRun>> made = failed("out of memory", {}, "use a smaller size or more ranks");
  try {
    made = compile(set, rank, others, reduction, stream, in_place_safe);
  } catch (const std::bad_alloc&) { // the other ranks must learn of it, below
  }
  if (!made) {
    transport::Demands none;
    none.impossible = true;
    static_cast<void>(others.transport().prepare(none));
    return made;
  }
  (*made)->execution_ = TRY(execute::Execution::prepare((*made)->program_, others.transport()));
  return made;
}

Result<std::unique_ptr<ProgramRun>> ProgramRun::make_another(const ProgramSet& set, Rank rank, UnderWay& others,
                                                             const transport::Reduction& reduction,
                                                             transport::Stream stream, bool in_place_safe) {
  std::unique_ptr<ProgramRun> made = TRY(compile(set, rank, others, reduction, stream, in_place_safe));
  made->execution_ = TRY(execute::Execution::make(made->program_, others.transport()));
  return made;
}

ProgramRun::~ProgramRun() { std::erase(others_.runs_, this); }

Status ProgramRun::start(const execute::Buffers& buffers) {
  number_ = ++others_.begun_[static_cast<std::size_t>(stream_)];
  if (Status s = others_.wait_until_may_begin(stream_, number_); !s) return s;
  if (Status s = execution_->reserve(); !s) return s;
  execution_->start(buffers, reduction_, stream_);
  under_way_ = true;
  others_.runs_.push_back(this);
  const Result<bool> moved = others_.advance();
  return moved ? Status(Nothing{}) : Status(moved.error());
}

Status ProgramRun::wait() { return others_.wait_for(*this); }

Status ProgramRun::run(const execute::Buffers& buffers) {
  if (Status s = start(buffers); !s) return s;
  return wait();
}

} // namespace kumihimo::application
