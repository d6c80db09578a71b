// The audit log of a program: its settings, and the checks of its directory.
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <utility>

#include <fmt/core.h>

#include "common/audit/audit_log.h"
#include "common/base/log.h"
#include "common/base/process_object.h"
#include "common/io/disk.h"

namespace ratchet::audit {
namespace {

namespace fs = std::filesystem;

Error Refusal(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

bool IsBelow(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

// One process writes: two would break each other's chain. The lock lasts until the process ends.
Status Lock(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return Refusal(fmt::format("{}: {}", directory, std::strerror(errno)));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Ok();
  const int why = errno;
  ::close(descriptor);
  return Refusal(
      why == EWOULDBLOCK
          ? fmt::format("{}: another process writes its audit log there; each process needs its own directory",
                        directory)
          : fmt::format("{}: {}", directory, std::strerror(why)));
}

}  // namespace

void AuditOptions::Bind(Settings& settings, AuditOptions& options) {
  settings.AddText({"audit-dir",
                    "Directory of this process's audit log, on a local disk and not below --root: who changed what, "
                    "and who was refused. Empty: no audit log.",
                    {}},
                   &options.directory);
  settings.AddBytes({"audit-file-bytes", "Size at which the audit log begins a new file.", {}}, &options.file_bytes,
                    1U << 20, kMostAuditFileBytes);
  settings.AddInt(
      {"audit-files", "Number of whole files of the audit log that are kept; smaller ones count by their size.", {}},
      &options.files, {2, static_cast<std::int64_t>(kMostAuditFiles)});
}

Status AuditLog::OpenForProcess(const AuditOptions& options, const std::string& root, std::string host,
                                std::string process) {
  if (options.directory.empty()) return Ok();
  std::error_code ignored;
  const fs::path directory = fs::weakly_canonical(options.directory, ignored);
  if (IsBelow(directory, fs::weakly_canonical(root, ignored)))
    return Refusal(
        fmt::format("{} is below --root: the audit log must be on a local disk, where members of the cluster "
                    "cannot change it",
                    options.directory));
  const bool made = fs::create_directories(directory, ignored);
  if (made) ::chmod(directory.c_str(), S_IRWXU);
  RATCHET_TRY(Lock(directory));
  AuditLimits limits;
  limits.file_bytes = options.file_bytes;
  limits.files = static_cast<std::size_t>(options.files);
  auto opened = Open(io::PosixDisk(), directory, limits, std::move(host), std::move(process));
  if (!opened.ok()) return Refusal(opened.error().message());
  RATCHET_LOG(kInfo, "audit: changes and refusals are recorded in {}", directory.string());
  ProcessObject<AuditLog>::Set(std::move(*opened));
  return Ok();
}

std::shared_ptr<AuditLog> AuditLog::OfProcess() { return ProcessObject<AuditLog>::Get(); }

void AuditLog::EndOfProcess(const std::string& why) {
  constexpr Millis kPatience{2'000};  // a disk that hangs must not hold the end
  const std::shared_ptr<AuditLog> log = OfProcess();
  if (log == nullptr) return;
  AuditLine line;
  line.event = "stop";
  line.why = why;
  auto written = std::make_shared<std::promise<void>>();
  auto known = written->get_future();
  log->Enqueue({log->Body(line), [written](const Status&) { written->set_value(); }, false});
  static_cast<void>(known.wait_for(kPatience));
}

void AuditLog::RollOfProcess() {
  const std::shared_ptr<AuditLog> log = OfProcess();
  if (log == nullptr) return;
  const MutexLock lock(log->mutex_);
  log->roll_ = true;
  log->changed_.NotifyAll();
}

}  // namespace ratchet::audit
