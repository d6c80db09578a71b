#include "common/audit/audit_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/ranges.h>

#include "common/audit/audit_policy.h"
#include "common/audit/audit_target.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"
#include "common/rpc/exceptions.h"

namespace ratchet::audit {
namespace {

constexpr Millis kSecond{1'000};
constexpr const char* kOthers = "others";
// Their texts are not longer than kMostTextBytes.
constexpr std::size_t kPidsInALine = 20;
constexpr std::size_t kNamesInALine = 10;

AuditLine LineOf(const rpc::AuditedConnection& connection, std::string_view event) {
  AuditLine line;
  line.event = event;
  line.user = connection.user;
  line.real_user = connection.real_user;
  line.claimed = connection.claimed_user;
  line.by = rpc::AuthenticationName(connection.authentication);
  line.peer = connection.peer;
  line.tls = connection.tls;
  line.serial = connection.serial;
  return line;
}

AuditLine LineOfCall(const rpc::CallContext& context, const rpc::AuditedConnection& connection,
                     std::string_view event) {
  AuditLine line = LineOf(connection, event);
  line.service = context.service;
  line.method = context.method;
  return line;
}

}  // namespace

Result<std::shared_ptr<AuditLog>> AuditLog::Open(io::Disk& disk, const std::string& directory, AuditLimits limits,
                                                 std::string host, std::string process) {
  RATCHET_ASSIGN(auto opened, disk.OpenOrMake(directory));
  RATCHET_ASSIGN(auto file, AuditFile::Open(std::move(opened), limits));
  std::shared_ptr<AuditLog> log(new AuditLog(std::move(host), std::move(process)));
  if (file->ended_without_room())
    log->Enqueue(
        {log->LostBody(0, "the process ended before it could write; its lost lines are not counted"), {}, false});
  log->Note("start", {},
            file->cut_at_start() == 0 ? std::string()
                                      : fmt::format("{} bytes of an unfinished line were cut", file->cut_at_start()));
  log->thread_ = std::thread([raw = log.get(), file = std::move(file)]() mutable { raw->Run(std::move(file)); });
  return log;
}

AuditLog::~AuditLog() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

std::string AuditLog::Body(AuditLine line) const {
  line.t_ms = clock_.WallMillis();
  return LineBody(line, host_, process_);
}

std::string AuditLog::LostBody(std::uint64_t count, std::string_view why) const {
  AuditLine line;
  line.event = "lost";
  line.count = count;
  line.why = why;
  return Body(line);
}

void AuditLog::Authenticated(const rpc::AuditedConnection& connection, std::string_view why_refused) {
  AuditLine line = LineOf(connection, "auth");
  line.outcome = why_refused.empty() ? "allowed" : "denied";
  line.why = why_refused;
  Limited(line, fmt::format("auth {}", line.outcome));
}

void AuditLog::Member(const rpc::AuditedConnection& connection, std::string_view name, std::string_view why_refused) {
  AuditLine line = LineOf(connection, "member");
  line.by = "member";
  line.target = name;
  line.outcome = why_refused.empty() ? "allowed" : "denied";
  line.why = why_refused;
  Limited(line, fmt::format("member {}", line.outcome));
}

bool AuditLog::Wants(const rpc::CallContext& context, bool changes) const { return NeedsLine(context, changes); }

void AuditLog::Admit(const rpc::CallContext& context, const Connection& connection,
                     const google::protobuf::MessageLite& request, Done done) {
  AuditLine line = LineOfCall(context, *connection, EventOf(context.method));
  const std::string target = TargetOf(request);
  line.target = target;
  line.outcome = "asked";
  Enqueue({Body(line), std::move(done), RunsWithoutRoom(context.method)});
}

// The line of the call is durable already, so this one does not delay the answer. Many procedures take several lines.
void AuditLog::Answered(const rpc::CallContext& context, const Connection& connection,
                        const google::protobuf::MessageLite& request, const google::protobuf::MessageLite& answer) {
  const std::vector<std::uint64_t> pids = PidsOf(answer);
  if (pids.empty()) return;
  AuditLine line = LineOfCall(context, *connection, EventOf(context.method));
  const std::string target = TargetOf(request);
  line.target = target;
  line.outcome = "accepted";
  for (std::size_t at = 0; at < pids.size(); at += kPidsInALine) {
    const std::size_t end = std::min(pids.size(), at + kPidsInALine);
    line.pids.assign(pids.begin() + static_cast<std::ptrdiff_t>(at), pids.begin() + static_cast<std::ptrdiff_t>(end));
    Enqueue({Body(line), {}, false});
  }
}

void AuditLog::Denied(const rpc::CallContext& context, const Connection& connection, std::string_view why) {
  AuditLine line = LineOfCall(context, *connection, "deny");
  line.outcome = "denied";
  line.why = why;
  Limited(line, fmt::format("deny {} {}", SafeText(line.user), line.method));
}

void AuditLog::Note(std::string_view event, std::string_view target, std::string_view why, std::string_view outcome) {
  AuditLine line;
  line.event = event;
  line.target = target;
  line.outcome = outcome;
  line.why = why;
  Enqueue({Body(line), {}, false});
}

void AuditLog::NoteReload(std::string_view asked_by, const Result<ReloadReport>& report) {
  const std::shared_ptr<AuditLog> log = OfProcess();
  if (log == nullptr) return;
  if (!report.ok()) return log->Note("settings", {}, asked_by, "refused");
  const auto note = [&](const std::vector<std::string>& sentences, std::string_view outcome) {
    // Each sentence begins with the name of its setting; the rest has its values.
    for (std::size_t at = 0; at < sentences.size(); at += kNamesInALine) {
      std::vector<std::string_view> names;
      for (std::size_t i = at; i < std::min(sentences.size(), at + kNamesInALine); ++i)
        names.push_back(std::string_view(sentences[i]).substr(0, sentences[i].find(' ')));
      log->Note("settings", fmt::format("{}", fmt::join(names, " ")), asked_by, outcome);
    }
  };
  note(report->changed, "changed");
  note(report->need_restart, "needs a restart");
}

// A flood costs at most kLinesASecond lines a second, and memory for kMostCounted keys.
void AuditLog::Limited(const AuditLine& line, const std::string& key) {
  {
    const MutexLock lock(mutex_);
    const TimePoint now = clock_.Now();
    if (now - second_ >= kSecond) {
      second_ = now;
      in_second_ = 0;
    }
    if (++in_second_ > kLinesASecond) {
      ++counted_[counted_.size() < kMostCounted || counted_.contains(key) ? key : kOthers];
      return;
    }
  }
  Enqueue({Body(line), {}, false});
}

void AuditLog::Enqueue(Waiting waiting) {
  {
    const MutexLock lock(mutex_);
    if (!ends_ && queue_.size() < kMostWaitingLines && queue_bytes_ < kMostWaitingBytes) {
      queue_bytes_ += waiting.body.size();
      queue_.push_back(std::move(waiting));
      if (queue_.size() == 1) changed_.NotifyAll();
      return;
    }
    ++refused_lines_;
  }
  if (!waiting.done) return;
  if (waiting.runs_anyway) return waiting.done(Ok());
  waiting.done(rpc::RemoteError(rpc::exception::kCallQueueTooBig, "the audit log is slow; try again later"));
}

void AuditLog::AddCounted(std::vector<Waiting>& taken) {
  for (const auto& [key, count] : std::exchange(counted_, {})) {
    AuditLine line;
    line.event = std::string_view(key).substr(0, key.find(' '));
    line.target = key;
    line.why = "further ones of the last second";
    line.count = count;
    taken.push_back({Body(line), {}, false});
  }
}

// False when the object is being destroyed and nothing waits.
bool AuditLog::TakeQueue(std::vector<Waiting>& taken) {
  const TimePoint until = clock_.Now() + kSecond;
  const MutexLock lock(mutex_);
  for (TimePoint now = clock_.Now(); !ends_ && !roll_ && queue_.empty() && now < until; now = clock_.Now())
    changed_.WaitFor(mutex_, until - now);
  taken.swap(queue_);
  queue_bytes_ = 0;
  if (clock_.Now() - second_ >= kSecond || ends_) AddCounted(taken);
  lost_now_ += refused_lines_;
  lost_total_.fetch_add(std::exchange(refused_lines_, 0), std::memory_order_relaxed);
  return !ends_ || !taken.empty();
}

void AuditLog::Run(std::unique_ptr<AuditFile> file) {
  SetThreadName("audit");
  io::SyncWatch::UseOnThisThread(watch_);
  for (std::vector<Waiting> group; TakeQueue(group); group.clear()) {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(roll_, false)) file->Roll();
    }
    if (file->on_reserve()) file->Refill();
    if (!group.empty() || lost_now_ > 0) WriteGroup(*file, group);
  }
}

void AuditLog::WriteGroup(AuditFile& file, std::vector<Waiting>& group) {
  std::vector<std::string> bodies;
  if (lost_now_ > 0) bodies.push_back(LostBody(lost_now_, "lines that could not be written"));
  for (Waiting& waiting : group) bodies.push_back(std::move(waiting.body));
  const Status written = file.Write(bodies);
  if (!written.ok()) return Fail(file, group, written.error());
  lost_now_ = 0;
  told_full_ = false;
  lines_.fetch_add(bodies.size(), std::memory_order_relaxed);
  {
    const MutexLock lock(mutex_);
    problem_ = file.on_reserve() ? fmt::format(
                                       "audit: the disk of {} is full; the log uses its reserve of 4 MiB, then "
                                       "operators' changes are refused: free space there",
                                       file.path())
                                 : std::string();
  }
  for (Waiting& waiting : group)
    if (waiting.done) waiting.done(Ok());
}

void AuditLog::Fail(AuditFile& file, std::vector<Waiting>& group, const Error& error) {
  std::uint64_t lost = 0;
  for (const Waiting& waiting : group) lost += !waiting.done || waiting.runs_anyway ? 1 : 0;
  lost_now_ += lost;
  lost_total_.fetch_add(lost, std::memory_order_relaxed);
  if (!std::exchange(told_full_, true)) {
    RATCHET_LOG(kError, "audit: {}", error.message());
    IgnoreResult(file.Write({LostBody(0, "no line can be written from here to the next line 'lost'")},
                            AuditFile::Room::kLastLine),
                 "the line is for a restart before the disk has room");
  }
  {
    const MutexLock lock(mutex_);
    problem_ = fmt::format(
        "audit: the log in {} cannot be written, so operators' changes are refused; {} lines are "
        "lost: {}",
        file.path(), lost_total_.load(), error.message());
  }
  for (Waiting& waiting : group) {
    if (!waiting.done) continue;
    waiting.done(waiting.runs_anyway ? Ok()
                                     : Status(rpc::RemoteError(
                                           rpc::exception::kDoNotRetryIo,
                                           fmt::format("the audit log has no room: {}; changes that free space or stop "
                                                       "a process are still possible",
                                                       error.message()))));
  }
}

std::vector<std::string> AuditLog::Problems() const {
  const MutexLock lock(mutex_);
  return problem_.empty() ? std::vector<std::string>() : std::vector<std::string>{problem_};
}

}  // namespace ratchet::audit
