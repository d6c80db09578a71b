// The operations of a simulated disk, and their possible results (sim_disk.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"

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
  std::uint64_t bytes = 0;   // append, reserve: how many; cut: the new size
  [[nodiscard]] std::string ToString() const;
};

// The result of one operation.
struct SimVerdict {
  enum class Kind : std::uint8_t { kProceed, kFail, kSkip, kCrashBefore, kCrashAfter, kTear };
  Kind kind = Kind::kProceed;
  Code code = Code::kIo;         // kFail
  std::uint64_t keep_bytes = 0;  // kTear, for an append: this much is written, then the process is dead

  static SimVerdict Proceed() { return {}; }
  static SimVerdict Fail(Code code) { return {Kind::kFail, code, 0}; }
  static SimVerdict Skip() { return {Kind::kSkip, Code::kIo, 0}; }  // reports OK and does nothing
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

// The data that a power failure loses.
enum class SimLoss : std::uint8_t {
  kEverything,  // all that was not synced
  kRandom,      // each unsynced sector of 512 bytes and each unsynced change of a directory is lost or kept by chance
  kNothing,     // the disk was fast: everything is kept
};

}  // namespace ratchet::io
