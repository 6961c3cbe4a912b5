#include "replay/windowed_run.hpp"

#include "replay/rank_graph.hpp"

#include <utility>

namespace kumihimo::replay {
namespace {

class RecordedRankMaker : public goal::OperationMaker {
 public:
  RecordedRankMaker(RankGraph<goal::OperationWindow> of_rank, std::unique_ptr<EventStream> stream,
                    std::deque<Mark>& marks)
      : of_rank_(std::move(of_rank)), stream_(std::move(stream)), marks_(marks) {}

  Result<std::optional<std::uint32_t>> extend(goal::OperationWindow& window) override {
    std::optional<Mark> mark;
    while (!mark && stream_) {
      if (at_ == events_.size()) {
        events_ = TRY(stream_->next());
        at_ = 0;
      }
      if (events_.empty()) {
        mark = of_rank_.finish(window);
        stream_.reset();
      } else {
        mark = TRY(of_rank_.add(window, events_[at_++]));
      }
    }
    if (!mark) return std::optional<std::uint32_t>();
    marks_.push_back(*mark);
    return std::optional(mark->operation);
  }

 private:
  RankGraph<goal::OperationWindow> of_rank_;
  std::unique_ptr<EventStream> stream_; // null: all events were there
  std::span<const Event> events_;
  std::size_t at_ = 0; // of them
  std::deque<Mark>& marks_;
};

} // namespace

struct WindowedRun::State {
  explicit State(const Windowed& program)
      : tags(*program.source), collectives(*program.source, program.choices, program.options, tags.first_block()),
        marks(static_cast<std::size_t>(program.source->ranks())) {}

  TagNumbers tags;
  CollectiveFragments collectives;
  std::vector<std::deque<Mark>> marks; // by rank
  std::optional<goal::OperationWindows> operations;
};

Result<std::unique_ptr<WindowedRun>> WindowedRun::make(const Windowed& program) {
  const Source& source = *program.source;
  const std::vector<double> shares = TRY(shares_of(source, program.options));
  auto state = std::make_unique<State>(program);
  std::vector<std::unique_ptr<goal::OperationMaker>> makers;
  for (std::int32_t rank = 0; rank < source.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    RankGraph<goal::OperationWindow> of_rank(source, state->collectives, state->tags, program.options, rank,
                                             shares[at]);
    makers.push_back(std::make_unique<RecordedRankMaker>(
        std::move(of_rank), source.stream(rank, together(source.ranks())), state->marks[at]));
  }
  state->operations.emplace(std::move(makers), program.options.rates.cpus, program.options.rates.nics);
  return std::unique_ptr<WindowedRun>(new WindowedRun(std::move(state)));
}

WindowedRun::WindowedRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
WindowedRun::~WindowedRun() = default;

goal::OperationWindows& WindowedRun::operations() { return *state_->operations; }

std::deque<Mark>& WindowedRun::marks(std::int32_t rank) { return state_->marks[static_cast<std::size_t>(rank)]; }

} // namespace kumihimo::replay
