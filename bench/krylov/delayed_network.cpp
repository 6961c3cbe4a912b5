// A network of some namespaces whose packets arrive a fixed time late: delayed_network SECONDS NAMESPACE...
//
// The i-th namespace (made by `ip netns add`) gets the device `delayed0` with the address 10.99.0.<i + 1>/24. This
// process forwards the packets between these devices and ends with its standard input. It is a real-time process, so
// computing ranks do not delay it further. Linux, root.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

constexpr std::size_t longest_packet = 65536;
constexpr int mtu = 9000;

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "delayed_network: {}: {}\n", what, std::strerror(errno));
  std::exit(1);
}

int checked(int value, const std::string& what) {
  if (value < 0) die(what);
  return value;
}

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

void set_ipv4(sockaddr& address, const std::string& text) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  inet_pton(AF_INET, text.c_str(), &in.sin_addr);
  std::memcpy(&address, &in, sizeof in);
}

// The device in the namespace that this process is in, up, with its address.
int make_device(const std::string& address) {
  const int device = checked(open("/dev/net/tun", O_RDWR | O_NONBLOCK), "/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "delayed0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  checked(ioctl(device, TUNSETIFF, &request), "cannot make the device");
  const int control = checked(socket(AF_INET, SOCK_DGRAM, 0), "socket");
  set_ipv4(request.ifr_addr, address);
  checked(ioctl(control, SIOCSIFADDR, &request), "cannot set the address");
  set_ipv4(request.ifr_netmask, "255.255.255.0");
  checked(ioctl(control, SIOCSIFNETMASK, &request), "cannot set the mask");
  request.ifr_mtu = mtu;
  checked(ioctl(control, SIOCSIFMTU, &request), "cannot set the MTU");
  for (const char* const name : {"delayed0", "lo"}) {
    std::strcpy(request.ifr_name, name);
    checked(ioctl(control, SIOCGIFFLAGS, &request), "cannot read the flags");
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    checked(ioctl(control, SIOCSIFFLAGS, &request), "cannot start the device");
  }
  close(control);
  return device;
}

struct Packet {
  std::int64_t due = 0;
  std::size_t target = 0;
  std::vector<char> bytes;
};

// Of an IPv4 packet to 10.99.0.<target>; 0: none of ours.
std::size_t target_of(const char* bytes, std::size_t length) {
  constexpr std::size_t destination = 16, header = 20;
  const bool is_ours = length >= header && (bytes[0] >> 4) == 4 && bytes[destination] == 10 &&
                       bytes[destination + 1] == 99 && bytes[destination + 2] == 0;
  return is_ours ? static_cast<std::size_t>(static_cast<unsigned char>(bytes[destination + 3])) : 0;
}

} // namespace

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: delayed_network SECONDS NAMESPACE NAMESPACE...\n");
    return 2;
  }
  const auto delay = static_cast<std::int64_t>(std::atof(words[1]) * 1e9);
  std::vector<pollfd> waiting{{STDIN_FILENO, POLLIN, 0}};
  for (int i = 2; i < count; ++i) {
    const int space = checked(open((std::string("/run/netns/") + words[i]).c_str(), O_RDONLY), words[i]);
    checked(setns(space, CLONE_NEWNET), words[i]);
    close(space);
    waiting.push_back({make_device(fmt::format("10.99.0.{}", i - 1)), POLLIN, 0});
  }
  const sched_param priority{1};
  checked(sched_setscheduler(0, SCHED_FIFO, &priority), "cannot become a real-time process");
  fmt::print("ready\n");
  std::fflush(stdout);

  std::deque<Packet> under_way; // in the order of their times: the delay is the same for all
  static std::array<char, longest_packet> bytes;
  while (true) {
    timespec rest{};
    if (!under_way.empty()) {
      const std::int64_t left = std::max<std::int64_t>(0, under_way.front().due - now_ns());
      rest = {left / 1'000'000'000, left % 1'000'000'000};
    }
    if (ppoll(waiting.data(), waiting.size(), under_way.empty() ? nullptr : &rest, nullptr) < 0 && errno != EINTR)
      die("poll");
    if (waiting[0].revents != 0 && read(STDIN_FILENO, bytes.data(), bytes.size()) <= 0) return 0;
    const std::int64_t now = now_ns();
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      ssize_t length = 0;
      while ((length = read(waiting[i].fd, bytes.data(), bytes.size())) > 0) {
        const std::size_t target = target_of(bytes.data(), static_cast<std::size_t>(length));
        if (target > 0 && target < waiting.size())
          under_way.push_back({now + delay, target, std::vector<char>(bytes.data(), bytes.data() + length)});
      }
    }
    for (; !under_way.empty() && under_way.front().due <= now_ns(); under_way.pop_front()) {
      const Packet& packet = under_way.front();
      // A full queue loses the packet, as a network does: TCP sends it again.
      if (write(waiting[packet.target].fd, packet.bytes.data(), packet.bytes.size()) < 0 && errno != EAGAIN)
        die("cannot forward a packet");
    }
  }
}
