#include "interpose/calls.hpp"

#include "interpose/arguments.hpp"
#include "interpose/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace kumihimo::interpose {
namespace {

class Packed;

// A call that is looked at: by whom, and of which form it is.
struct Asked {
  Session& session;
  CollectiveKind kind;
  Form form;

  std::nullopt_t hand_on(std::int64_t bytes, Reason reason) const {
    session.tally().handed_on(told_as(kind, form), bytes, reason);
    return std::nullopt;
  }
};

// A call that is ours: what runs it.
struct Taken {
  Session* session = nullptr;
  Communicator* communicator = nullptr;
  plan::Plan* plan = nullptr;
  execute::Buffers buffers;
  std::shared_ptr<Packed> packed; // a broadcast's, where its data do not lie one behind the other
  bool root = false;
};

// Whether elements of the type lie one behind the other, in the order of its signature: predefined ones without holes.
bool is_dense(const mpi::Library& library, mpi::Handle type, int size) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  mpi::Address low = 0, extent = 0;
  return library.call.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == 0 &&
         combiner == library.constants.combiner_named && library.call.Type_get_extent(type, &low, &extent) == 0 &&
         extent == size;
}

// The bytes of a call's buffer one behind the other, packed and unpacked by the MPI library in pieces that it can
// count. Of a non-blocking call it keeps a type of its own, and no communicator: the program may free both meanwhile.
// That type is made of the program's and not duplicated, which would ask the functions of its attributes.
class Packed {
 public:
  Packed(const Asked& asked, const Call& call, int size)
      : library_(asked.session.library()), call_(call), size_(size),
        data_(static_cast<std::size_t>(call.count * size)) {
    library_.call.Type_get_extent(call.type, &low_, &extent_);
    call_.communicator = library_.constants.comm_self;
  }
  ~Packed() {
    if (owns_) library_.call.Type_free(&call_.type);
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  std::byte* data() { return data_.data(); }

  Status keep_type() {
    const mpi::Handle given = call_.type;
    if (Status s = library_.check(library_.call.Type_contiguous(1, given, &call_.type), "MPI_Type_contiguous"); !s)
      return call_.type = given, s;
    owns_ = true;
    return library_.check(library_.call.Type_commit(&call_.type), "MPI_Type_commit");
  }

  Status pack() {
    return each([&](void* elements, int count, std::byte* packed, int bytes) {
      int at = 0;
      return library_.call.Pack(elements, count, call_.type, packed, bytes, &at, call_.communicator);
    });
  }
  Status unpack() {
    return each([&](void* elements, int count, std::byte* packed, int bytes) {
      int at = 0;
      return library_.call.Unpack(packed, bytes, &at, elements, count, call_.type, call_.communicator);
    });
  }

 private:
  template <class F>
  Status each(F&& move) {
    const std::int64_t most = std::max(1, (1 << 30) / size_);
    for (std::int64_t done = 0; done < call_.count; done += most) {
      const auto count = static_cast<int>(std::min(most, call_.count - done));
      void* elements = static_cast<std::byte*>(call_.receive) + done * extent_;
      if (const int code = move(elements, count, data_.data() + done * size_, count * size_); code != 0)
        return library_.check(code, "MPI_Pack or MPI_Unpack");
    }
    return Nothing{};
  }

  const mpi::Library& library_;
  Call call_;
  bool owns_ = false;
  int size_;
  mpi::Address low_ = 0, extent_ = 0;
  std::vector<std::byte> data_;
};

// The communicator of a call, where it is one of ours; a non-blocking call of one that is new leaves word.
Communicator* communicator_of(const Asked& asked, const Call& call) {
  if (asked.form == Form::blocking) {
    asked.session.meet(call.communicator);
    Communicator* const found = asked.session.communicator(call.communicator);
    if (!found) asked.hand_on(0, Reason::between);
    return found;
  }
  bool between = false;
  Communicator* const found = asked.session.known(call.communicator, between);
  if (found) return found;
  if (!between) asked.session.want(call.communicator);
  asked.hand_on(0, between ? Reason::between : Reason::not_connected);
  return nullptr;
}

// The plan of a question, counted; or nothing, and it has been handed on, or has failed with an error of ours.
struct Planned {
  plan::Plan* plan = nullptr;
  std::optional<Error> error;
};
Planned plan_of(const Asked& asked, Communicator& communicator, const Call& call, const Collective& question) {
  const std::int64_t bytes = question.bytes().value;
  const Communicator::Answer answer =
      asked.form == Form::blocking ? communicator.plan(question) : communicator.plan_alone(question);
  if (const Error* error = std::get_if<Error>(&answer)) return {nullptr, *error};
  if (const Reason* reason = std::get_if<Reason>(&answer)) {
    if (*reason == Reason::not_connected) asked.session.want(call.communicator);
    asked.hand_on(bytes, *reason);
    return {};
  }
  const auto& ready = std::get<Communicator::Ready>(answer);
  asked.session.tally().ran(told_as(asked.kind, asked.form), bytes, ready.variant);
  return {ready.plan, std::nullopt};
}

using Answer = std::optional<Result<Taken>>; // nothing: handed on

// A reduction whose type and operation are ours, on an intracommunicator.
Answer take_reduction(const Asked& asked, Call& call) {
  Session& session = asked.session;
  call.type = session.plain(call.type), call.operation = session.plain(call.operation);
  call.communicator = session.plain(call.communicator);
  const std::optional<DataType> type = session.types().type(call.type);
  const std::int64_t bytes = type ? call.count * size_of(*type) : 0;
  if (call.count == 0) return asked.hand_on(bytes, Reason::empty);
  if (!type) return asked.hand_on(bytes, Reason::other_type);
  Communicator* const communicator = communicator_of(asked, call);
  if (!communicator) return std::nullopt;
  if (const auto reason = communicator->declines(asked.kind)) return asked.hand_on(bytes, *reason);
  const std::optional<Operation> operation = session.types().operation(call.operation);
  if (!operation || !is_applicable(*type, *operation)) return asked.hand_on(bytes, Reason::other_op);
  const bool has_root = asked.kind == CollectiveKind::reduce;
  // The same buffer twice is wrong, and in place where the library lets it pass.
  const bool in_place = call.send == session.library().constants.in_place || call.send == call.receive;
  const Collective question =
      make_collective(asked.kind, communicator->ranks(), call.count, *type, *operation, Rank{call.root}, in_place);
  const Planned planned = plan_of(asked, *communicator, call, question);
  if (planned.error) return Answer(*planned.error);
  if (!planned.plan) return std::nullopt;
  // In place is the root's affair: the others' plans are the same in both cases.
  const bool aliased = in_place && (!has_root || communicator->rank() == call.root);
  return Answer(
      Taken{&session, communicator, planned.plan, {aliased ? call.receive : call.send, call.receive}, nullptr});
}

// A rank may describe the same bytes by another type than the next: they are told by their number alone, and where they
// do not lie one behind the other they are packed by the library.
Answer take_broadcast(const Asked& asked, Call& call) {
  Session& session = asked.session;
  const mpi::Library& library = session.library();
  call.type = session.plain(call.type), call.communicator = session.plain(call.communicator);
  if (call.type == library.constants.datatype_null) return asked.hand_on(0, Reason::refused);
  Communicator* const communicator = communicator_of(asked, call);
  if (!communicator) return std::nullopt;
  long long size = 0;
  if (library.call.Type_size_x(call.type, &size) != 0 || size < 0) return asked.hand_on(0, Reason::other_type);
  const std::int64_t bytes = call.count * size;
  if (bytes == 0) return asked.hand_on(0, Reason::empty);
  // Longer than the library can pack in one piece, should a rank need that.
  if (bytes > std::numeric_limits<int>::max()) return asked.hand_on(bytes, Reason::no_plan);
  if (const auto reason = communicator->declines(CollectiveKind::bcast)) return asked.hand_on(bytes, *reason);
  const Collective question = make_collective(CollectiveKind::bcast, communicator->ranks(), bytes, DataType::uint8,
                                              Operation::sum, Rank{call.root});
  const Planned planned = plan_of(asked, *communicator, call, question);
  if (planned.error) return Answer(*planned.error);
  if (!planned.plan) return std::nullopt;
  Taken taken{
      &session, communicator, planned.plan, {call.receive, call.receive}, nullptr, communicator->rank() == call.root};
  if (is_dense(library, call.type, static_cast<int>(size))) return Answer(taken);
  try {
    taken.packed = std::make_shared<Packed>(asked, call, static_cast<int>(size));
  } catch (const std::bad_alloc&) {
    return Answer(failed(fmt::format("{} bytes of memory to pack a broadcast", bytes), "less"));
  }
  if (asked.form == Form::nonblocking)
    if (Status s = taken.packed->keep_type(); !s) return Answer(s.error());
  taken.buffers = {taken.packed->data(), taken.packed->data()};
  if (taken.root)
    if (Status s = taken.packed->pack(); !s) return Answer(s.error());
  return Answer(taken);
}

Answer take(const Asked& asked, Call& call) {
  return asked.kind == CollectiveKind::bcast ? take_broadcast(asked, call) : take_reduction(asked, call);
}

Work work_of(const Taken& taken, mpi::Handle communicator) {
  return {taken.plan, taken.communicator->transport(), &taken.communicator->under_way(), taken.buffers, communicator};
}

Status run(const Taken& taken, mpi::Handle communicator) {
  const Status done = run_plan(*taken.session, *taken.communicator, communicator, *taken.plan, taken.buffers);
  if (!done || !taken.packed || taken.root) [[likely]]
    return done;
  return taken.packed->unpack();
}

} // namespace

Status run_plan(Session& session, Communicator& communicator, mpi::Handle handle, plan::Plan& plan,
                const execute::Buffers& buffers) {
  if (communicator.under_way().load(std::memory_order_acquire) == 0) return plan.run(buffers);
  return session.nonblocking().run({&plan, communicator.transport(), &communicator.under_way(), buffers, handle});
}

namespace {

std::optional<int> run_allowed(const Asked& asked, Call call) {
  Session* const session = &asked.session;
  if (session->reproducible() == Reproducible::exact)
    if (const ExactAnswer exact = run_exact(*session, asked.kind, call); exact.is_sum) return exact.code;
  const Answer taken = take(asked, call);
  if (!taken) return std::nullopt;
  const Status done = *taken ? run(**taken, call.communicator) : Status(taken->error());
  if (done) [[likely]]
    return 0;
  return session->raise(done.error(), call.communicator);
}

} // namespace

std::optional<int> run_call(CollectiveKind kind, const Call& call) {
  Session* const session = Session::current();
  if (!session) return std::nullopt;
  const Asked asked{*session, kind, Form::blocking};
  if (is_refused(*session, kind, asked.form, call)) return asked.hand_on(0, Reason::refused);
  const std::optional<int> code = run_allowed(asked, call);
  return code == 0 && is_refused_at_end(*session, kind, call) ? std::nullopt : code;
}

std::optional<int> start_call(CollectiveKind kind, Call call, mpi::Handle& request) {
  Session* const session = Session::current();
  if (!session) return std::nullopt;
  const Asked asked{*session, kind, Form::nonblocking};
  if (is_refused(*session, kind, asked.form, call)) return asked.hand_on(0, Reason::refused);
  if (session->reproducible() == Reproducible::exact)
    if (const ExactAnswer exact = start_exact(*session, kind, call, request); exact.is_sum) return exact.code;
  const Answer taken = take(asked, call);
  if (!taken) return std::nullopt;
  if (!*taken) return session->raise(taken->error(), call.communicator);
  Work work = work_of(**taken, call.communicator);
  if (const auto packed = (*taken)->packed) // kept until the end
    work.at_end = [packed, root = (*taken)->root] { return root ? Status(Nothing{}) : packed->unpack(); };
  const Result<mpi::Handle> started = session->nonblocking().start(std::move(work));
  if (!started) return session->raise(started.error(), call.communicator);
  request = *started;
  return 0;
}

void count_other(caught::Name name) {
  if (Session* const session = Session::current()) session->tally().other(name);
}

void meet(mpi::Handle communicator) {
  if (Session* const session = Session::current()) session->meet(session->plain(communicator));
}

Nonblocking* under_way() {
  Session* const session = Session::current();
  return session && session->nonblocking().any() ? &session->nonblocking() : nullptr;
}

void before_comm_free(mpi::Handle communicator) {
  if (Session* const session = Session::current()) session->release(session->plain(communicator));
}

void begin_watch() {
  static const bool wanted = settings_of_environment().timeout_seconds > 0;
  if (wanted) Session::current();
}

void before_finalize() {
  if (Session* const session = Session::current()) session->finish();
}

} // namespace kumihimo::interpose
