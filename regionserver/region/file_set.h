// The store files of a region and the manifest that lists the live ones (S21: numbered openings): flushes, compactions,
// copies for snapshots, and the records of the opening and of its end.
//
// A file becomes live in this order: its bytes are durable, a record of the manifest names it, the CHECK passes; only
// then do readers see it, and may the log and the files that it replaces go.
//
// Owner: Region. Flush, CopyTo and Compact may be called by any thread that may wait for the disk.
//
// Lock order: `compacting_` (one compaction at a time) before `work`, and `work` before the locks of WritePath,
// RegionData and Admission. `work` serializes flushes, records of the manifest and closes, and guards the manifest;
// Lifecycle holds it while it opens or closes the region. A compaction merges without `work`, because it reads only
// immutable files.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/region/admission.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/write_path.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

class FileSet {
 public:
  FileSet(const OpeningRules& opening, Admission& admission, RegionData& data, WritePath& path)
      : opening_(opening),
        admission_(admission),
        data_(data),
        path_(path),
        store_files_(opening.params.directory, opening.order, opening.params.damaged) {}

  // See Region.
  [[nodiscard]] Status Flush();
  [[nodiscard]] Result<CopyReport> CopyTo(bool flush, CopyTarget target);
  [[nodiscard]] Status Compact(bool major);

  Mutex work;

  // Creates the manifest of this opening, and claims the region; durable after `manifest().SyncNames()`.
  [[nodiscard]] Status Claim() REQUIRES(work);
  // Gives the manifest the state of the one before, and opens its files; durable after `manifest().SyncRecord()`. S49
  // (re-added family is new): `new_families` gets the families whose cells in these files are dead.
  [[nodiscard]] Result<ReadableFiles> TakeOver(FamilyIds& new_families) REQUIRES(work);
  [[nodiscard]] Manifest& manifest() REQUIRES(work) { return *manifest_; }
  [[nodiscard]] const ManifestState& state() const REQUIRES(work) { return manifest_->state(); }
  // S25 (recovered edits stay until flushed): takes the replayed edits, which are in the memstore. `record` has what
  // the first record of this opening contains in addition. Flushes only if MustFlushReplayed.
  [[nodiscard]] Status TakeReplayed(ManifestEdit record, bool uncovered) REQUIRES(work);
  // Flushes until no memstore has anything and no edits wait; for a close, when no mutation is in flight.
  [[nodiscard]] Status FlushRest() REQUIRES(work);
  // Marks what this opening makes unneeded, after its CHECK.
  [[nodiscard]] Status ShowOpened() REQUIRES(work);
  // Adds a record without files.
  [[nodiscard]] Status Append(const ManifestEdit& record) REQUIRES(work) { return manifest_->Append(record); }
  // True when the manifest may have a record that names a place in the log (S113: serial order of openings).
  [[nodiscard]] bool may_name_log() const REQUIRES(work) { return may_name_log_; }

 private:
  [[nodiscard]] Status CheckNothingUnnamed(const ManifestState& state, const std::vector<std::string>& names) const;
  // `record`: the first record of this opening. `uncovered`: some replayed entries have sequences that the manifest's
  // files may have, too.
  [[nodiscard]] bool MustFlushReplayed(const ManifestEdit& record, bool uncovered) const REQUIRES(work);
  [[nodiscard]] bool BeginFlush() REQUIRES(work);
  // Makes sure that everything acknowledged before the call is in files when it returns. Returns false if it was
  // already.
  [[nodiscard]] Result<bool> FlushAllThatIsThere() REQUIRES(work);
  // Writes the memstore of BeginFlush into a file, and makes it live together with what `record` has already.
  [[nodiscard]] Status WriteFlushing(ManifestEdit record) REQUIRES(work);
  [[nodiscard]] Result<std::vector<StoreFileInfo>> WriteMemstore(const Memstore& memstore, const ManifestEdit& edit)
      REQUIRES(work);
  [[nodiscard]] Status InstallFiles(ManifestEdit edit, bool flushed) REQUIRES(work);
  [[nodiscard]] Status NameFiles(const ManifestEdit& edit) REQUIRES(work);
  void RemoveFiles(const std::vector<StoreFileInfo>& unnamed) const;
  void KeepManifestSmall() REQUIRES(work);
  void SayCovered() REQUIRES(work);
  void SayUnneeded(const std::vector<std::string>& names) REQUIRES(work);
  [[nodiscard]] Status MergeFiles(const ReadableFiles& inputs, bool major) REQUIRES(compacting_);
  [[nodiscard]] std::string NewFileName();
  [[nodiscard]] io::Directory& directory() const { return *opening_.params.directory; }

  const OpeningRules& opening_;
  Admission& admission_;
  RegionData& data_;
  WritePath& path_;
  const StoreFiles store_files_;
  std::atomic<std::uint64_t> next_file_{1};

  Mutex compacting_ ACQUIRED_BEFORE(work);
  std::unique_ptr<Manifest> manifest_ GUARDED_BY(work);
  bool may_name_log_ GUARDED_BY(work) = false;
  SetAside aside_ GUARDED_BY(work);  // belongs to the memstore that is being flushed
  // S25 (recovered edits stay until flushed): replayed files that the next flush covers
  std::vector<std::string> replayed_edits_ GUARDED_BY(work);
};

}  // namespace ratchet::regionserver
