#include "goal/operation_windows.hpp"

#include <fmt/format.h>

namespace kumihimo::goal {

std::uint32_t OperationWindow::add(const GraphOperation& operation) {
  if (size_ % in_piece == 0) {
    auto& spare = shared_->spare;
    if (spare.empty()) spare.push_back(std::make_unique<Piece>());
    pieces_.push_back(std::move(spare.back()));
    spare.pop_back();
    *pieces_.back() = Piece{};
  }
  pieces_.back()->slots[size_ % in_piece].operation = operation;
  return size_++;
}

void OperationWindow::after(std::uint32_t operation, std::uint32_t on, Moment Slot::*moment) {
  Slot& waiting = slot(operation);
  Moment& of = slot(on).*moment;
  if (of.past) {
    waiting.ready = std::max(waiting.ready, of.time);
    return;
  }
  ++waiting.left;
  const std::uint32_t link = shared_->links.take({operation, no_link});
  (of.first == no_link ? of.first : shared_->links[of.last].next) = link;
  of.last = link;
}

void OperationWindow::after_end(std::uint32_t operation, std::uint32_t on) {
  if (const auto ended = ended_.find(on); ended != ended_.end())
    slot(operation).ready = std::max(slot(operation).ready, ended->second);
  else
    after(operation, on, &Slot::end);
}

void OperationWindow::let_go(std::uint32_t operation) {
  if (ended_.erase(operation) == 0) slot(operation).kept = false;
}

void OperationWindow::done(std::uint32_t operation) {
  if (const Slot& of = slot(operation); of.kept) ended_.emplace(operation, of.end.time);
  std::unique_ptr<Piece>& piece = pieces_[operation / in_piece - first_piece_];
  if (--piece->left > 0) return;
  shared_->spare.push_back(std::move(piece));
  for (; !pieces_.empty() && !pieces_.front(); ++first_piece_) pieces_.pop_front();
}

OperationWindows::OperationWindows(std::vector<std::unique_ptr<OperationMaker>> makers, std::int32_t cpus,
                                   std::int32_t nics)
    : shared_(std::make_unique<OperationWindow::Shared>()), cpus_(cpus), nics_(nics) {
  ranks_.reserve(makers.size());
  for (auto& maker : makers) ranks_.push_back({std::move(maker), OperationWindow(*shared_)});
}

std::pair<std::uint32_t, std::uint32_t> OperationWindows::extended(std::int32_t rank) {
  OfRank& of = ranks_[static_cast<std::size_t>(rank)];
  of.last = no_link;
  const auto first = static_cast<std::uint32_t>(of.window.size());
  if (!of.maker || !status_) return {first, first};
  const auto last = of.maker->extend(of.window);
  if (!last) {
    status_ = last.error();
    return {first, first};
  }
  if (*last)
    of.last = **last;
  else
    of.maker.reset();
  const auto end = static_cast<std::uint32_t>(of.window.size());
  for (std::uint32_t i = first; i < end; ++i) wanted_ += of.window.slot(i).operation.kind != Kind::join;
  return {first, end};
}

Error OperationWindows::error(const Unmatched& unmatched, std::uint64_t left) {
  if (!unmatched.any()) return failed("operations were left that wait for no message");
  const std::uint32_t number = unmatched.first().operation;
  const GraphOperation& operation = of(unmatched.rank(), number);
  const std::string name = fmt::format("operation {}", number);
  return unmatched.error(name_of(unmatched.rank(), operation, name, peer(unmatched.rank(), operation.peer)), true,
                         left);
}

} // namespace kumihimo::goal
