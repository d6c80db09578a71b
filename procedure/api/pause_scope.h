// The scope of a pause: everything, all work that crash recovery does not need, a type, a resource, or one procedure.
// Plain values and their stored form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/lock_request.h"

namespace ratchet::procedure {

struct PauseScope {
  enum class Kind : std::uint8_t {  // stored
    kEverything = 1,
    kOrdinary = 2,   // all except urgent ones: crash handling, meta, and their descendants continue
    kType = 3,       // procedures of one type; not their children of other types
    kResource = 4,   // procedures that lock it or something below it (a namespace's tables, a table's regions)
    kProcedure = 5,  // one procedure, with all its descendants
  };
  Kind kind = Kind::kEverything;
  std::string type;
  ResourceKey resource;
  ProcId pid;

  bool operator==(const PauseScope&) const = default;

  static PauseScope Everything() { return {}; }
  static PauseScope Ordinary() { return {Kind::kOrdinary, {}, {}, {}}; }
  static PauseScope Type(std::string name) { return {Kind::kType, std::move(name), {}, {}}; }
  static PauseScope Resource(ResourceKey key) { return {Kind::kResource, {}, std::move(key), {}}; }
  static PauseScope Procedure(ProcId which) { return {Kind::kProcedure, {}, {}, which}; }

  // "everything", "everything but crash handling", "type CreateTable", "table t", "pid=7"
  [[nodiscard]] std::string ToString() const;
};

// An active pause: shown, and stored as a system record.
struct PauseInfo {
  PauseScope scope;
  std::string who;
  std::string why;
  std::int64_t at_ms = 0;  // wall clock, for humans
  // "everything paused by op: upgrade"
  [[nodiscard]] std::string ToString() const;
};

// A pause or a resume, with operator and reason: stored, and kept after the pause has ended.
struct PauseLogEntry {
  bool resume = false;
  std::string what;
  std::string who;
  std::string why;
  std::int64_t at_ms = 0;
};

// Steps and work that still ran when Executor::Pause answered.
struct PauseReport {
  std::vector<ProcId> running;  // one of its steps still runs; no other step follows
  std::vector<ProcId> outside;  // waits for work that a step has begun elsewhere (an RPC): its result is kept
};

// The inverse of ResourceKey::ToString: "table ns:t", "region ns:t/encoded", "meta". kInvalidArgument gives the reason.
[[nodiscard]] Result<ResourceKey> ParseResource(std::string_view text);

// The key prefix under which pauses are stored. Only the executor writes there.
inline constexpr std::string_view kPauseRecordPrefix = "pause/";
[[nodiscard]] std::string PauseRecordKey(const PauseScope& scope);
[[nodiscard]] std::string EncodePause(const PauseInfo& pause);
[[nodiscard]] Result<PauseInfo> DecodePause(std::string_view bytes);
// The newest changes, oldest first, under a key of their own.
inline constexpr std::string_view kPauseLogKey = "pause-log";
inline constexpr std::size_t kPauseLogLength = 64;
[[nodiscard]] std::string EncodePauseLog(const std::vector<PauseLogEntry>& log);
[[nodiscard]] Result<std::vector<PauseLogEntry>> DecodePauseLog(std::string_view bytes);

}  // namespace ratchet::procedure
