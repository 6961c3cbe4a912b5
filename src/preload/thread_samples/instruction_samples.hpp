// Where running threads of this process are in their code. Tells a thread that computes from one that spins.
//
// A thread that runs gets SIGURG, whose handler notes the instruction that it interrupted. The kernel ignores this
// signal by default and the C library does not use it, as the Go runtime argues, which preempts with it. A program with
// a handler of its own for SIGURG gets none: nothing is sampled. A waiting thread gets no signal; one that begins to
// wait at this moment may see EINTR.
#pragma once

#include "thread_samples/thread_states.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace kumihimo::thread_samples {

// Instructions of those of `threads` that ran at some of `rounds` looks, which are some milliseconds apart. Empty where
// the processor or the program do not allow it. One caller at a time. Threads that share a processor may get no time
// slice in these rounds: up to 50 more follow for them, 5 ms apart, while `goes_on` is true.
std::map<pid_t, std::vector<std::uintptr_t>> instruction_samples(const std::vector<ThreadState>& threads, int rounds,
                                                                 const std::function<bool()>& goes_on = {});

} // namespace kumihimo::thread_samples
