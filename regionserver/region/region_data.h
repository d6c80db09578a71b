// RegionData has a region's memstores and files, the sequence up to which they are readable, the executed nonces, and
// the scans that read them.
//
// Owner: Region. Thread-safe. The write path publishes entries, the file set switches memstores and shows new files,
// and reads take a view, which stays as it is while they keep it.
//
// Lock order: `publishing_` before `mutex_`. `publishing_` makes an entry readable as a whole, before or after a switch
// of memstores. `mutex_` guards the view and the read point; nothing is called while it is held. The registry of scans
// has a lock of its own, which is taken before that of a scan and before `mutex_`, never after.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/region/nonce_table.h"
#include "regionserver/region/opening_rules.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/memstore.h"
#include "regionserver/store/store_file.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

using ReadableFiles = std::vector<std::shared_ptr<const StoreFiles::Reader>>;

// Memstores and files of a region at one moment; readers keep it.
struct StoreView {
  std::shared_ptr<Memstore> active;
  std::shared_ptr<Memstore> flushing;  // null: none
  ReadableFiles files;
};

struct ReadPoint {
  std::shared_ptr<const StoreView> view;
  std::uint64_t sequence = 0;  // cells above it are not readable yet
};

class FlushListener {
 public:
  virtual ~FlushListener() = default;
  [[nodiscard]] virtual std::uint64_t read_point() const = 0;
  // `files` hold the cells that `memstore` held. Objects that are no longer needed are moved to `garbage`.
  virtual void Flushed(const std::shared_ptr<Memstore>& memstore, const ReadableFiles& files,
                       std::vector<std::shared_ptr<const void>>* garbage) = 0;
};

// The open scans of a region: the lowest read point that they need, and which scans are notified when a memstore was
// flushed. Scans leave before they are destroyed. Thread-safe.
class ScanRegistry {
 public:
  // `enter` takes the scan's view; no flush becomes visible between that and the scan's entry here.
  void Enter(FlushListener& scan, const std::function<void()>& enter);
  void Leave(FlushListener& scan);
  // Returns the lowest read point of all scans, at most `newest`.
  [[nodiscard]] std::uint64_t SmallestReadPoint(std::uint64_t newest) const;
  void Flushed(const std::shared_ptr<Memstore>& memstore, const ReadableFiles& files);

 private:
  mutable Mutex mutex_;
  std::set<FlushListener*> scans_ GUARDED_BY(mutex_);
};

// A switch of memstores sets this aside for the flush, in addition to the cells.
struct SetAside {
  std::uint64_t sequence = 0;  // of the newest entry
  std::vector<UsedNonce> nonces;
};

class RegionData {
 public:
  explicit RegionData(const OpeningRules& opening) : time(*opening.params.clock), opening_(opening) {}

  [[nodiscard]] ReadPoint Acquire() const;
  // Returns the files; empty while the region opens.
  [[nodiscard]] ReadableFiles Files() const;
  // Returns an error when too much waits for a flush.
  [[nodiscard]] Status CheckRoom() const;
  void FillStatus(RegionStatus& status) const;

  // The opening: begins with the files of `state`, then adds recovered edits.
  void Load(ReadableFiles files, const ManifestState& state);
  // Adds an entry of recovered edits without the cells of `dead_families`.
  void Replay(const LogEntry& entry, const FamilyIds& dead_families);
  // False when the replayed cells, or all memstores of the server, take so much memory that a flush is due.
  [[nodiscard]] bool HasRoomForReplayed() const;

  // Makes a durable entry readable. Returns true when the memstore has become large enough for a flush, once for each
  // switch.
  [[nodiscard]] bool Publish(const LogEntry& entry);
  // Raises the read point above an entry without cells.
  void PassOver(std::uint64_t sequence);

  // Switches memstores, unless an earlier one waits for its flush. The one that is set aside has exactly the data that
  // is readable but not flushed. Returns false when there is nothing to flush.
  [[nodiscard]] bool SwitchMemstores(std::uint64_t flushed_sequence, SetAside& aside);
  [[nodiscard]] std::shared_ptr<Memstore> flushing() const;
  // Exchanges the files that `edit` removes for `added`, and, when `flushed`, the memstore that was set aside, too.
  void Show(const ManifestEdit& edit, const ReadableFiles& added, bool flushed);

  // Forgets nonces that are older than the region's nonce memory.
  void ForgetOldNonces() { nonces.Forget(time.Now() - opening_.params.settings->nonce_memory.count()); }

  NonceTable nonces;
  RegionTime time;
  ScanRegistry scans;
  std::atomic<std::uint64_t> reads{0};  // rows read

 private:
  [[nodiscard]] std::shared_ptr<Memstore> NewMemstore() const;
  // Returns the memstore that was set aside if it is flushed now, else null.
  [[nodiscard]] std::shared_ptr<Memstore> Exchange(const ManifestEdit& edit, const ReadableFiles& added, bool flushed)
      REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t MemstoreBytes() const REQUIRES(mutex_);

  const OpeningRules& opening_;

  Mutex publishing_;
  Memstore* active_ GUARDED_BY(publishing_) = nullptr;  // that of view_

  mutable Mutex mutex_;
  bool flush_asked_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<const StoreView> view_ GUARDED_BY(mutex_);
  std::uint64_t read_point_ GUARDED_BY(mutex_) = 0;
  std::uint64_t flushed_sequence_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::regionserver
