// One opening of one region: the only object through which its rows are read and changed on this server.
//
// Data: a memstore, immutable store files, and a manifest of this opening that lists the live files (S21: numbered
// openings). A mutation is put into the server's log, synced, CHECKed, and only then becomes readable and is answered
// (S1: check after sync; S24: visible after sync).
//
// The parts, each with its own header:
//   OpeningRules what the region was opened with; immutable
//   Admission    what may begin and continue: state, mutations in flight, row locks, loss
//   RegionData   memstores, files, read point, nonces, open scans
//   WritePath    from a mutation to the log, and from the log to the memstore
//   FileSet      manifest, flush, compaction
//   Lifecycle    open and close
// This class has the reads and the status, which need several of them.
//
// Owner: the region server keeps it in a shared_ptr; scanners and mutations in flight keep it alive. After Close or a
// loss every call fails with NotServingRegionException.
//
// Threads: every method may be called by any thread. Get, Scan and the planning part of Mutate run on the caller's
// thread and may wait for row locks and for the disk; `done` runs on the log's thread (or on the caller's, when nothing
// was logged) and must not block. Flush, Compact, Open and Close do file work and belong on threads made for it.
//
// Lock order of a region: row locks, then FileSet's `compacting_` < `work` < WritePath's `staging_` < RegionData's
// `publishing_` < the registry of scans < `resting_` of a scan < the mutexes of RegionData and of Admission, which are
// never held together. The log's thread takes no lock of FileSet.
//
// Errors carry HBase's class name in remote_class: NotServingRegionException, WrongRegionException,
// NoSuchColumnFamilyException, RegionTooBusyException. (The server's services add UnknownScannerException.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "common/model/region_info.h"
#include "common/model/table_descriptor.h"
#include "regionserver/region/admission.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/file_set.h"
#include "regionserver/region/lifecycle.h"
#include "regionserver/region/open_params.h"
#include "regionserver/region/opening_rules.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/requests.h"
#include "regionserver/region/scanner.h"
#include "regionserver/region/write_path.h"

namespace ratchet::regionserver {

class Region final : public std::enable_shared_from_this<Region> {
  struct Private {};

 public:
  // Use Open.
  Region(Private, OpenParams params);

  // Creates this opening's manifest, adopts the state of the previous opening, and replays recovered edits into
  // memory (S21; S25: recovered edits stay until flushed). kFenced: a higher opening exists, or the log is fenced;
  // kAlreadyExists: this opening was made before; kCorruption: a file fails its checks and the region must not be
  // opened.
  [[nodiscard]] static Result<std::shared_ptr<Region>> Open(OpenParams params);
  friend class OpenSteps;  // Open in steps; open_steps.cc has both
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] const RegionInfo& info() const { return opening_.params.info; }
  [[nodiscard]] const std::string& encoded_name() const { return opening_.encoded_name; }
  [[nodiscard]] const TableDescriptor& table() const { return *opening_.params.table; }
  // Returns the first sequence of this opening, above all earlier sequences. Reported to the master as openSeqNum.
  [[nodiscard]] std::uint64_t first_sequence() const { return lifecycle_.first_sequence(); }
  // Returns the number of the descriptor with which the region was opened (S48: schema pinned in the order); 0:
  // unknown.
  [[nodiscard]] std::uint64_t schema_number() const { return opening_.params.schema_number; }

  // S24: data that was read before this call may be sent when it returns OK. Then the log is not fenced, no higher
  // opening exists, and the region was not dropped.
  [[nodiscard]] Status CheckServing();
  // True if CheckServing may wait for the storage.
  [[nodiscard]] bool CheckMayWait() const { return opening_.params.log->CheckMakesRoundTrip(); }

  // Checks only this opening's mark. kFenced: a higher opening has renamed it, and the region is dropped. Any other
  // error: the owner is unknown, and the region serves nothing (S50: give up only on proof; S120: unserved region is
  // reported).
  [[nodiscard]] Status CheckMark();

  // Gives the selected cells of one row to `sink`; none if the row has none. Call CheckServing before the answer.
  [[nodiscard]] Status Get(const GetSpec& spec, CellSink& sink);
  [[nodiscard]] Result<std::vector<Cell>> Get(const GetSpec& spec);  // returns copies
  // ScanSpec::read_point is from an earlier Scanner::read_point.
  [[nodiscard]] Result<std::unique_ptr<Scanner>> Scan(ScanSpec spec);

  using MutateDone = regionserver::MutateDone;
  // Applies one atomic unit. `done` is called exactly once, except when a failed sync ends the process. Results of
  // false conditions and repeated nonces have passed their CHECK when `done` runs.
  void Mutate(AtomicMutation mutation, MutateDone done);
  using BatchDone = regionserver::BatchDone;
  // Applies independent units in this order, in few log entries of bounded size; each succeeds or fails by itself.
  // Units that would return results are refused, not executed, once `results` is used up (null: no bound).
  void MutateBatch(std::vector<AtomicMutation> mutations, BatchDone done,
                   std::shared_ptr<ResultAllowance> results = nullptr);

  // Writes the memstore into a store file and makes it live. Does nothing when the memstore is empty.
  [[nodiscard]] Status Flush() { return files_.Flush(); }
  // Makes a copy of the region with all writes that were acknowledged before (S46: source of a snapshot part); with
  // `flush` false, only the data in files. The files stay until the copy has links to them; the copy is valid when this
  // returns OK, the CHECK included.
  [[nodiscard]] Result<CopyReport> CopyTo(bool flush, CopyTarget target) {
    return files_.CopyTo(flush, std::move(target));
  }
  // Merges store files: all of them, dropping deleted, expired and excess cells (major), or a size tier if one is full.
  [[nodiscard]] Status Compact(bool major) { return files_.Compact(major); }
  // S22 (close drains, flushes, checks), S35 (proof of a clean close): refuse new work, drain, flush, end the manifest
  // with CLOSED, CHECK, drop. OK: the region may be opened elsewhere. After an error the region never accepts writes
  // again; after kNoSpace it may be closed again. After a failure behind the record CLOSED it serves no reads either,
  // and OpenParams::unsure is called, unless the log or the region is fenced.
  [[nodiscard]] Status Close() { return lifecycle_.Close(Kept()); }
  // Drops the region without flushing (the process is fenced or stopping hard). Wakes all waiters.
  void Abandon() { admission_.Abandon(); }

  [[nodiscard]] RegionStatus GetStatus() const;
  // Like store_bytes, but a file that a split shares counts only with its estimated part in the region's range.
  [[nodiscard]] std::uint64_t OwnBytes() const;
  // False when this opening has written no entry to the server's log.
  [[nodiscard]] bool MayHaveLogged() const { return opening_.records_marks() || path_.has_written(); }
  // NoSuchColumnFamilyException: the region has no such family. That answer has passed CHECK.
  [[nodiscard]] Status CheckFamily(const std::string& family);
  // Returns the names, in the region's directory, of the files that may hold cells of one of these families (an empty
  // list: of any family). NoSuchColumnFamilyException: the region has no such family.
  [[nodiscard]] Result<std::vector<std::string>> StoreFileNames(const std::vector<std::string>& families);
  // Returns a row that would split the region into two halves of about the same size, by the samples of the largest
  // store file that has any; an empty string if there is none.
  [[nodiscard]] std::string SplitRow() const;

 private:
  // Returns the part that keeps this region alive where only a part of it is known.
  [[nodiscard]] std::shared_ptr<Admission> Kept() { return {shared_from_this(), &admission_}; }

  const OpeningRules opening_;
  Admission admission_;
  RegionData data_;
  WritePath path_;
  FileSet files_;
  Lifecycle lifecycle_;
};

}  // namespace ratchet::regionserver
