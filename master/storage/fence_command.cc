#include "master/storage/fence_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/io/file_descriptor.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kMostOutput = 400;
constexpr Millis kLook{20};

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<pid_t> Spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as POSIX wants it
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program gets its own process group, so that its children can be ended with it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return io::SystemError("starting", words[0], error);
  return pid;
}

// Keeps the last bytes of the program's output, as one line.
void Keep(std::string& output, const char* bytes, std::size_t count) {
  for (const char c : std::string_view(bytes, count)) output += c == '\n' ? ' ' : c;
  if (output.size() > kMostOutput) output.erase(0, output.size() - kMostOutput);
}

}  // namespace

Status RunFenceCommand(const Clock& clock, const std::string& command, const io::StorageClient& client, Millis limit) {
  std::vector<std::string> words = Words(command);
  if (words.empty()) return Error(Code::kInvalidArgument, "the fence command is empty");
  words.push_back(client.name);
  if (client.id != 0) words.push_back(std::to_string(client.id));
  const TimePoint until = clock.Now() + limit;

  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return io::SystemError("a pipe for", words[0], errno);
  const io::FileDescriptor read_end(ends[0]);
  pid_t pid = 0;
  {
    const io::FileDescriptor write_end(ends[1]);
    RATCHET_ASSIGN(pid, Spawn(words, write_end.get()));
  }
  std::string output;
  bool late = false;
  int status = 0;
  while (true) {
    pollfd readable{read_end.get(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(kLook.count()));
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(read_end.get(), bytes.data(), bytes.size());
    if (got > 0) Keep(output, bytes.data(), static_cast<std::size_t>(got));
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) break;
    if (late || clock.Now() < until) continue;
    late = true;
    ::kill(-pid, SIGKILL);
  }
  // Reads the rest of the program's output after its end.
  std::array<char, 4096> rest{};
  const ssize_t got = ::read(read_end.get(), rest.data(), rest.size());
  if (got > 0) Keep(output, rest.data(), static_cast<std::size_t>(got));
  if (!late && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    RATCHET_LOG(kInfo, "The storage has evicted client {}: {}", client.ToString(), output);
    return Ok();
  }
  return Error(
      Code::kTimeout,
      fmt::format("the storage has not confirmed the eviction of client {}: {} {}: {}", client.ToString(), words[0],
                  late                ? fmt::format("took longer than {} ms", limit.count())
                  : WIFEXITED(status) ? fmt::format("ended with code {}", WEXITSTATUS(status))
                                      : fmt::format("was ended by signal {}", WTERMSIG(status)),
                  output));
}

}  // namespace ratchet::master
