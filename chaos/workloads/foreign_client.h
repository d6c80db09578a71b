// Clients of a load that are threads of a child process, which is written in another language.
//
// The child's standard input and output are one socket; its log goes to standard error (foreign_line.h). Each client
// has at most one request in progress, which bounds the number of waiting lines. The child ends when the socket closes,
// is killed if it does not, and dies with the thread that called Begin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "chaos/workloads/foreign_line.h"
#include "chaos/workloads/register_access.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {

struct ForeignProgram {
  std::string name;  // "java"
  std::vector<std::string> arguments;
  Millis start{90'000};    // until its first line
  Millis answer{30'000};   // after which the outcome of an operation is unknown
  Millis goodbye{10'000};  // between the end of its input and its death
};

class ForeignClient final : public RegisterClients {
 public:
  explicit ForeignClient(ForeignProgram program);
  ~ForeignClient() override;

  [[nodiscard]] Status Begin() override;
  [[nodiscard]] History Execute(const RegisterName& name, Operation& operation) override;
  void End() override;
  [[nodiscard]] std::optional<Finding> Check() override;
  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override;

  [[nodiscard]] ProcessId process() const { return process_; }

 private:
  struct Pending {
    Operation asked;
    std::int64_t sent_ns = 0;
    std::optional<ForeignAnswer> answer;
  };
  [[nodiscard]] std::int64_t Now() const { return clock_.Now().time_since_epoch().count(); }
  [[nodiscard]] Status AwaitGreeting();
  void ReadAnswers();
  void NoteEnd();
  void ConsumeLine(const std::string& line) REQUIRES(mutex_);
  [[nodiscard]] Status Consume(const std::string& line) REQUIRES(mutex_);
  // The first error counts; nothing is sent afterwards.
  void Break(std::string why) REQUIRES(mutex_);
  [[nodiscard]] bool Send(const std::string& line) REQUIRES(mutex_);
  [[nodiscard]] std::string LastWords() const;

  const ForeignProgram program_;
  const SystemClock clock_{};
  const std::filesystem::path log_;
  ProcessId process_;
  int socket_ = -1;
  std::thread reader_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::string version_ GUARDED_BY(mutex_);  // empty until the child has greeted
  std::string broken_ GUARDED_BY(mutex_);   // why sending has ended; empty: it works
  bool ending_ GUARDED_BY(mutex_) = false;
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  std::uint64_t lines_ GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Pending*> pending_ GUARDED_BY(mutex_);
  std::set<std::uint64_t> given_up_ GUARDED_BY(mutex_);  // ids whose answer may still come
  std::uint64_t answered_ GUARDED_BY(mutex_) = 0;
  std::uint64_t repeated_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::chaos
