// Blocks all signals for this thread while it lives, and for threads that are made meanwhile: the program's own threads
// must receive them.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace kumihimo {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

} // namespace kumihimo
