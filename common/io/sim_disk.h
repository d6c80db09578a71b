// A disk in memory for tests and simulation. It forgets, at PowerFailure, every byte and every name that was not
// synced.
//
// One SimDisk is the shared storage; each simulated process has its own view of it (NewProcess). A hook of the process
// sees every operation before it happens and may let it fail, pretend that it happened (a left-out sync), or kill the
// process before, in the middle of, or after it. A dead process's handles answer every call with an error.
//
// Crash() of a process loses nothing: the page cache survives. PowerFailure kills all processes and loses what is
// unsynced.
//
// Threads: all calls may come from any thread; hooks run on the calling thread without a lock and may block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/prng.h"
#include "common/io/disk.h"

namespace ratchet::io {

// clang-format off
enum class SimOp : std::uint8_t {
  kLookUp, kList, kRead, kOpen,                                               // change nothing
  kCreate, kAppend, kReserve, kCut, kRename, kLink, kUnlink, kMakeDir, kRemoveDir,  // change memory
  kSyncFile, kSyncDirectory,                                                  // make durable
};
// clang-format on
[[nodiscard]] std::string_view SimOpName(SimOp op);
[[nodiscard]] constexpr bool Changes(SimOp op) { return op >= SimOp::kCreate; }

struct SimEvent {
  SimOp op = SimOp::kLookUp;
  std::string path;          // of the file or directory, as its handle names it
  std::string to;            // rename, link: the new path
  std::uint64_t number = 0;  // counts this process's operations that change or sync, from 1; 0 for others
  std::uint64_t bytes = 0;   // append, reserve: how many; cut: to how many
  [[nodiscard]] std::string ToString() const;
};

// What becomes of one operation.
struct SimVerdict {
  enum class Kind : std::uint8_t { kProceed, kFail, kSkip, kCrashBefore, kCrashAfter, kTear };
  Kind kind = Kind::kProceed;
  Code code = Code::kIo;         // kFail
  std::uint64_t keep_bytes = 0;  // kTear, of an append: this much is written, then the process is dead

  static SimVerdict Proceed() { return {}; }
  static SimVerdict Fail(Code code) { return {Kind::kFail, code, 0}; }
  static SimVerdict Skip() { return {Kind::kSkip, Code::kIo, 0}; }  // says OK and does nothing
  static SimVerdict CrashBefore() { return {Kind::kCrashBefore, Code::kIo, 0}; }
  static SimVerdict CrashAfter() { return {Kind::kCrashAfter, Code::kIo, 0}; }
  static SimVerdict Tear(std::uint64_t keep_bytes) { return {Kind::kTear, Code::kIo, keep_bytes}; }
};
using SimHook = std::function<SimVerdict(const SimEvent&)>;

// Hooks for common cases.
[[nodiscard]] SimHook CrashAtOp(std::uint64_t number, bool after = false);
[[nodiscard]] SimHook SkipOp(std::uint64_t number);
// Fails each operation of this kind whose path contains `path_part`.
[[nodiscard]] SimHook FailOps(SimOp op, std::string path_part, Code code);

namespace sim {
struct State;
struct Process;
}  // namespace sim

class SimDisk {
 public:
  SimDisk();
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  // A process's view. It may outlive the SimDisk.
  class Process final : public Disk {
   public:
    explicit Process(std::shared_ptr<sim::Process> impl);
    ~Process() override;
    Result<std::unique_ptr<Directory>> Open(const std::string& path) override;
    Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) override;

    void SetHook(SimHook hook);
    // All operations that changed or synced something, in order, when tracing was asked for.
    void Trace(bool on);
    [[nodiscard]] std::vector<SimEvent> trace() const;
    [[nodiscard]] std::uint64_t operations() const;  // that change or sync, so far
    void Crash();
    [[nodiscard]] bool crashed() const;

   private:
    std::shared_ptr<sim::Process> impl_;
  };
  [[nodiscard]] std::unique_ptr<Process> NewProcess(std::string name = "process");

  enum class Loss : std::uint8_t {
    kEverything,  // all that was not synced
    kRandom,      // each unsynced sector of 512 bytes and each unsynced change of a directory is lost or kept by chance
    kNothing,     // the disk was quick: all is kept
  };
  // Kills all processes.
  void PowerFailure(Loss loss = Loss::kEverything, std::uint64_t seed = 0);

  // Bytes that the files may take together; UINT64_MAX: no limit. Names take no space.
  void SetCapacity(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const;

  // Behind everybody's back, for damage; also made durable. The path is from the root: "/store/segment.1.1".
  Status Overwrite(const std::string& path, std::uint64_t offset, std::string_view bytes);
  Status Truncate(const std::string& path, std::uint64_t size);
  Result<std::string> Content(const std::string& path) const;

 private:
  std::shared_ptr<sim::State> state_;
};

}  // namespace ratchet::io
