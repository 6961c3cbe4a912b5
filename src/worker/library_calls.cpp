#include "worker/library_calls.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

namespace kumihimo::worker {
namespace {

class Calls final : public Contestant {
 public:
  Calls(const mpi::Library& library, const LibraryCall& call, const Collective& question, Rank rank,
        mpi::Handle operation)
      : library_(library), call_(call), question_(question), rank_(rank), type_(library.datatype(question.type)),
        operation_(operation) {}

  Status call(const Vectors::Set& set) override {
    const std::int64_t all = question_.counts.each;
    for (std::int64_t part = 0; part < call_.parts; ++part) {
      const std::int64_t first = all * part / call_.parts, end = all * (part + 1) / call_.parts;
      if (const int code = one(set, first, static_cast<int>(end - first)); code != 0) [[unlikely]]
        return library_.check(code, "MPI's own collective");
    }
    return Nothing{};
  }

  Bytes result(const Vectors::Set& set) const override {
    if (alone_broadcast()) return {set.input, question_.bytes().value};
    if (!call_.allreduces && !call_.broadcasts && rank_ != question_.root) return {};
    return {set.output, question_.bytes().value};
  }
  bool gives_all_the_same() const override { return true; }

 private:
  bool alone_broadcast() const { return call_.broadcasts && !call_.reduces; }

  int one(const Vectors::Set& set, std::int64_t first, int count) const {
    const std::int64_t at = first * question_.type_bytes;
    std::byte* input = static_cast<std::byte*>(set.input) + at;
    std::byte* output = static_cast<std::byte*>(set.output) + at;
    const mpi::Handle world = library_.constants.comm_world;
    const int root = question_.root.value;
    int code = 0;
    if (call_.allreduces) code = library_.call.Allreduce(input, output, count, type_, operation_, world);
    if (call_.reduces) code = library_.call.Reduce(input, output, count, type_, operation_, root, world);
    if (code == 0 && call_.broadcasts)
      code = library_.call.Bcast(alone_broadcast() ? input : output, count, type_, root, world);
    return code;
  }

  const mpi::Library& library_;
  LibraryCall call_;
  Collective question_;
  Rank rank_;
  mpi::Handle type_, operation_;
};

} // namespace

Result<LibraryCall> parse_library_call(std::string_view name) {
  LibraryCall call;
  std::string_view what = name;
  if (const std::size_t space = what.find(' '); space != std::string_view::npos) {
    const auto [end, error] = std::from_chars(what.data(), what.data() + space, call.parts);
    if (error != std::errc{} || end != what.data() + space) call.parts = 0;
    what.remove_prefix(space + 1);
  }
  call.allreduces = what == "allreduce";
  call.reduces = what == "reduce" || what == "reduce+bcast";
  call.broadcasts = what == "bcast" || what == "reduce+bcast";
  if (call.parts < 1 || !(call.allreduces || call.reduces || call.broadcasts))
    return bad_input("a call is allreduce, reduce, bcast or reduce+bcast, in parts or not ('2 bcast')",
                     fmt::format("'{}'", name));
  return call;
}

std::unique_ptr<Contestant> library_contestant(const mpi::Library& library, const LibraryCall& call,
                                               const Collective& question, Rank rank,
                                               std::optional<mpi::Handle> operation) {
  return std::make_unique<Calls>(library, call, question, rank,
                                 operation.value_or(library.operation(question.operation)));
}

} // namespace kumihimo::worker
