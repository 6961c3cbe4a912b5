#include "mpi_hooks/sessions.hpp"

#include <atomic>
#include <numeric>
#include <string>

namespace kumihimo::mpi_hooks {
namespace {

// Not in every library, so none of mpi::Functions.
struct Functions {
  int (*Session_init)(Handle info, Handle errors, Handle* session);
  int (*Session_finalize)(Handle* session);
  int (*Group_from_session_pset)(Handle session, const char* set, Handle* group);
  int (*Comm_create_from_group)(Handle group, const char* tag, Handle info, Handle errors, Handle* communicator);
  bool are_there() const {
    return Session_init && Session_finalize && Group_from_session_pset && Comm_create_from_group;
  }
};

const Functions& functions() {
  static const auto found = [] {
    Functions all{};
#define KUMIHIMO_FIND(name) all.name = reinterpret_cast<decltype(all.name)>(mpi::loaded_symbol("PMPI_" #name))
    KUMIHIMO_FIND(Session_init);
    KUMIHIMO_FIND(Session_finalize);
    KUMIHIMO_FIND(Group_from_session_pset);
    KUMIHIMO_FIND(Comm_create_from_group);
#undef KUMIHIMO_FIND
    return all;
  }();
  return found;
}

} // namespace

std::unique_ptr<OwnSession> OwnSession::open(const mpi::Library& library) {
  if (!functions().are_there()) return nullptr;
  std::unique_ptr<OwnSession> own(new OwnSession(library));
  const mpi::Constants& known = library.constants;
  if (functions().Session_init(known.info_null, known.errors_return, &own->session_) != 0) {
    own->session_ = 0;
    return nullptr;
  }
  if (own->group_of("mpi://WORLD", own->world_) != 0) return nullptr;
  library.call.Group_rank(own->world_, &own->rank_);
  library.call.Group_size(own->world_, &own->ranks_);
  return own;
}

OwnSession::~OwnSession() {
  if (world_ != 0) library_.call.Group_free(&world_);
  if (session_ != 0) functions().Session_finalize(&session_);
}

int OwnSession::group_of(const char* set, Handle& group) const {
  Handle made = 0;
  const int code = functions().Group_from_session_pset(session_, set, &made);
  if (code == 0) group = made;
  return code;
}

std::vector<std::int32_t> OwnSession::ranks_in(const mpi::Library& library, Handle communicator, Handle world) {
  std::int32_t size = 0;
  Handle group = 0;
  if (library.call.Comm_size(communicator, &size) != 0 || library.call.Comm_group(communicator, &group) != 0)
    return {unknown};
  std::vector<std::int32_t> own(static_cast<std::size_t>(size)), in_job(own.size(), -1);
  std::iota(own.begin(), own.end(), 0);
  const int code = library.call.Group_translate_ranks(group, size, own.data(), world, in_job.data());
  library.call.Group_free(&group);
  if (code != 0) return {unknown};
  for (std::int32_t& rank : in_job)
    if (rank == library.constants.undefined) rank = -1;
  return in_job;
}

Result<Handle> OwnSession::make_alone() const {
  Handle group = 0, made = 0;
  if (Status s = library_.check(group_of("mpi://SELF", group), "MPI_Group_from_session_pset"); !s) return s.error();
  // Several threads may be here at once, each of which needs a tag of its own.
  static std::atomic<std::uint64_t> made_before = 0;
  const std::string tag = "org.kumihimo.alone." + std::to_string(made_before++);
  const int code = functions().Comm_create_from_group(group, tag.c_str(), library_.constants.info_null,
                                                      library_.constants.errors_return, &made);
  library_.call.Group_free(&group);
  if (Status s = library_.check(code, "MPI_Comm_create_from_group"); !s) return s.error();
  return made;
}

} // namespace kumihimo::mpi_hooks
