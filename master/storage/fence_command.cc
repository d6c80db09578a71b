#include "master/storage/fence_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/printable.h"
#include "common/io/file_descriptor.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kMostOutput = 400;
constexpr Millis kLook{20};

constexpr const char* kPath = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
constexpr const char* kLanguage = "LANG=C.UTF-8";
constexpr std::string_view kShell = "'\"\\`$|&;<>()*?";  // characters with a meaning for a shell

std::vector<std::string> Words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool IsVariable(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Variables by which the environment of the master could make the command run other code.
bool ChangesTheCode(std::string_view name) {
  return name == "PATH" || name == "LANG" || name == "IFS" || name == "ENV" || name.starts_with("LD_") ||
         name.starts_with("BASH_") || name.starts_with("PYTHON") || name.starts_with("PERL");
}

std::vector<std::string> EnvironmentOf(const FenceCommand& command) {
  std::vector<std::string> environment{kPath, kLanguage};
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (std::find(command.variables.begin(), command.variables.end(), name) != command.variables.end() ||
        RATCHET_MUTANT("storage.fence_with_any_environment"))
      environment.emplace_back(variable);
  }
  return environment;
}

// As POSIX wants it; ends with a null.
std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> Spawn(const std::vector<std::string>& words, const std::vector<std::string>& environment, int output) {
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program gets its own process group, so that its children can be ended with it. The signals that the master
  // blocks or ignores have their usual effect on it.
  sigset_t signals;
  ::sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  ::sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
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

struct End {
  bool late = false;
  int status = 0;
  std::string output;
};

// Waits for the end of `pid`, and kills its process group at `until`.
End AwaitEnd(const Clock& clock, pid_t pid, int read_end, TimePoint until) {
  End end;
  while (true) {
    pollfd readable{read_end, POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(kLook.count()));
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(read_end, bytes.data(), bytes.size());
    if (got > 0) Keep(end.output, bytes.data(), static_cast<std::size_t>(got));
    const pid_t ended = ::waitpid(pid, &end.status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) break;
    if (end.late || clock.Now() < until) continue;
    end.late = true;
    ::kill(-pid, SIGKILL);
  }
  // Reads the rest of the program's output after its end.
  std::array<char, 4096> rest{};
  const ssize_t got = ::read(read_end, rest.data(), rest.size());
  if (got > 0) Keep(end.output, rest.data(), static_cast<std::size_t>(got));
  return end;
}

Result<End> RunProgram(const Clock& clock, const std::vector<std::string>& words,
                       const std::vector<std::string>& environment, TimePoint until) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return io::SystemError("a pipe for", words[0], errno);
  const io::FileDescriptor read_end(ends[0]);
  pid_t pid = 0;
  {
    const io::FileDescriptor write_end(ends[1]);
    RATCHET_ASSIGN(pid, Spawn(words, environment, write_end.get()));
  }
  return AwaitEnd(clock, pid, read_end.get(), until);
}

}  // namespace

Result<FenceCommand> ParseFenceCommand(std::string_view command, std::string_view variables) {
  const auto refused = [](std::string why) { return Error(Code::kInvalidArgument, std::move(why)); };
  FenceCommand parsed{Words(command, ' '), Words(variables, ',')};
  if (parsed.words.empty())
    return refused("--fence-command has no program: give its absolute path, or leave the setting out");
  if (const std::size_t at = command.find_first_of(kShell); at != std::string_view::npos) {
    return refused(fmt::format(
        "--fence-command has the character {}, but no shell reads it: give the program and its arguments as words "
        "without quotes, or the path of a script",
        command[at]));
  }
  if (parsed.words[0].front() != '/' && !RATCHET_MUTANT("storage.fence_by_any_path")) {
    return refused(fmt::format(
        "--fence-command: '{}' is not an absolute path, so other programs of this name could run: give the whole path",
        parsed.words[0]));
  }
  for (const std::string& name : parsed.variables) {
    if (!IsVariable(name))
      return refused(
          fmt::format("--fence-environment: '{}' cannot be the name of a variable: give names, separated by commas",
                      PrintableText(name)));
    if (ChangesTheCode(name))
      return refused(fmt::format(
          "--fence-environment: {} could make the command run other code: set it in a script that the command names",
          name));
  }
  return parsed;
}

Status RunFenceCommand(const Clock& clock, const FenceCommand& command, const io::StorageClient& client, Millis limit,
                       const FenceRecord& record) {
  if (!io::IsClientName(client.name))
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' cannot be the name of a storage client, so the fence command does not run for it",
                             PrintableText(client.name)));
  std::vector<std::string> words = command.words;
  words.push_back(client.name);
  if (client.id != 0) words.push_back(std::to_string(client.id));
  const TimePoint begin = clock.Now();
  const auto end = RunProgram(clock, words, EnvironmentOf(command), begin + limit);
  if (!end.ok()) {
    record("not confirmed", end.error().message());
    return end.error();
  }
  const auto took = std::chrono::duration_cast<Millis>(clock.Now() - begin);
  const bool confirmed = !end->late && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
  const std::string how = end->late                ? fmt::format("took longer than {} ms", limit.count())
                          : WIFEXITED(end->status) ? fmt::format("ended with code {}", WEXITSTATUS(end->status))
                                                   : fmt::format("was ended by signal {}", WTERMSIG(end->status));
  record(confirmed ? "confirmed" : "not confirmed",
         fmt::format("{} {} after {} ms: {}", words[0], how, took.count(), end->output));
  if (confirmed) {
    RATCHET_LOG(kInfo, "The storage has evicted client {}: {}", client.ToString(), end->output);
    return Ok();
  }
  return Error(Code::kTimeout, fmt::format("the storage has not confirmed the eviction of client {}: {} {}: {}",
                                           client.ToString(), words[0], how, end->output));
}

}  // namespace ratchet::master
