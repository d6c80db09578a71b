// The shared core of Region and its scanners. Used inside the engine only; region.h is the interface.
//
// Lock order: file_work_ < staging_ < publishing_ < state_mutex_. Row locks are taken before staging_ and never while
// another is held. The log's thread takes publishing_ and state_mutex_ only.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/nonce_table.h"
#include "regionserver/region/open_params.h"
#include "regionserver/region/row_locks.h"
#include "regionserver/region/store_view.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/memstore.h"
#include "regionserver/store/row_range.h"
#include "regionserver/store/row_selector.h"
#include "regionserver/store/store_file.h"
#include "regionserver/wal/server_log.h"

namespace ratchet::regionserver {

class ScanRegistry;

class RegionCore final : public LogMember, public std::enable_shared_from_this<RegionCore> {
 public:
  explicit RegionCore(OpenParams params);
  ~RegionCore() override;

  // region_open.cc
  Status Open();

  // region_core.cc
  Status CheckOpening() override;
  Status CheckServing();
  // Checks S21 (numbered openings) and S2 (check is positive) together, for file work and opening. A higher opening
  // drops the region; no other result does (S50: give up only on proof).
  Status CheckOwnership();
  // Repeats the check after the manifest was written. When the owner cannot be determined, this opening stops serving
  // and the process must end.
  Status CheckWritten();
  Status CheckReadable();  // OK while open or closing; cheap
  ReadPoint AcquireReadPoint();
  void Lose(const Error& error);  // a higher opening exists
  void Abandon();
  [[nodiscard]] RegionStatus GetStatus();
  [[nodiscard]] std::string SplitRow();
  [[nodiscard]] std::uint64_t OwnBytes();
  [[nodiscard]] Status CheckRow(std::string_view row) const;
  [[nodiscard]] Status CheckColumns(const ColumnSelection& columns) const;
  [[nodiscard]] Status CheckCellSize(const CellView& cell) const;
  [[nodiscard]] const FamilyRules* RulesFor(std::string_view family) const;

  // region_write.cc
  void MutateBatch(std::vector<AtomicMutation> mutations, BatchDone done, std::shared_ptr<ResultAllowance> results);

  // region_flush.cc
  Status Flush();
  Result<CopyReport> CopyTo(bool flush, CopyTarget target);
  Status Close();

  // region_compact.cc
  Status Compact(bool major);

  const OpenParams params;
  const std::string encoded_name;
  const KeyOrder order;
  const std::map<std::string, FamilyRules, std::less<>>& families;  // in params
  const std::uint64_t max_cell_bytes;                               // 0: no limit
  const std::set<std::string, std::less<>>& shipped_families;       // in params
  // S113 (serial order of openings): the beginning and the end of an opening are recorded in the log and in the
  // manifest.
  [[nodiscard]] bool records_marks() const { return !shipped_families.empty() && !params.log_owner.empty(); }
  std::uint64_t first_sequence = 0;  // set by Open
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> writes{0};
  NonceTable nonces;
  // The region's own time, used for nonces: it continues from the last time that the region knows, and advances while
  // the region is open. Wall clocks that are ahead, behind or set would make fresh requests too old, or forget nonces
  // early.
  // A timestamp for the cell that replaces one of `old`, where the unit has `now` by AssignTimestamp. As in HBase it is
  // a version of its own. `now` rises with it, so that what the server writes next is not older (S27: rising
  // timestamps); but not above a timestamp that a client has chosen.
  std::int64_t TimestampAfter(std::int64_t old, std::int64_t& now);
  [[nodiscard]] std::int64_t NonceNow() const;
  // Returns the recent time `wall_ms` of this server's clock in the region's time.
  [[nodiscard]] std::int64_t NonceTimeOf(std::int64_t wall_ms) const;
  const std::unique_ptr<ScanRegistry> scan_registry;
  ScanRegistry& scans;
  const std::shared_ptr<RowLocks> row_locks = std::make_shared<RowLocks>();

 private:
  friend class WriteBatch;
  enum class State : std::uint8_t { kOpening, kOpen, kClosing, kClosed };

  // region_open.cc
  Status OpenIt() REQUIRES(file_work_);
  Status ReplayEdits(std::vector<std::string>* consumed) REQUIRES(file_work_);
  Status ReplayFile(const std::string& name) REQUIRES(file_work_);
  Status CheckNothingUnnamed(const ManifestState& state, const std::vector<std::string>& names) const;

  // opening_marks.cc
  Status RecordBegin() REQUIRES(file_work_);
  Status RecordEnd() REQUIRES(file_work_);
  void RecordEndOfFailed(const Error& error) REQUIRES(file_work_);
  Status LogOpeningMark(OpeningMark mark) REQUIRES(file_work_);
  [[nodiscard]] QueuePoint EndOfLog() const;

  // region_core.cc
  [[nodiscard]] Status CheckBudget() const;
  Status Admit();      // admits one more mutation in flight, or returns why not
  Status CheckRoom();  // checks the limits of the server and of the region for more writes
  void Discharge();    // ends one mutation in flight
  Status NotServingLocked() const REQUIRES(state_mutex_);
  Status CheckRoomLocked() const REQUIRES(state_mutex_);
  [[nodiscard]] static std::size_t SlotOf(std::string_view row);  // index in newest_delete_
  [[nodiscard]] std::int64_t NewestDelete(std::string_view row) const REQUIRES(staging_);
  void NoteDelete(std::string_view row, std::int64_t timestamp) REQUIRES(staging_);
  // Returns a timestamp >= `floor` for a unit that changes `rows` (S27).
  std::int64_t AssignTimestamp(const std::set<std::string>& rows, bool puts, bool deletes, std::int64_t floor);

  // region_write.cc
  bool Stage(const std::shared_ptr<LogEntry>& entry, std::function<void(Status)> done);
  void AddToMemstore(const LogEntry& entry);
  Status Publish(const LogEntry& entry, const Status& logged);

  // region_flush.cc
  bool BeginFlush() REQUIRES(file_work_);
  // Makes sure that everything acknowledged before the call is in files when it returns. Returns false if it was
  // already.
  Result<bool> FlushAllThatIsThere() REQUIRES(file_work_);
  Status WriteFlushing(const std::vector<std::string>& consumed_edits) REQUIRES(file_work_);
  Result<std::vector<StoreFileInfo>> WriteMemstore(const Memstore& memstore, const ManifestEdit& edit)
      REQUIRES(file_work_);
  Status NameFiles(const ManifestEdit& edit) REQUIRES(file_work_);
  void RemoveFiles(const std::vector<StoreFileInfo>& unnamed) const;
  Status MergeFiles(std::vector<std::shared_ptr<const StoreFiles::Reader>> inputs, bool major) REQUIRES(compacting_);
  Status InstallFiles(ManifestEdit edit, bool flushed) REQUIRES(file_work_);
  void ShowFiles(const ManifestEdit& edit, const std::vector<std::shared_ptr<const StoreFiles::Reader>>& added,
                 bool flushed) REQUIRES(file_work_);
  void KeepManifestSmall() REQUIRES(file_work_);
  // Returns the memstore that is being flushed, or null.
  std::shared_ptr<Memstore> ShowFilesLocked(const ManifestEdit& edit,
                                            const std::vector<std::shared_ptr<const StoreFiles::Reader>>& added,
                                            bool flushed) REQUIRES(file_work_, state_mutex_);
  void SayCovered() REQUIRES(file_work_);
  void SayUnneeded(const std::vector<std::string>& names) REQUIRES(file_work_);
  Status DrainForClose();
  Status FinishClose() REQUIRES(file_work_);
  Status RecordClosed() REQUIRES(file_work_);
  void EndAfterClosed(const Error& error);
  std::string NewFileName();

  const std::shared_ptr<io::Directory> directory_;
  void StartNonceTime();  // call when all nonces are loaded
  std::int64_t nonce_time_begin_ms_ = 0;
  TimePoint nonce_time_begun_at_{};
  const StoreFiles store_files_;

  // Serializes flushes, manifest records and closes.
  Mutex file_work_;
  std::unique_ptr<Manifest> manifest_ GUARDED_BY(file_work_);
  // S49 (re-added family is new): set while opening, until the manifest has them
  FamilyIds new_families_ GUARDED_BY(file_work_);
  std::optional<QueuePoint> begin_mark_ GUARDED_BY(file_work_);  // set while opening, until the manifest has it
  bool mark_recorded_ GUARDED_BY(file_work_) = false;            // true when the manifest may have the mark
  std::optional<QueuePoint> end_mark_ GUARDED_BY(file_work_);    // set while closing
  std::uint64_t flushing_sequence_ GUARDED_BY(file_work_) = 0;
  std::vector<UsedNonce> flushing_nonces_ GUARDED_BY(file_work_);
  Mutex compacting_;  // one compaction at a time; taken before file_work_
  std::atomic<std::uint64_t> next_file_{1};

  Mutex staging_;  // makes the order of sequences equal to the order in the log
  std::uint64_t next_sequence_ GUARDED_BY(staging_) = 1;
  std::int64_t greatest_timestamp_ GUARDED_BY(staging_) = 0;
  std::atomic<std::int64_t> shown_timestamp_{0};  // copy of greatest_timestamp_ for GetStatus

  // Newest server-assigned delete of the rows that share a slot. A later put of the same millisecond must not be hidden
  // by it. Null before this opening's first delete: then every slot has the time of the opening.
  using DeleteTimes = std::array<std::int64_t, 1024>;
  std::unique_ptr<DeleteTimes> newest_delete_ GUARDED_BY(staging_);
  std::int64_t deletes_before_ GUARDED_BY(staging_) = 0;  // no earlier opening has a later delete

  Mutex publishing_;  // an entry becomes readable as a whole, before or after a memstore switch

  Mutex state_mutex_;
  CondVar drained_;
  State state_ GUARDED_BY(state_mutex_) = State::kOpening;
  bool lost_ GUARDED_BY(state_mutex_) = false;
  bool unsure_ GUARDED_BY(state_mutex_) = false;  // see OpenParams::unsure
  std::uint64_t in_flight_ GUARDED_BY(state_mutex_) = 0;
  std::shared_ptr<const StoreView> view_ GUARDED_BY(state_mutex_);
  std::uint64_t read_point_ GUARDED_BY(state_mutex_) = 0;
  std::uint64_t flushed_sequence_ GUARDED_BY(state_mutex_) = 0;
  bool flush_asked_ GUARDED_BY(state_mutex_) = false;
};

}  // namespace ratchet::regionserver
