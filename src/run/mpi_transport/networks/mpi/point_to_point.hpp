// The network of the MPI library itself: non-blocking sends and receives of the MPI library, matched by tags. A
// message that is reduced or scattered on arrival is received into a buffer of its own. After the first error no
// message is started or completed.
#pragma once

#include "execute/scratch.hpp"
#include "mpi_transport/networks/network.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::mpi_transport {

// A tag distinguishes the messages that may be under way at once between two ranks: by instance, lane, segment of a
// window, ordinal within the spread, signal or data. Messages of equal tags are started in the same order at both ends,
// and MPI keeps that order. MPI_TAG_UB alone decides how many bits each part gets, so ranks need no agreement. A rank
// may have instances_at_once() of a stream under way, and start their messages in any order.
class TagLayout {
 public:
  // With this bound a tag has the bits of a signal and two instances, and none left for lanes, segments and ordinals.
  static constexpr std::int64_t smallest_upper_bound = 7;

  // `upper_bound`: at least smallest_upper_bound, and an int.
  explicit TagLayout(std::int64_t upper_bound = 32767);

  // Error: MPI_TAG_UB leaves too few bits for the messages that may be under way.
  Status accepts(const transport::Demands& demands) const;
  int tag(const transport::MessageKey& key) const;
  // Of each stream: transport::instances_at_once where MPI_TAG_UB is what the MPI standard demands.
  std::int64_t instances_at_once() const {
    return (std::int64_t{1} << instance_bits_) / std::int64_t{transport::streams};
  }

 private:
  static constexpr int most_instance_bits = 5; // with the stream's
  static_assert((std::int64_t{1} << most_instance_bits) ==
                transport::instances_at_once * std::int64_t{transport::streams});
  std::int64_t upper_bound_;
  int instance_bits_, lane_bits_, segment_bits_, ordinal_bits_;
};

class PointToPoint final : public MpiNetwork {
 public:
  // `tag_upper_bound`: MPI_TAG_UB, or less.
  PointToPoint(const NetworkContext& context, std::int64_t tag_upper_bound);
  Status prepare(const transport::Demands& demands) const override;
  void send(transport::SendRequest& message) override;
  void receive(transport::ReceiveRequest& message) override;
  bool progress() override;
  bool busy() const override { return !under_way_.empty(); }
  std::vector<std::int32_t> awaited() const override;
  void abandon(const Error& reason) override;

 private:
  using Buffer = execute::ScratchMemory;
  struct Parts {
    Buffer buffer;
    std::int32_t left = 0; // under way
  };
  struct UnderWay {
    mpi::Handle request = 0;
    transport::TransferRequest* message = nullptr;
    transport::ReceiveRequest* receiving = nullptr; // the same message if it is a receive
    std::int64_t bytes = 0;                         // of the message, or of this part
    Buffer buffer;                                  // if the message is packed or reduced
    std::shared_ptr<Parts> parts;                   // of a message in several parts: they hold the buffer
  };
  template <class Start>
  void start(UnderWay item, std::byte* data, Start&& start);
  void finish(UnderWay& item, const mpi::StatusWords& status);
  bool is_whole(const UnderWay& item, const mpi::StatusWords& status);
  void cancel_receives();
  void check(int code, const char* what);

  const mpi::Library& library_;
  mpi::Handle communicator_;
  TagLayout tags_;
  std::int64_t most_at_once_;
  std::vector<UnderWay> under_way_;
};

} // namespace kumihimo::mpi_transport
