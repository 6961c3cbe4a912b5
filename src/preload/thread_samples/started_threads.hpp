// Which library started each thread of this process. The preload library hooks pthread_create and notes it here.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>

namespace kumihimo::thread_samples {

using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// Starts a thread by `create`, as pthread_create does, and notes where its code is. Allocates a few bytes, which the
// new thread frees; if there are none, starts the thread without a note.
int create_noted(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                 void* argument);

// An address in the library or program that started the thread: its start function, or of std::thread the class of
// what it calls. 0: unknown, or of more than 4,096 threads ago.
std::uintptr_t origin_of(pid_t thread);

} // namespace kumihimo::thread_samples
