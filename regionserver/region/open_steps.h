// The opening of a region in steps, so that a server can make the results of many openings durable with one sync (S133:
// shared syncs; S52: one mark per opening).
//
//   Claim       creates the manifest and the mark, and takes the marks of lower openings
//   SyncClaim   makes them durable
//   TakeOver    reads the earlier state, and writes it into the manifest
//   SyncRecord  makes the record durable
//   Finish      recovered edits, the CHECK; then the region serves
//
// Instead of each of the two syncs a caller may make another one that begins after the step before it and covers the
// directory or the file, and note its success. After an error no further step may follow.
//
// Not thread-safe; different threads may make the steps one after the other. The file may have an open descriptor
// between TakeOver and its sync.
#pragma once

#include <memory>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

class OpenSteps {
 public:
  explicit OpenSteps(OpenParams params);

  [[nodiscard]] Status Claim();
  [[nodiscard]] Status SyncClaim();
  [[nodiscard]] Status TakeOver();
  [[nodiscard]] Status SyncRecord();
  // SyncClaim, TakeOver and SyncRecord, for an opening that shares no sync.
  [[nodiscard]] Status TakeOverAlone();
  [[nodiscard]] Result<std::shared_ptr<Region>> Finish();

  // Returns the directory that SyncClaim syncs.
  [[nodiscard]] io::Directory& directory() const { return *region_->opening_.params.directory; }
  // Returns the file that SyncRecord syncs; only after TakeOver.
  [[nodiscard]] io::WritableFile& file();
  void NoteClaimDurable();
  void NoteRecordDurable();

 private:
  [[nodiscard]] Status Told(const Status& status) const;

  const std::shared_ptr<Region> region_;
  Lifecycle::TakenOver taken_;
};

}  // namespace ratchet::regionserver
