#include "chaos/workloads/foreign_client.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/base/prng.h"
#include "common/base/thread_name.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
constexpr std::size_t kShownOfLine = 200;
constexpr std::size_t kShownOfLog = 600;
constexpr Millis kKilledWithin{10'000};
constexpr Millis kExitCodeWithin{1'000};

std::chrono::nanoseconds Left(std::chrono::steady_clock::time_point until) {
  return until - std::chrono::steady_clock::now();
}

}  // namespace

ForeignClient::ForeignClient(ForeignProgram program)
    : program_(std::move(program)),
      log_(std::filesystem::temp_directory_path() /
           fmt::format("ratchet-{}-{}-{:x}.log", program_.name, getpid(), RandomSeed())) {}

ForeignClient::~ForeignClient() {
  End();
  std::error_code ignored;
  std::filesystem::remove(log_, ignored);
}

Status ForeignClient::Begin() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error(Code::kIo, fmt::format("no socket for the {} client: errno {}", program_.name, errno));
  }
  LaunchSpec launch;
  launch.arguments = program_.arguments;
  launch.output = log_;
  launch.conversation = ends[1];
  auto launched = Launch(launch);
  close(ends[1]);  // the child's end is closed when the child has ended
  if (!launched.ok()) {
    close(ends[0]);
    return launched.error().Annotate(fmt::format("starting the {} client", program_.name));
  }
  process_ = *launched;
  socket_ = ends[0];
  reader_ = std::thread([this] {
    SetThreadName(program_.name + "-reader");
    ReadAnswers();
  });
  return AwaitGreeting();
}

Status ForeignClient::AwaitGreeting() {
  const auto until = std::chrono::steady_clock::now() + program_.start;
  MutexLock lock(mutex_);
  while (version_.empty() && broken_.empty() && Left(until).count() > 0) changed_.WaitFor(mutex_, Left(until));
  if (!version_.empty()) return Ok();
  if (broken_.empty()) Break(fmt::format("wrote no line within {} ms", program_.start.count()));
  return Error(Code::kUnavailable, fmt::format("the {} client {}{}", program_.name, broken_, LastWords()));
}

History ForeignClient::Execute(const RegisterName& name, Operation& operation) {
  operation.key = name.key();
  operation.outcome = OperationOutcome::kFailed;
  operation.invoked_ns = operation.returned_ns = Now();
  const auto until = std::chrono::steady_clock::now() + program_.answer;
  Pending pending;
  pending.asked = operation;
  pending.sent_ns = operation.invoked_ns;
  MutexLock lock(mutex_);
  if (version_.empty() || !broken_.empty() || ending_) return {};
  const std::uint64_t id = ++last_id_;
  pending_.emplace(id, &pending);
  const bool sent = Send(ToForeignRequest(id, name, operation));
  while (sent && !pending.answer && broken_.empty() && Left(until).count() > 0) changed_.WaitFor(mutex_, Left(until));
  pending_.erase(id);
  if (!pending.answer) {
    if (broken_.empty()) given_up_.insert(id);
    operation.outcome = OperationOutcome::kUnknown;
    operation.returned_ns = Now();
    // Its attempts are unknown, too: the key is judged with as many as a client makes within its time limit.
    constexpr std::uint32_t kUnansweredAttempts = 5;
    return SplitAttempts(operation, kUnansweredAttempts);
  }
  ++answered_;
  if (pending.answer->attempts > 1) ++repeated_;
  operation = std::move(pending.answer->operation);
  return SplitAttempts(operation, pending.answer->attempts);
}

bool ForeignClient::Send(const std::string& line) {
  // One request of each client fits into the socket's buffer; a child that reads nothing would fill it.
  const ssize_t sent = send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(line.size())) return true;
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;  // NoteEnd will name its exit code
  Break(fmt::format("does not read its requests (errno {})", errno));
  return false;
}

void ForeignClient::ReadAnswers() {
  LineCutter cutter(kLongestLine);
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return NoteEnd();
    MutexLock lock(mutex_);
    std::vector<std::string> lines;
    const Status cut = cutter.Take({buffer.data(), static_cast<std::size_t>(got)}, lines);
    for (const auto& line : lines) {
      if (broken_.empty()) ConsumeLine(line);
    }
    if (!cut.ok()) Break("wrote a wrong line: " + cut.error().message());
    changed_.NotifyAll();
    if (!broken_.empty()) return;
  }
}

void ForeignClient::NoteEnd() {
  {
    MutexLock lock(mutex_);
    if (ending_) return;
  }
  std::optional<Ended> ended;
  IgnoreResult(WaitUntil("an exit code", kExitCodeWithin, [&] { return (ended = CheckEnded(process_)).has_value(); }),
               "the code is only shown");
  const int code = ended ? ended->code.value_or(-1) : -1;
  MutexLock lock(mutex_);
  Break(ended ? fmt::format("ended by itself with exit code {}", code) : "closed its output");
}

void ForeignClient::ConsumeLine(const std::string& line) {
  ++lines_;
  const Status consumed = Consume(line);
  if (consumed.ok()) return;
  Break(fmt::format("wrote a wrong line: line {}: {}: {}", lines_, consumed.error().message(),
                    line.substr(0, kShownOfLine)));
}

Status ForeignClient::Consume(const std::string& line) {
  if (version_.empty()) {
    RATCHET_ASSIGN(const std::string greeting, FromForeignGreeting(line));
    version_ = greeting.empty() ? program_.name : greeting;
    return Ok();
  }
  RATCHET_ASSIGN(auto answer, FromForeignAnswer(line));
  if (given_up_.erase(answer.id) != 0) return Ok();
  const auto found = pending_.find(answer.id);
  if (found == pending_.end() || found->second->answer)
    return Error(Code::kCorruption, fmt::format("no operation {} is in progress", answer.id));
  Pending& pending = *found->second;
  RATCHET_TRY(CheckForeignAnswer(pending.asked, answer.operation, pending.sent_ns, Now()));
  pending.answer = std::move(answer);
  return Ok();
}

void ForeignClient::Break(std::string why) {
  if (broken_.empty()) broken_ = std::move(why);
  changed_.NotifyAll();
}

void ForeignClient::End() {
  if (socket_ < 0) return;
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  shutdown(socket_, SHUT_RDWR);
  reader_.join();
  close(std::exchange(socket_, -1));
  const auto ended = [this] { return CheckEnded(process_).has_value(); };
  if (WaitUntil("an end of the client", program_.goodbye, ended).ok()) return;
  IgnoreResult(Signal(process_, SIGKILL), "it may have ended meanwhile");
  IgnoreResult(WaitUntil("a death of the client", kKilledWithin, ended), "it dies with this process");
  MutexLock lock(mutex_);
  Break(fmt::format("did not end within {} ms after its input had ended", program_.goodbye.count()));
}

std::optional<Finding> ForeignClient::Check() {
  MutexLock lock(mutex_);
  if (!broken_.empty()) return Finding{false, fmt::format("the client {}{}", broken_, LastWords())};
  return Finding{answered_ > 0, fmt::format("{} answered by {}, {} of them perhaps sent more than once; {} without an "
                                            "answer",
                                            Counted(answered_, "operation"), version_, repeated_, given_up_.size())};
}

std::string ForeignClient::LastWords() const {
  std::ifstream file(log_, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  if (all.empty()) return "; its log is empty";
  return "; end of its log: " + all.substr(all.size() - std::min(all.size(), kShownOfLog));
}

Status ForeignClient::WriteEvidence(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::exists(log_, error)) return Ok();
  const auto copy = folder / (program_.name + ".log");
  std::filesystem::copy_file(log_, copy, std::filesystem::copy_options::overwrite_existing, error);
  if (error) return Error(Code::kIo, fmt::format("{}: {}", copy.string(), error.message()));
  return Ok();
}

}  // namespace ratchet::chaos
