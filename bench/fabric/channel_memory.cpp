// channel_memory PEERS PROMOTED SIZES: resident memory of one process for receiving from simulated peers, as a JSON
// line
// {"peers", "before", "contacted", "promoted", "slots"}: bytes more than at the start, before the first contact, when
// each peer was contacted once, and when PROMOTED peers have sent enough for a large channel. Every slot is written, as
// by messages that nobody waits for. SIZES as in KUMIHIMO_FABRIC_CHANNELS; "": the defaults.
//
// The states and slots are the ones that a port has (fabric/two_mode_channels.hpp, fabric/channel_memory.hpp). A peer
// is played by its answers: it confirms what it is offered, and fills all slots once. "slots" is what the slots have.
#include "fabric/channel_memory.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace kumihimo::fabric;

namespace {

std::int64_t resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(1);
  std::fclose(file);
  return std::int64_t{resident} * sysconf(_SC_PAGESIZE);
}

class ProcessOfSimulatedPeers {
 public:
  explicit ProcessOfSimulatedPeers(const ChannelSizes& sizes) : sizes_(sizes), channels_(sizes), memory_(sizes) {}
  void hear(std::int32_t peer) {
    channels_.hear(peer);
    for (bool moved = true; moved;) {
      std::vector<ChannelChange> come;
      for (const ChannelChange& change : channels_.take_changes()) {
        memory_.apply(change);
        if (change.is_new) come.push_back(change);
      }
      const std::vector<AddressedMessage> said = channels_.take_outgoing();
      for (const AddressedMessage& m : said)
        if (m.message.kind == ChannelMessage::Kind::offer)
          channels_.take(m.peer, {ChannelMessage::Kind::confirm, m.message.mode, m.message.epoch, 0});
      for (const ChannelChange& change : come) fill(change);
      moved = !said.empty();
    }
  }
  std::int64_t slot_bytes() const { return memory_.bytes(); }
  bool is_sound() const { return channels_.violation().empty(); }

 private:
  void fill(const ChannelChange& channel) {
    const std::vector<std::byte> message(static_cast<std::size_t>(sizes_.slot_bytes(channel.mode)), std::byte{1});
    std::vector<const std::byte*> slots;
    for (std::int64_t slot = 0; slot < sizes_.slots(channel.mode); ++slot)
      slots.push_back(memory_.keep(channel.peer, channel.epoch, message));
    for (const std::byte* slot : slots) memory_.give(channel.peer, channel.epoch, slot);
  }

  ChannelSizes sizes_;
  TwoModeChannels channels_;
  ChannelSlots memory_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "channel_memory PEERS PROMOTED SIZES\n"), 2;
  const auto peers = static_cast<std::int32_t>(std::atoi(argv[1])),
             promoted = static_cast<std::int32_t>(std::atoi(argv[2]));
  const auto sizes = *argv[3] ? channel_sizes_in("SIZES", argv[3]) : kumihimo::Result<ChannelSizes>(ChannelSizes{});
  if (!sizes) return std::fprintf(stderr, "%s\n", sizes.error().sentence().c_str()), 2;
  const std::int64_t start = resident_bytes();
  ProcessOfSimulatedPeers process(*sizes);
  const std::int64_t before = resident_bytes() - start;
  for (std::int32_t peer = 0; peer < peers; ++peer) process.hear(peer);
  const std::int64_t contacted = resident_bytes() - start;
  for (std::int64_t message = 0; message < sizes->promoted_after; ++message)
    for (std::int32_t peer = 0; peer < promoted; ++peer) process.hear(peer);
  std::printf("{\"peers\": %d, \"before\": %lld, \"contacted\": %lld, \"promoted\": %lld, \"slots\": %lld}\n", peers,
              static_cast<long long>(before), static_cast<long long>(contacted),
              static_cast<long long>(resident_bytes() - start), static_cast<long long>(process.slot_bytes()));
  return process.is_sound() ? 0 : 1;
}
