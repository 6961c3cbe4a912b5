#include "checks.hpp"
#include "kernels/reduce.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

namespace kumihimo::mpi {
namespace {

#define CHECK_THAT(condition)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition);                      \
      return false;                                                                                                    \
    }                                                                                                                  \
  } while (false)

// Small values, exact in every type, none of them zero.
std::vector<std::byte> values_of(DataType type, int rank) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_of(type)) * 4);
  for (int i = 0; i < 4; ++i) {
    const int value = 1 + (rank + i) % 3;
    std::byte* at = bytes.data() + i * size_of(type);
    const float as_float = static_cast<float>(value);
    const double as_double = value;
    if (type == DataType::float32)
      std::memcpy(at, &as_float, sizeof as_float);
    else if (type == DataType::float64)
      std::memcpy(at, &as_double, sizeof as_double);
    else
      std::memcpy(at, &value, static_cast<std::size_t>(size_of(type) < 4 ? size_of(type) : 4)); // little-endian
  }
  return bytes;
}

// The library's result for every type and operation is what the plain loops give.
bool check_types_and_operations(const Library& library, int rank, int ranks) {
  for (DataType type : builtin_datatypes)
    for (Operation op : builtin_operations) {
      if (!is_applicable(type, op)) continue;
      if ((type == DataType::uint8 || type == DataType::int8) && (op == Operation::sum || op == Operation::prod))
        continue; // Open MPI saturates these in places
      std::vector<std::byte> mine = values_of(type, rank), expected = values_of(type, 0), found(mine.size());
      const kernels::ReduceKernel reduce = kernels::reduce_plain(type, op);
      for (int r = 1; r < ranks; ++r) reduce(expected.data(), values_of(type, r).data(), expected.data(), 4);
      CHECK_THAT(library.call.Allreduce(mine.data(), found.data(), 4, library.datatype(type), library.operation(op),
                                        library.constants.comm_world) == 0);
      CHECK_THAT(found == expected || ranks == 1);
      CHECK_THAT(library.call.Allreduce(library.constants.in_place, mine.data(), 4, library.datatype(type),
                                        library.operation(op), library.constants.comm_world) == 0);
      CHECK_THAT(mine == found);
    }
  return true;
}

bool check_status_and_requests(const Library& library, int rank, int ranks) {
  const Constants& c = library.constants;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  std::int32_t sent = rank * 10, received = -1;
  Handle request = 0;
  CHECK_THAT(
      library.call.Isend(&sent, 1, library.datatype(DataType::int32), next, 100 + rank, c.comm_world, &request) == 0);
  CHECK_THAT(request != c.request_null);
  StatusWords status;
  CHECK_THAT(library.call.Recv(&received, 1, library.datatype(DataType::int32), c.any_source, c.any_tag, c.comm_world,
                               &status) == 0);
  CHECK_THAT(received == previous * 10);
  CHECK_THAT(status.words[static_cast<std::size_t>(c.status_source)] == previous);
  CHECK_THAT(status.words[static_cast<std::size_t>(c.status_tag)] == 100 + previous);
  CHECK_THAT(library.call.Wait(&request, c.status_ignore) == 0);
  CHECK_THAT(request == c.request_null);
  return library.call.Barrier(c.comm_world) == 0;
}

bool check_communicators(const Library& library, int rank, int ranks) {
  const Constants& c = library.constants;
  int size = 0, found = 0;
  int* tag_upper_bound = nullptr;
  CHECK_THAT(library.call.Comm_size(c.comm_self, &size) == 0 && size == 1);
  CHECK_THAT(library.call.Comm_get_attr(c.comm_world, c.tag_ub, &tag_upper_bound, &found) == 0);
  CHECK_THAT(found && *tag_upper_bound >= 32767);
  Handle same_machine = 0, none = 0;
  CHECK_THAT(library.call.Comm_split_type(c.comm_world, c.comm_type_shared, rank, c.info_null, &same_machine) == 0);
  CHECK_THAT(library.call.Comm_size(same_machine, &size) == 0 && size == ranks);
  CHECK_THAT(library.call.Comm_free(&same_machine) == 0 && same_machine == c.comm_null);
  CHECK_THAT(library.call.Comm_split(c.comm_world, c.undefined, 0, &none) == 0 && none == c.comm_null);
  return true;
}

bool check_errors(const Library& library, int rank) {
  const Constants& c = library.constants;
  Handle mine = 0;
  CHECK_THAT(library.call.Comm_dup(c.comm_self, &mine) == 0);
  CHECK_THAT(library.call.Comm_set_errhandler(mine, c.errors_return) == 0);
  int value = 0;
  const int code = library.call.Send(&value, 1, library.datatype(DataType::int32), 77, 0, mine);
  CHECK_THAT(code != 0);
  CHECK_THAT(!library.error_text(code).empty());
  CHECK_THAT(!library.check(code, "MPI_Send").ok());
  return library.call.Comm_free(&mine) == 0;
}

bool check_loading(const Library& library, int rank) {
  Result<Library> again = loaded_library();
  CHECK_THAT(again.ok());
  CHECK_THAT(again->family == library.family);
  CHECK_THAT(again->call.Comm_rank == library.call.Comm_rank);
  const Result<Library> absent = open_library("/nowhere/libmpi.so");
  CHECK_THAT(!absent.ok() && absent.error().sentence().find("/nowhere/libmpi.so") != std::string::npos);
  const Result<Library> other = open_library("libm.so.6");
  CHECK_THAT(!other.ok() && other.error().sentence().find("MPI_") != std::string::npos);
  return true;
}

} // namespace

bool check_abi(const Library& library, int rank, int ranks) {
  return check_types_and_operations(library, rank, ranks) && check_status_and_requests(library, rank, ranks) &&
         check_communicators(library, rank, ranks) && check_errors(library, rank) && check_loading(library, rank);
}

} // namespace kumihimo::mpi
