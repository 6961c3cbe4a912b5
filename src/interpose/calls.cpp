#include "interpose/calls.hpp"

#include "interpose/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

namespace kumihimo::interpose {
namespace {

std::optional<int> hand_on(Session& session, CollectiveKind kind, std::int64_t bytes, Reason reason) {
  session.tally().handed_on(index_of(kind), bytes, reason);
  return std::nullopt;
}

int finish(Session& session, mpi::Handle communicator, const Status& status) {
  if (status) [[likely]]
    return 0;
  return session.raise(status.error(), communicator);
}

// The plan of a question, counted; or nothing, and it has been handed on.
plan::Plan* plan_of(Session& session, Communicator& communicator, const Collective& question) {
  const std::int64_t bytes = question.bytes().value;
  const auto plan = communicator.plan(question);
  if (const Reason* reason = std::get_if<Reason>(&plan)) {
    hand_on(session, question.kind, bytes, *reason);
    return nullptr;
  }
  const auto& ready = std::get<Communicator::Ready>(plan);
  session.tally().ran(index_of(question.kind), bytes, ready.variant);
  return ready.plan;
}

// Whether elements of the type lie one behind the other, in the order of its signature: predefined ones without holes.
bool is_dense(const mpi::Library& library, mpi::Handle type, int size) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  mpi::Address low = 0, extent = 0;
  return library.call.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == 0 &&
         combiner == library.constants.combiner_named && library.call.Type_get_extent(type, &low, &extent) == 0 &&
         extent == size;
}

// The bytes of a call's buffer one behind the other, packed and unpacked by the MPI library in pieces that it can
// count.
class Packed {
 public:
  Packed(const mpi::Library& library, const Call& call, int size)
      : library_(library), call_(call), size_(size), data_(static_cast<std::size_t>(call.count * size)) {
    library.call.Type_get_extent(call.type, &low_, &extent_);
  }
  std::byte* data() { return data_.data(); }

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
  const Call& call_;
  int size_;
  mpi::Address low_ = 0, extent_ = 0;
  std::vector<std::byte> data_;
};

Status bcast_packed(const mpi::Library& library, plan::Plan& plan, const Call& call, int size, bool root) {
  try {
    Packed packed(library, call, size);
    if (root)
      if (Status s = packed.pack(); !s) return s;
    if (Status s = plan.run({packed.data(), packed.data()}); !s) return s;
    return root ? Status(Nothing{}) : packed.unpack();
  } catch (const std::bad_alloc&) {
    return failed(fmt::format("{} bytes of memory to pack a broadcast", call.count * size), "less");
  }
}

// A reduction whose type and operation are ours, on an intracommunicator; or it has been handed on.
struct Question {
  Session* session = nullptr;
  Communicator* communicator = nullptr;
  Collective collective;
};
std::optional<Question> reduction_of(CollectiveKind kind, Call& call) {
  Session* const session = Session::current();
  if (!session) return std::nullopt;
  call.type = session->plain(call.type), call.operation = session->plain(call.operation);
  call.communicator = session->plain(call.communicator);
  const std::optional<DataType> type = session->types().type(call.type);
  const auto leave = [&](Reason reason) {
    hand_on(*session, kind, type ? call.count * size_of(*type) : 0, reason);
    return std::nullopt;
  };
  if (call.count <= 0) return leave(Reason::empty); // below 0: the library's error
  if (!type) return leave(Reason::other_type);
  const std::optional<Operation> operation = session->types().operation(call.operation);
  if (!operation || !is_applicable(*type, *operation)) return leave(Reason::other_op);
  Communicator* const communicator = session->communicator(call.communicator);
  if (!communicator) return leave(Reason::between);
  if (kind == CollectiveKind::reduce && (call.root < 0 || call.root >= communicator->ranks()))
    return leave(Reason::no_plan); // the library's error
  const bool in_place = call.send == session->library().constants.in_place;
  return Question{
      session, communicator,
      make_collective(kind, communicator->ranks(), call.count, *type, *operation, Rank{call.root}, in_place)};
}

} // namespace

thread_local bool Outermost::inside_ = false;

std::optional<int> take_allreduce(Call call) {
  if (const ExactAnswer exact = take_exact(CollectiveKind::allreduce, call); exact.is_sum) return exact.code;
  const auto asked = reduction_of(CollectiveKind::allreduce, call);
  if (!asked) return std::nullopt;
  const void* input = asked->collective.in_place ? call.receive : call.send;
  plan::Plan* const plan = plan_of(*asked->session, *asked->communicator, asked->collective);
  if (!plan) return std::nullopt;
  return finish(*asked->session, call.communicator, plan->run({input, call.receive}));
}

std::optional<int> take_reduce(Call call) {
  if (const ExactAnswer exact = take_exact(CollectiveKind::reduce, call); exact.is_sum) return exact.code;
  const auto asked = reduction_of(CollectiveKind::reduce, call);
  if (!asked) return std::nullopt;
  // In place is the root's affair: the others' plans are the same in both cases.
  const bool root = asked->communicator->rank() == call.root;
  const void* input = root && asked->collective.in_place ? call.receive : call.send;
  plan::Plan* const plan = plan_of(*asked->session, *asked->communicator, asked->collective);
  if (!plan) return std::nullopt;
  return finish(*asked->session, call.communicator, plan->run({input, call.receive}));
}

// A rank may describe the same bytes by another type than the next: they are told by their number alone, and where they
// do not lie one behind the other they are packed by the library.
std::optional<int> take_bcast(Call call) {
  Session* const session = Session::current();
  if (!session) return std::nullopt;
  const mpi::Library& library = session->library();
  call.type = session->plain(call.type), call.communicator = session->plain(call.communicator);
  Communicator* const communicator = session->communicator(call.communicator);
  if (!communicator) return hand_on(*session, CollectiveKind::bcast, 0, Reason::between);
  long long size = 0;
  if (call.count < 0 || call.type == library.constants.datatype_null ||
      library.call.Type_size_x(call.type, &size) != 0 || size < 0)
    return hand_on(*session, CollectiveKind::bcast, 0, Reason::other_type);
  const std::int64_t bytes = call.count * size;
  if (bytes == 0) return hand_on(*session, CollectiveKind::bcast, 0, Reason::empty);
  // Longer than the library can pack in one piece, should a rank need that.
  if (bytes > std::numeric_limits<int>::max()) return hand_on(*session, CollectiveKind::bcast, bytes, Reason::no_plan);
  if (call.root < 0 || call.root >= communicator->ranks())
    return hand_on(*session, CollectiveKind::bcast, bytes, Reason::no_plan);
  const Collective question = make_collective(CollectiveKind::bcast, communicator->ranks(), bytes, DataType::uint8,
                                              Operation::sum, Rank{call.root});
  plan::Plan* const plan = plan_of(*session, *communicator, question);
  if (!plan) return std::nullopt;
  if (is_dense(library, call.type, static_cast<int>(size)))
    return finish(*session, call.communicator, plan->run({call.receive, call.receive}));
  const bool root = communicator->rank() == call.root;
  return finish(*session, call.communicator, bcast_packed(library, *plan, call, static_cast<int>(size), root));
}

void before_comm_free(mpi::Handle communicator) {
  if (Session* const session = Session::current()) session->release(session->plain(communicator));
}

void before_comm_free(const mpi::Handle* communicator) {
  Session* const session = Session::current();
  if (!session || !communicator) return;
  const bool wide = session->library().family == mpi::Family::open_mpi; // MPICH's is an int
  session->release(wide ? *communicator : *reinterpret_cast<const std::int32_t*>(communicator));
}

void before_finalize() {
  if (Session* const session = Session::current()) session->finish();
}

} // namespace kumihimo::interpose
