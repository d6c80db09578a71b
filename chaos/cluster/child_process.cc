#include "chaos/cluster/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/fault_env.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"

extern char** environ;

namespace ratchet::chaos {
namespace {

struct KernelView {
  char state = 0;
  std::uint64_t start = 0;
};

// Reads fields 3 and 22 of /proc/<pid>/stat; the second field may hold spaces and parentheses.
std::optional<KernelView> ReadStat(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto after_name = line.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(after_name + 1));
  KernelView view;
  fields >> view.state;
  std::string field;
  for (int number = 4; number <= 22 && fields >> field; ++number) {
    if (number == 22) std::from_chars(field.data(), field.data() + field.size(), view.start);
  }
  return view;
}

std::vector<std::string> MergeEnvironment(const Environment& extra) {
  Environment all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : extra) all[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : all) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void BecomeProgram(const char* program, char* const* arguments, char* const* environment,
                                const char* directory, int conversation, int output, int parent) {
  setsid();
  if (parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent died before prctl
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(conversation >= 0 ? conversation : null, STDIN_FILENO);
  dup2(conversation >= 0 ? conversation : output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  if (directory != nullptr && chdir(directory) != 0) _exit(127);
  execve(program, arguments, environment);
  _exit(127);
}

bool CanListen(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0;
  close(fd);
  return free;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

Environment ArmedWith(std::string faults) {
  return {{kFaultsVariable, std::move(faults)}, {kAllowFaultPointsVariable, "true"}};
}

Result<ProcessId> Launch(const LaunchSpec& spec) {
  RATCHET_CHECK(!spec.arguments.empty(), "cannot start a process: the command is empty");
  const std::string program = FindProgram(spec.arguments.front());
  if (program.empty()) return Error(Code::kNotFound, fmt::format("program '{}' not found", spec.arguments.front()));
  auto arguments = spec.arguments;
  auto environment = MergeEnvironment(spec.environment);
  const auto argument_pointers = Pointers(arguments);
  const auto environment_pointers = Pointers(environment);
  const std::string directory = spec.directory.string();
  const std::string output_path = spec.output.empty() ? "/dev/null" : spec.output.string();
  const int output = open(output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0) return Error(Code::kIo, fmt::format("cannot write {}: {}", output_path, std::strerror(errno)));
  const int parent = spec.dies_with_us ? getpid() : 0;
  const int pid = fork();
  if (pid == 0) {
    BecomeProgram(program.c_str(), argument_pointers.data(), environment_pointers.data(),
                  directory.empty() ? nullptr : directory.c_str(), spec.conversation, output, parent);
  }
  close(output);
  if (pid < 0) return Error(Code::kIo, fmt::format("cannot fork: {}", std::strerror(errno)));
  const auto view = ReadStat(pid);
  if (!view) return Error(Code::kIo, fmt::format("process {} ended at once", pid));
  return ProcessId{pid, view->start};
}

char KernelState(const ProcessId& id) {
  if (id.pid <= 0) return 0;
  const auto view = ReadStat(id.pid);
  return view && view->start == id.kernel_start ? view->state : '\0';
}

Result<ProcessId> IdOf(int pid) {
  const auto view = ReadStat(pid);
  if (!view) return Error(Code::kNotFound, fmt::format("process {} does not exist", pid));
  return ProcessId{pid, view->start};
}

bool IsAlive(const ProcessId& id) {
  const char state = KernelState(id);
  return state != 0 && state != 'Z' && state != 'X';
}

std::optional<Ended> CheckEnded(const ProcessId& id) {
  if (id.pid <= 0) return Ended{};
  int status = 0;
  const int waited = waitpid(id.pid, &status, WNOHANG);
  if (waited == id.pid) return Ended{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  if (waited == 0 || IsAlive(id)) return std::nullopt;
  return Ended{};
}

Status Signal(const ProcessId& id, int signal) {
  if (!IsAlive(id)) return Error(Code::kNotFound, fmt::format("process {} has ended", id.pid));
  if (kill(id.pid, signal) != 0)
    return Error(Code::kIo, fmt::format("signal {} to {}: {}", signal, id.pid, std::strerror(errno)));
  return Ok();
}

bool ReservePort(std::uint16_t port) {
  const int name = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (name < 0) return true;  // no descriptor is left, which the next use of one reports
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A first byte of zero: the kernel keeps the name, for this network, as long as the socket is open.
  const std::string text = fmt::format("ratchet-port-{}", port);
  std::copy(text.begin(), text.end(), &address.sun_path[1]);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (::bind(name, reinterpret_cast<const sockaddr*>(&address), length) == 0) return true;
  const bool taken = errno == EADDRINUSE;
  ::close(name);
  return !taken;
}

Result<std::uint16_t> PickFreePort() {
  // Linux uses ports from 32768 on for outgoing connections.
  constexpr std::int64_t kLow = 20'000;
  constexpr std::int64_t kHigh = 32'000;
  static Mutex mutex;
  static Prng prng(RandomSeed());
  static std::set<std::uint16_t> given;
  MutexLock lock(mutex);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto port = static_cast<std::uint16_t>(prng.Between(kLow, kHigh));
    if (!given.contains(port) && CanListen(port) && ReservePort(port)) {
      given.insert(port);
      return port;
    }
  }
  return Error(Code::kResourceExhausted, fmt::format("no free port between {} and {}", kLow, kHigh));
}

void PollPause(int round) { poll(nullptr, 0, std::min(2 + round, 20)); }

}  // namespace ratchet::chaos
