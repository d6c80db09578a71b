// The storage's responses to each region server, by their reports, and the decision which server may withdraw because
// its storage hangs (S76: withdraw with permission).
//
// A server that hangs may withdraw only if another server is proven to work: by a sync that began after the hanging one
// and has returned. A server without syncs, or without reports, proves nothing; so if all servers hang on one storage,
// none may withdraw. Withdrawals are spaced, because data that hangs each new owner must not empty the cluster.
//
// A delayed report makes its content look newer than it is. At worst one server withdraws without need; the fence keeps
// the data safe.
//
// Thread-safe; memory only; a page is removed when its server has not reported for kStoragePageAge. Accesses no
// storage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/telemetry/page_sweep.h"

namespace ratchet::master {

// A server's report, with ages at the time of the report.
struct StorageReport {
  std::optional<Millis> oldest_unfinished;  // nullopt: no operation is in progress
  std::optional<Millis> proof;              // age of the start of its newest finished sync
  Millis limit{0};  // after an operation is unfinished for this long, it requests to withdraw; 0: never
  std::uint64_t put_off_compactions = 0;  // compactions that wait for disk space
  std::string put_off_why;                // reason of one waiting compaction
  std::uint64_t unserved_regions = 0;     // open regions that refuse every request (S120: unserved region is reported)
  std::string unserved_why;               // reason of one such region
};

struct StorageAnswer {
  bool may_withdraw = false;
  bool prove = false;
};

// From this age on, the hang is shown, and other servers are asked for a proof.
inline constexpr Millis kStorageProblem{1'000};
// An older report, or an older proof in it, is ignored.
inline constexpr Millis kStorageReportFresh{5'000};
inline constexpr Millis kStoragePageAge{60'000};
// A server that begins to hang within this time after a withdrawal may hang because of the data that it took over ...
inline constexpr Millis kMayHaveTakenOver{5'000};
// ... so it may withdraw only this long after the previous withdrawal.
inline constexpr Millis kBetweenWithdrawals{60'000};

class StorageBook {
 public:
  StorageAnswer Put(const ServerName& server, const StorageReport& report, TimePoint now);
  // Returns the age of the oldest unfinished write or sync of `server` at `now`; nullopt if it is below
  // kStorageProblem.
  [[nodiscard]] std::optional<Millis> HangsFor(const ServerName& server, TimePoint now) const;
  // Returns why compactions of `server` wait for disk space; nullopt if none waits.
  [[nodiscard]] std::optional<std::string> LacksRoom(const ServerName& server) const;
  // Returns why open regions of `server` refuse every request; nullopt if none does.
  [[nodiscard]] std::optional<std::string> Refuses(const ServerName& server) const;
  // Returns true if a server has proven that the storage completed an operation that began after `since`.
  [[nodiscard]] bool AnswersSince(TimePoint since, TimePoint now) const;

 private:
  struct Page {
    std::optional<TimePoint> hangs_since;  // start of its oldest unfinished operation
    std::optional<TimePoint> proven_at;    // start of its newest finished sync
    std::optional<std::string> lacks_room;
    std::optional<std::string> refuses;
    TimePoint at{};
  };
  struct Hang {
    TimePoint since{};
    TimePoint reported{};
  };
  [[nodiscard]] bool OthersAnswer(const ServerName* but, TimePoint since, TimePoint now) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  PageSweep sweep_ GUARDED_BY(mutex_);
  // Servers whose last report, not older than kStorageReportFresh, names an unfinished operation.
  std::map<ServerName, Hang> hanging_ GUARDED_BY(mutex_);
  std::optional<ServerName> let_go_ GUARDED_BY(mutex_);  // the last server that may withdraw
  TimePoint let_go_at_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::master
