// Messages between ranks that share no memory: non-blocking sends and receives of the MPI library, recognised by tags.
// What is reduced or scattered on arrival goes through a buffer of its own. After the first error nothing is started
// and nothing is completed any more.
#pragma once

#include "execute/scratch.hpp"
#include "mpi/library.hpp"
#include "mpi/library_progress.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::execute {

// A tag tells apart what may be under way at once between two ranks: instances, lanes, segments of a window, ordinals
// within their spread, signals from data. Messages of equal tags are started in the same order at both ends, and MPI
// keeps that order. The bits of a tag are divided once, by MPI_TAG_UB alone, so that two ranks never need to agree.
class Tags {
 public:
  // From here on a tag has a bit for signals and those of an instance, and tells one lane, segment and message apart.
  static constexpr std::int64_t smallest_upper_bound = 7;

  // `upper_bound` is no smaller, and is an int.
  explicit Tags(std::int64_t upper_bound = 32767);

  // Error: MPI_TAG_UB leaves too few bits for what may be under way.
  Status accepts(const transport::Demands& demands) const;
  int tag(const transport::MessageKey& key) const;

 private:
  static constexpr int instance_bits = 2;
  std::int64_t upper_bound_;
  int lane_bits_, segment_bits_, ordinal_bits_;
};

class PointToPoint {
 public:
  // The library counts in int. What is longer travels in parts, one after the other under one tag.
  static constexpr std::int64_t most_at_once_bytes = std::int64_t{1} << 30;

  // `communicator` is private to this object, with errors returned. `most_at_once`: of one message of the library's.
  PointToPoint(const mpi::Library& library, mpi::Handle communicator, std::int64_t tag_upper_bound,
               std::int64_t most_at_once = most_at_once_bytes);
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  void move_to(mpi::Handle communicator) { communicator_ = communicator; } // while nothing is under way
  Status prepare(const transport::Demands& demands) const;
  void send(transport::SendRequest& message);
  void receive(transport::ReceiveRequest& message);
  bool progress(); // true: something was completed
  bool busy() const { return !under_way_.empty(); }
  std::vector<std::int32_t> awaited() const; // the peers of what is under way
  // Lets the library make progress on everything else that it has under way in this process: other ranks may wait for
  // that, in messages, windows and whatever else.
  void drive_library();
  // Gives up everything that is under way; `reason` is the error() from now on, unless there is one already.
  void abandon(const Error& reason);
  const std::optional<Error>& error() const { return error_; } // the first

 private:
  using Buffer = Scratch;
  struct Parts {
    Buffer buffer;
    std::int32_t left = 0; // under way
  };
  struct UnderWay {
    mpi::Handle request = 0;
    transport::Message* message = nullptr;
    transport::ReceiveRequest* receiving = nullptr; // the same, where it is a receive
    std::int64_t bytes = 0;                         // of the message, or of this part of it
    Buffer buffer;                                  // where there is one: through which it is sent or received
    std::shared_ptr<Parts> parts;                   // of a message in several: these have the buffer
  };
  template <class Start>
  void start(UnderWay item, std::byte* data, Start&& start);
  void finish(UnderWay& item, const mpi::StatusWords& status);
  bool is_whole(const UnderWay& item, const mpi::StatusWords& status);
  void cancel_receives();
  void check(int code, const char* what);

  const mpi::Library& library_;
  mpi::Handle communicator_;
  std::shared_ptr<mpi::LibraryProgress> driver_;
  Tags tags_;
  std::int64_t most_at_once_;
  std::vector<UnderWay> under_way_;
  std::optional<Error> error_;
};

} // namespace kumihimo::execute
