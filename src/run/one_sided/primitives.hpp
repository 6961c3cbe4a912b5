// Libraries of one-sided communication are classes of primitives. All have
//
// clang-format off
//   Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair)
//                                         collective; memory for one pair, or for all
//   void release()                        collective
//   std::byte* memory()                   of this rank, which others reach
//   std::byte* local()                    of this rank, of as many bytes: a put reads it, a get writes it
//   void meet()                           all ranks, or those of the pair, come here; stores to memory() are then seen
//   void open(peer), close(peer)          begin and end an access. After it the target has what was put, and what was
//                                         got is here
//   void start_put(peer, offset, bytes), start_get(..)       between them; `offset` is that of both memories
//
// and some of
//
//   void put(peer, offset, bytes), get(..)                   blocking, without open() and close()
//   puts_before_quiet                     a put before close() is put(), as programs of this library write it
//   tells_no_arrival                      close() says that the source may be changed, and no more
//   blocks                                start_put() and start_get() are blocking: the library has no others
//   void put_flag(peer, offset, bytes), wait_flag(peer)      a blocking put that the peer learns of, and that it waits for
//   void fence(peer)                      later puts to this rank come later
//   void expose(peer, follows_own_access), conceal(peer)     of the target, where it takes part in each access
//   std::int64_t fetch_add(peer, value), compare_and_swap(peer, expected, value), swap(peer, value)
//                                         on peer's counter
//   std::int64_t counter(), void set_counter(value)          this rank's own
//   void barrier(), broadcast(bytes, root), reduce(count), collect(bytes)
//                                         from local() to memory(): of 32-bit integers
//   void prepare_reduce(count)            before each reduce, not timed
// clang-format on
//
// Primitives are no virtual functions, since a put within a node takes as long as ten calls of one.
#pragma once

namespace kumihimo::one_sided {

template <class L>
concept HasActiveTarget = requires(L library) {
  library.expose(0, true);
};
template <class L>
concept HasBlockingPut = requires(L library) {
  library.put(0, 0, 0);
};
template <class L>
concept HasBlockingGet = requires(L library) {
  library.get(0, 0, 0);
};
template <class L>
concept HasGet = requires(L library) {
  library.start_get(0, 0, 0);
};
template <class L>
concept HasPutsBeforeQuiet = requires {
  L::puts_before_quiet;
};
template <class L>
concept HasNonBlocking = !requires {
  L::blocks;
};
template <class L>
concept HasFlaggedPut = requires(L library) {
  library.put_flag(0, 0, 0);
  library.wait_flag(0);
};
template <class L>
concept HasFence = requires(L library) {
  library.fence(0);
};

} // namespace kumihimo::one_sided
