// How the storage answers each region server, by their reports, and which of them may withdraw because it does not
// (S76).
//
// A server that hangs may leave only when another one is shown to be better off: by a sync of its own that it began
// after the hanging one and that has come back. One that has nothing to sync shows nothing, and one that reports no
// more shows nothing either; so where all hang on one storage, none may leave. Withdrawals follow each other slowly:
// data that hangs each server that takes it over must not empty the cluster.
//
// A report that was long on its way makes what it says look younger than it is; that can let one server go that would
// not have had to, and nothing worse: what keeps data safe is the fence.
//
// Thread-safe; memory only; a page goes when its server has not reported for kStoragePageAge. Touches no storage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

// As a server says it; ages at the moment of the report.
struct StorageReport {
  std::optional<Millis> oldest_unfinished;  // none: nothing is under way
  std::optional<Millis> proof;              // since when its newest sync that came back had been under way
  Millis limit{0};                          // with something unfinished for this long it wants to withdraw; 0: never
  std::uint64_t put_off_compactions = 0;    // that wait for room on the disk
  std::string put_off_why;                  // of one of them
};

struct StorageAnswer {
  bool may_withdraw = false;
  bool prove = false;
};

// From this age on it is shown, and others are asked for a proof.
inline constexpr Millis kStorageProblem{1'000};
// A report, or a proof in it, that is older than this says nothing any more.
inline constexpr Millis kStorageReportFresh{5'000};
inline constexpr Millis kStoragePageAge{60'000};
// A server that begins to hang so soon after another was let go may hang because of what it took over ...
inline constexpr Millis kMayHaveTakenOver{5'000};
// ... and waits until so long after that.
inline constexpr Millis kBetweenWithdrawals{60'000};

class StorageBook {
 public:
  StorageAnswer Put(const ServerName& server, const StorageReport& report, TimePoint now);
  // How long the oldest write or sync of `server` goes on, at `now`; nothing when it is below kStorageProblem.
  [[nodiscard]] std::optional<Millis> HangsFor(const ServerName& server, TimePoint now) const;
  // That compactions of `server` wait for room on its disk, and why; nothing when none does.
  [[nodiscard]] std::optional<std::string> LacksRoom(const ServerName& server) const;
  // Whether some server has shown that the storage answered what was begun after `since`.
  [[nodiscard]] bool AnswersSince(TimePoint since, TimePoint now) const;

 private:
  struct Page {
    std::optional<TimePoint> hangs_since;  // its oldest unfinished
    std::optional<TimePoint> proven_at;    // begin of a sync that came back
    std::optional<std::string> lacks_room;
    TimePoint at{};
  };
  [[nodiscard]] bool OthersAnswer(const ServerName* but, TimePoint since, TimePoint now) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  std::optional<ServerName> let_go_ GUARDED_BY(mutex_);  // the last one that may withdraw
  TimePoint let_go_at_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::master
