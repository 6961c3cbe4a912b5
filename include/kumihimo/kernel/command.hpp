// External commands as variants.
#ifndef KUMIHIMO_KERNEL_COMMAND_HPP
#define KUMIHIMO_KERNEL_COMMAND_HPP

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::kernel {

// Runs an external command, as a variant may: writes `given` to its standard input and returns its standard output.
// Throws where it fails. The words go to no shell.
inline std::string run_command(const std::vector<std::string>& words, std::string_view given) {
  int to[2], from[2];
  if (words.empty() || pipe(to) != 0) throw std::runtime_error("no command");
  if (pipe(from) != 0) {
    close(to[0]), close(to[1]);
    throw std::runtime_error("no pipe");
  }
  std::vector<char*> argv;
  for (const std::string& each : words) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], 0), dup2(from[1], 1);
    for (const int each : {to[0], to[1], from[0], from[1]}) close(each);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(to[0]), close(from[1]);
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before); // a command need not read all
  std::string answer;
  std::array<char, 65536> buffer;
  std::size_t written = 0;
  bool is_open = true;
  for (bool more = child > 0; more;) {
    if (is_open && written == given.size()) close(to[1]), is_open = false;
    pollfd ends[2] = {{from[0], POLLIN, 0}, {is_open ? to[1] : -1, POLLOUT, 0}};
    if (poll(ends, 2, -1) < 0 && errno != EINTR) break;
    if (ends[1].revents) {
      const std::size_t part = std::min<std::size_t>(given.size() - written, 4096); // PIPE_BUF: does not block
      const ssize_t count = write(to[1], given.data() + written, part);
      written = count < 0 ? given.size() : written + static_cast<std::size_t>(count);
    }
    if (ends[0].revents) {
      const ssize_t count = ::read(from[0], buffer.data(), buffer.size());
      if (count <= 0)
        more = false;
      else
        answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  if (is_open) close(to[1]);
  close(from[0]);
  sigaction(SIGPIPE, &before, nullptr);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the command " + words.front() + " failed");
  return answer;
}

} // namespace kumihimo::kernel

#endif
