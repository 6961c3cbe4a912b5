// An MPI library of this process alone, for what real ones cannot be made to do: fail on one rank, deliver another
// length, never complete. It plays rank 0 of `ranks`; of the others it knows what they say in agreements.
#pragma once

#include "mpi/library.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace kumihimo::mpi::testing {

struct FakeRequest {
  bool receives = false, complete = false, cancelled = false;
  int bytes = 0; // that have come
};

// The state behind the functions; one at a time.
struct FakeWorld {
  std::int32_t ranks = 2, node_ranks = 1;
  std::vector<FakeRequest> requests;
  int test_code = 0, split_code = 0, split_type_code = 0, bcast_code = 0;
  std::array<Handle, 4> handlers = {11, 11, 11, 11}; // of errors, by communicator: 11 is one of the program's
  Handle handler_at_split = 0;                       // of the communicator that is split
  int handlers_held = 0;
  bool cancels = true;            // whether a cancelled receive is given back
  std::int64_t others_say = 0;    // in agreements on a largest value
  int others_say_from = 1;        // the how-manieth such agreement
  int others_say_until = 1 << 30; // and the last one
  std::int64_t sum_says = 0;      // all others together
  int largest_asked = 0;
  int communicators_freed = 0, allreduces = 0;
  std::int32_t own_requests = 0, times_driven = 0; // those that are never complete

  static FakeWorld& now() {
    static FakeWorld world;
    return world;
  }
};

constexpr Handle world_handle = 1, own_handle = 2, node_handle = 3, returning_handler = 12;
constexpr Handle own_request = 99;

inline int add_request(bool receives, Handle* request) {
  FakeWorld::now().requests.push_back({receives});
  *request = static_cast<Handle>(FakeWorld::now().requests.size());
  return 0;
}

inline FakeRequest& request_of(Handle handle) {
  return FakeWorld::now().requests[static_cast<std::size_t>(handle - 1)];
}

inline int test(Handle* request, int* done, StatusWords* status) {
  FakeWorld& w = FakeWorld::now();
  const FakeRequest& r = request_of(*request);
  if (w.test_code != 0) return w.test_code;
  *done = r.complete || (r.cancelled && w.cancels);
  if (*done && status) status->words[0] = r.bytes;
  return 0;
}

// Integers alone.
inline int allreduce(const void* mine, void* all, int count, Handle type, Handle op, Handle) {
  FakeWorld& w = FakeWorld::now();
  ++w.allreduces;
  if (op == static_cast<Handle>(Operation::max)) ++w.largest_asked;
  for (int i = 0; i < count; ++i) {
    const bool wide = type == 64;
    std::int64_t value = 0;
    std::int32_t narrow = 0;
    if (wide)
      std::memcpy(&value, static_cast<const std::int64_t*>(mine) + i, sizeof value);
    else
      std::memcpy(&narrow, static_cast<const std::int32_t*>(mine) + i, sizeof narrow), value = narrow;
    if (op == static_cast<Handle>(Operation::max) && w.largest_asked >= w.others_say_from &&
        w.largest_asked <= w.others_say_until)
      value = std::max(value, w.others_say);
    if (op == static_cast<Handle>(Operation::sum)) value += w.sum_says;
    if (wide)
      static_cast<std::int64_t*>(all)[i] = value;
    else
      static_cast<std::int32_t*>(all)[i] = static_cast<std::int32_t>(value);
  }
  return 0;
}

inline int allgather(const void* mine, int count, Handle type, void* all, int, Handle, Handle) {
  const std::size_t bytes = static_cast<std::size_t>(count) * (type == 64 ? 8 : 4);
  for (std::int32_t r = 0; r < FakeWorld::now().node_ranks; ++r) {
    std::byte* const part = static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(r);
    std::memcpy(part, mine, bytes);
    const std::int64_t rank = r;
    if (type == 64 && count == 4) std::memcpy(part, &rank, sizeof rank); // their ranks, and processes
  }
  return 0;
}

inline Library fake_library() {
  FakeWorld::now() = {};
  Library library;
  Functions& f = library.call;
  library.constants.comm_world = world_handle;
  library.constants.errors_return = returning_handler;
  library.constants.datatypes[static_cast<std::size_t>(DataType::int64)] = 64;
  library.constants.datatypes[static_cast<std::size_t>(DataType::int32)] = 32;
  for (std::size_t i = 0; i < library.constants.operations.size(); ++i)
    library.constants.operations[i] = static_cast<Handle>(i);
  f.Finalized = [](int* finalized) { return *finalized = 0; };
  f.Error_string = [](int, char* text, int* length) {
    std::strcpy(text, "so it is");
    *length = 8;
    return 0;
  };
  f.Error_class = [](int code, int* found) { return *found = code, 0; };
  f.Comm_rank = [](Handle, int* rank) { return *rank = 0; };
  f.Comm_size = [](Handle c, int* size) {
    *size = c == node_handle ? FakeWorld::now().node_ranks : FakeWorld::now().ranks;
    return 0;
  };
  f.Comm_split = [](Handle from, int, int, Handle* part) {
    *part = from == world_handle ? own_handle : node_handle;
    FakeWorld::now().handler_at_split = FakeWorld::now().handlers[static_cast<std::size_t>(from)];
    return FakeWorld::now().split_code;
  };
  f.Comm_split_type = [](Handle, int, int, Handle, Handle* node) {
    *node = node_handle;
    return FakeWorld::now().split_type_code;
  };
  f.Comm_free = [](Handle* c) { return ++FakeWorld::now().communicators_freed, *c = 0, 0; };
  f.Comm_set_errhandler = [](Handle c, Handle h) {
    return FakeWorld::now().handlers[static_cast<std::size_t>(c)] = h, 0;
  };
  f.Comm_get_errhandler = [](Handle c, Handle* h) {
    *h = FakeWorld::now().handlers[static_cast<std::size_t>(c)];
    return FakeWorld::now().handlers_held += *h != returning_handler, 0; // what the library has is never freed
  };
  f.Errhandler_free = [](Handle* h) { return --FakeWorld::now().handlers_held, *h = 0, 0; };
  f.Comm_get_attr = [](Handle, int, void* value, int* found) {
    static int bound = 32767;
    *static_cast<int**>(value) = &bound;
    *found = 1;
    return 0;
  };
  f.Isend = [](const void*, int, Handle, int, int, Handle, Handle* r) { return add_request(false, r); };
  f.Irecv = [](void*, int, Handle, int, int, Handle, Handle* r) { return add_request(true, r); };
  f.Test = test;
  f.Cancel = [](Handle* r) { return request_of(*r).cancelled = true, 0; };
  f.Get_count = [](const StatusWords* status, Handle, int* bytes) { return *bytes = status->words[0], 0; };
  f.Grequest_start = [](QueryRequest, FreeRequest, CancelRequest, void*, Handle* r) {
    return *r = own_request, FakeWorld::now().own_requests++, 0;
  };
  f.Request_get_status = [](Handle r, int* complete, StatusWords*) {
    return *complete = 0, FakeWorld::now().times_driven += r == own_request, 0;
  };
  f.Grequest_complete = [](Handle) { return 0; };
  f.Wait = [](Handle* r, StatusWords*) { return FakeWorld::now().own_requests -= *r == own_request, *r = 0, 0; };
  f.Barrier = [](Handle) { return 0; };
  f.Allreduce = allreduce;
  f.Allgather = allgather;
  f.Bcast = [](void*, int, Handle, int, Handle) { return FakeWorld::now().bcast_code; };
  return library;
}

} // namespace kumihimo::mpi::testing
