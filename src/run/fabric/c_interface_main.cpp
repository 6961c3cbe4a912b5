// The functions of kumihimo/remote_memory.h, for C.
#include "base/text_parsing.hpp"
#include "fabric/remote_access.hpp"

#include <fmt/format.h>
#include <kumihimo/remote_memory.h>

#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <string>

using namespace kumihimo;
using fabric::AccessCode, fabric::AccessCompletion, fabric::AccessKey, fabric::AccessOptions, fabric::AccessOutcome;
using fabric::FabricPort, fabric::RemoteAccess;

static_assert(sizeof(kumihimo_rma_key) == sizeof(AccessKey));
static_assert(sizeof(kumihimo_rma_completion) == sizeof(AccessCompletion));
static_assert(static_cast<int>(KUMIHIMO_RMA_FAILED) == static_cast<int>(AccessCode::failed));
static_assert(static_cast<int>(KUMIHIMO_RMA_FLAGS) == RemoteAccess::flags);

struct kumihimo_rma {
  std::unique_ptr<RemoteAccess> access;
  std::string description;
};

namespace {

thread_local std::string last_error;

int answer(const AccessOutcome& outcome) {
  last_error = outcome.text;
  return static_cast<int>(outcome.code);
}

int complain(const Error& error, AccessCode code) { return answer({code, error.sentence()}); }

AccessCode code_of(const Error& error) {
  if (error.kind == Error::Kind::bad_input) return AccessCode::bad_argument;
  return error.kind == Error::Kind::not_applicable ? AccessCode::not_supported : AccessCode::failed;
}

// Nothing is thrown through C.
template <class Work>
int guarded(Work work) {
  try {
    return answer(work());
  } catch (const std::bad_alloc&) {
    return complain(failed("out of memory"), AccessCode::failed);
  } catch (const std::exception& error) { // of the system, which may start no thread
    return complain(failed("remote memory failed", error.what()), AccessCode::failed);
  }
}

template <class Work>
int with(kumihimo_rma* rma, Work work) {
  if (!rma)
    return complain(wrong_value("remote memory must be open", "a null pointer", "call kumihimo_rma_open before"),
                    AccessCode::bad_argument);
  return guarded([&] { return work(*rma->access); });
}

int null_pointer(const char* what) {
  return complain(wrong_value(fmt::format("{} needs an address", what), "a null pointer"), AccessCode::bad_argument);
}

const AccessKey* key_of(const kumihimo_rma_key* key) { return reinterpret_cast<const AccessKey*>(key); }
AccessCompletion* completion_of(kumihimo_rma_completion* completion) {
  return reinterpret_cast<AccessCompletion*>(completion);
}

Result<std::int64_t> number_of(const std::string& name, const std::string& word, std::int64_t least,
                               std::int64_t most) {
  const std::optional<std::int64_t> number = number_in<std::int64_t>(word);
  if (number && *number >= least && *number <= most) return *number;
  return wrong_value(fmt::format("{} must be a number from {} to {}", name, least, most), "'" + word + "'");
}

Result<AccessOptions> options_of(const char* text) {
  AccessOptions options;
  options.port.engines = 1;
  std::istringstream stream(text ? text : "");
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size())
      return wrong_value("options of remote memory must be words NAME=VALUE", "'" + word + "'");
    const std::string value = word.substr(equals + 1);
    if (name == "provider") {
      options.port.provider.provider = value;
    } else if (name == "engines") {
      options.port.engines = static_cast<std::int32_t>(TRY(number_of(name, value, 1, FabricPort::most_engines)));
    } else if (name == "rails") {
      options.port.rails = TRY(fabric::rails_in(name, value));
    } else if (name == "atomics") {
      options.port.provider.atomics = TRY(number_of(name, value, 0, 1)) == 1;
    } else if (name == "progress") {
      options.progress = std::chrono::microseconds(TRY(number_of(name, value, 0, 1'000'000)));
    } else {
      return wrong_value("options of remote memory are provider, engines, rails, atomics and progress",
                         "'" + name + "'", "leave it out");
    }
  }
  return options;
}

} // namespace

extern "C" {

int kumihimo_rma_open(std::int32_t rank, std::int32_t ranks, kumihimo_rma_exchange* exchange, void* argument,
                      const char* options, kumihimo_rma** rma) {
  if (!exchange) return null_pointer("the exchange between the ranks");
  if (!rma) return null_pointer("the result of kumihimo_rma_open");
  *rma = nullptr;
  return guarded([&]() -> AccessOutcome {
    Result<std::unique_ptr<RemoteAccess>> opened = RemoteAccess::open(
        rank, ranks,
        [&](const void* mine, void* all, std::size_t bytes) { return exchange(mine, all, bytes, argument); },
        options_of(options));
    if (!opened) return {code_of(opened.error()), opened.error().sentence()};
    auto made = std::make_unique<kumihimo_rma>();
    made->access = std::move(*opened);
    made->description = made->access->description();
    *rma = made.release();
    return {};
  });
}

const char* kumihimo_rma_description(const kumihimo_rma* rma) { return rma->description.c_str(); }

int kumihimo_rma_register(kumihimo_rma* rma, void* memory, std::int64_t bytes, kumihimo_rma_key* key) {
  if (!key) return null_pointer("the key of registered memory");
  return with(rma, [&](RemoteAccess& access) {
    return access.register_memory(static_cast<std::byte*>(memory), bytes, *reinterpret_cast<AccessKey*>(key));
  });
}

int kumihimo_rma_deregister(kumihimo_rma* rma, const kumihimo_rma_key* key) {
  if (!key) return null_pointer("the key of registered memory");
  return with(rma, [&](RemoteAccess& access) { return access.deregister_memory(*key_of(key)); });
}

int kumihimo_rma_allocate(kumihimo_rma* rma, std::int64_t bytes, void** memory, kumihimo_rma_key* key) {
  if (!memory) return null_pointer("the address of allocated memory");
  if (!key) return null_pointer("the key of allocated memory");
  return with(rma, [&](RemoteAccess& access) {
    std::byte* data = nullptr;
    AccessOutcome outcome = access.allocate(bytes, data, *reinterpret_cast<AccessKey*>(key));
    if (outcome.ok()) *memory = data;
    return outcome;
  });
}

int kumihimo_rma_free(kumihimo_rma* rma, const kumihimo_rma_key* key) {
  if (!key) return null_pointer("the key of allocated memory");
  return with(rma, [&](RemoteAccess& access) { return access.free(*key_of(key)); });
}

int kumihimo_rma_use_engine(kumihimo_rma* rma, std::int32_t engine) {
  return with(rma, [&](RemoteAccess& access) { return access.use_engine(engine); });
}

int kumihimo_rma_put(kumihimo_rma* rma, const void* source, std::int64_t bytes, const kumihimo_rma_key* target,
                     std::int64_t offset, kumihimo_rma_completion* completion) {
  return with(rma, [&](RemoteAccess& access) {
    return access.put(static_cast<const std::byte*>(source), bytes, {key_of(target), offset}, std::nullopt,
                      completion_of(completion));
  });
}

int kumihimo_rma_put_flag(kumihimo_rma* rma, const void* source, std::int64_t bytes, const kumihimo_rma_key* target,
                          std::int64_t offset, std::int32_t flag, kumihimo_rma_completion* completion) {
  return with(rma, [&](RemoteAccess& access) {
    return access.put(static_cast<const std::byte*>(source), bytes, {key_of(target), offset}, flag,
                      completion_of(completion));
  });
}

int kumihimo_rma_get(kumihimo_rma* rma, void* result, std::int64_t bytes, const kumihimo_rma_key* source,
                     std::int64_t offset, kumihimo_rma_completion* completion) {
  return with(rma, [&](RemoteAccess& access) {
    return access.get(static_cast<std::byte*>(result), bytes, {key_of(source), offset}, completion_of(completion));
  });
}

int kumihimo_rma_fetch_add(kumihimo_rma* rma, const kumihimo_rma_key* target, std::int64_t offset, std::int64_t value,
                           std::int64_t* old, kumihimo_rma_completion* completion) {
  return with(rma, [&](RemoteAccess& access) {
    FabricPort::Atomic atomic;
    atomic.value = value, atomic.old = old;
    return access.change(atomic, {key_of(target), offset}, completion_of(completion));
  });
}

int kumihimo_rma_compare_and_swap(kumihimo_rma* rma, const kumihimo_rma_key* target, std::int64_t offset,
                                  std::int64_t expected, std::int64_t value, std::int64_t* old,
                                  kumihimo_rma_completion* completion) {
  return with(rma, [&](RemoteAccess& access) {
    FabricPort::Atomic atomic;
    atomic.kind = FabricPort::Atomic::Kind::compare_and_swap;
    atomic.value = value, atomic.expected = expected, atomic.old = old;
    return access.change(atomic, {key_of(target), offset}, completion_of(completion));
  });
}

int kumihimo_rma_progress(kumihimo_rma* rma) {
  return with(rma, [](RemoteAccess& access) { return access.progress(); });
}

int kumihimo_rma_test(kumihimo_rma* rma, kumihimo_rma_completion* completion, int* is_complete) {
  if (!completion || !is_complete) return null_pointer("a test of a completion");
  return with(rma, [&](RemoteAccess& access) {
    bool complete = false;
    AccessOutcome outcome = access.test(*completion_of(completion), complete);
    *is_complete = complete;
    return outcome;
  });
}

int kumihimo_rma_wait(kumihimo_rma* rma, kumihimo_rma_completion* completion, double seconds) {
  if (!completion) return null_pointer("a wait for a completion");
  return with(rma, [&](RemoteAccess& access) { return access.wait(*completion_of(completion), seconds); });
}

int kumihimo_rma_fence(kumihimo_rma* rma, std::int32_t rank, double seconds) {
  return with(rma, [&](RemoteAccess& access) { return access.fence(rank, seconds); });
}

int kumihimo_rma_flags(kumihimo_rma* rma, std::int32_t flag, std::int64_t* count) {
  if (!count) return null_pointer("the count of a flag");
  return with(rma, [&](RemoteAccess& access) { return access.count_flags(flag, *count); });
}

int kumihimo_rma_wait_flag(kumihimo_rma* rma, std::int32_t flag, std::int64_t count, std::int32_t source,
                           double seconds) {
  return with(rma, [&](RemoteAccess& access) { return access.wait_flag(flag, count, source, seconds); });
}

int kumihimo_rma_barrier(kumihimo_rma* rma, double seconds) {
  return with(rma, [&](RemoteAccess& access) { return access.barrier(seconds); });
}

int kumihimo_rma_close(kumihimo_rma* rma, double seconds) {
  if (!rma) return answer({});
  const std::unique_ptr<kumihimo_rma> closing(rma);
  return with(rma, [&](RemoteAccess& access) { return access.close(seconds); });
}

const char* kumihimo_rma_error(void) { return last_error.c_str(); }

} // extern "C"
