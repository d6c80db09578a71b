// AuditLog: the record of what clients did, on a local disk of this process.
//
// Changes are durable before they run; many calls share one sync. Refusals, logins and members are written without a
// wait, up to 100 lines a second; further ones are counted by user and method. Whatever could not be written is counted
// too, and is the first line `lost` afterwards.
//
// Thread-safe; no call waits for the disk. One thread of its own writes, and may hang without an effect on others.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/audit/audit_file.h"
#include "common/audit/audit_line.h"
#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/sync_watch.h"
#include "common/rpc/call_audit.h"

namespace ratchet::audit {

struct AuditOptions {
  std::string directory;  // empty: no audit log
  std::uint64_t file_bytes = 64U << 20;
  std::int64_t files = 16;

  static void Bind(Settings& settings, AuditOptions& options);
};

inline constexpr std::size_t kMostWaitingLines = 10'000;
inline constexpr std::size_t kMostWaitingBytes = 16U << 20;
inline constexpr std::uint64_t kLinesASecond = 100;  // of refusals, logins and members
inline constexpr std::size_t kMostCounted = 10'000;  // users and methods; further ones are counted together

class AuditLog final : public rpc::CallAudit {
 public:
  // `host`, `process`: for the lines.
  [[nodiscard]] static Result<std::shared_ptr<AuditLog>> Open(io::Disk& disk, const std::string& directory,
                                                              AuditLimits limits, std::string host,
                                                              std::string process);
  // At the start of a program: opens the log that the options name and makes it the one of the process. `root`: the
  // cluster's; the log must not be below it. An error (kInvalidArgument) is for the operator.
  [[nodiscard]] static Status OpenForProcess(const AuditOptions& options, const std::string& root, std::string host,
                                             std::string process);
  // Null: no audit log.
  [[nodiscard]] static std::shared_ptr<AuditLog> OfProcess();
  // At the end of a program: writes a line with the reason, and waits for a moment until it is durable.
  static void EndOfProcess(const std::string& why);
  // The next line begins a new file.
  static void RollOfProcess();
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Authenticated(const rpc::AuditedConnection& connection, std::string_view why_refused) override;
  void Member(const rpc::AuditedConnection& connection, std::string_view name, std::string_view why_refused) override;
  [[nodiscard]] bool Wants(const rpc::CallContext& context, bool changes) const override;
  void Admit(const rpc::CallContext& context, const Connection& connection,
             const google::protobuf::MessageLite& request, Done done) override;
  void Answered(const rpc::CallContext& context, const Connection& connection,
                const google::protobuf::MessageLite& request, const google::protobuf::MessageLite& answer) override;
  void Denied(const rpc::CallContext& context, const Connection& connection, std::string_view why) override;
  // An event of the process itself: settings, fences. Does not wait for the line.
  void Note(std::string_view event, std::string_view target, std::string_view why, std::string_view outcome = {});

  // The result of a reload of the settings of this process: which ones changed, and never a value. No line if nothing
  // differs.
  static void NoteReload(std::string_view asked_by, const Result<ReloadReport>& report);

  [[nodiscard]] std::vector<std::string> Problems() const;
  [[nodiscard]] std::uint64_t lines() const {
    return lines_.load(std::memory_order_relaxed);
  }  // durable, since the start
  [[nodiscard]] std::uint64_t lost() const { return lost_total_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    std::string body;
    Done done;                 // empty: the call does not wait
    bool runs_anyway = false;  // also if the line cannot be written
  };
  AuditLog(std::string host, std::string process) : host_(std::move(host)), process_(std::move(process)) {}
  [[nodiscard]] std::string Body(AuditLine line) const;
  void Limited(const AuditLine& line, const std::string& key);
  void Enqueue(Waiting waiting);
  [[nodiscard]] bool TakeQueue(std::vector<Waiting>& taken);
  void AddCounted(std::vector<Waiting>& taken) REQUIRES(mutex_);
  void Run(std::unique_ptr<AuditFile> file);
  void WriteGroup(AuditFile& file, std::vector<Waiting>& group);
  void Fail(AuditFile& file, std::vector<Waiting>& group, const Error& error);
  [[nodiscard]] std::string LostBody(std::uint64_t count, std::string_view why) const;

  const std::string host_;
  const std::string process_;
  const SystemClock clock_;
  io::SyncWatch watch_{clock_};  // the cluster's storage is not this disk
  std::atomic<std::uint64_t> lines_{0};
  std::atomic<std::uint64_t> lost_total_{0};
  std::uint64_t lost_now_ = 0;  // not in a line yet; used by the thread only, like the next one
  bool told_full_ = false;      // the last line of a full disk is written
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Waiting> queue_ GUARDED_BY(mutex_);
  std::size_t queue_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_lines_ GUARDED_BY(mutex_) = 0;  // that the full queue has not taken
  std::map<std::string, std::uint64_t> counted_ GUARDED_BY(mutex_);
  TimePoint second_ GUARDED_BY(mutex_){};
  std::uint64_t in_second_ GUARDED_BY(mutex_) = 0;
  bool roll_ GUARDED_BY(mutex_) = false;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::string problem_ GUARDED_BY(mutex_);
  std::thread thread_;  // last, because it uses the others
};

}  // namespace ratchet::audit
