// Opens and closes a region: the order of the steps between the log, the manifest and the state of the opening.
//
// Open: the manifest of this opening with the state of the one before, recovered edits, the CHECK; a flush of what was
// replayed comes later, or at once where it cannot wait (S21: numbered openings; S25: recovered edits stay until
// flushed; S26: split up to the seal). Close: no new work, drain, flush, the record CLOSED, the CHECK (S22: close
// drains, flushes, checks; S35: proof of a clean close). Both record where the opening begins and ends in the logs
// (S113: serial order of openings): in the log for the sources of replication, in the manifest for the region's next
// opening.
//
// Owner: Region. The steps of an opening are called once each, before the region is shared. Close may be called by any
// thread that may wait for the disk, and again after an error. Both hold FileSet::work, which also guards the marks
// here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regionserver/region/admission.h"
#include "regionserver/region/file_set.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/write_path.h"

namespace ratchet::regionserver {

class Lifecycle {
 public:
  Lifecycle(const OpeningRules& opening, Admission& admission, RegionData& data, WritePath& path, FileSet& files)
      : opening_(opening), admission_(admission), data_(data), path_(path), files_(files) {}

  // Results of TakeOver, for Finish.
  struct TakenOver {
    ReadableFiles files;
    ManifestEdit first_record;
  };
  // The steps of an opening, see OpenSteps. `member` keeps the region alive while the log has a mark of it.
  [[nodiscard]] Status Claim();
  [[nodiscard]] Result<TakenOver> TakeOver();
  [[nodiscard]] Status Finish(TakenOver taken, const std::shared_ptr<LogMember>& member);
  // See Region.
  [[nodiscard]] Status Close(const std::shared_ptr<LogMember>& member);
  // Returns the first sequence of this opening; set by Open.
  [[nodiscard]] std::uint64_t first_sequence() const { return first_sequence_; }

 private:
  [[nodiscard]] Status FinishIt(TakenOver taken, const std::shared_ptr<LogMember>& member) REQUIRES(files_.work);
  // Returns the names of the replayed files. Sets `uncovered` when an entry is of a line that the manifests do not
  // know.
  [[nodiscard]] Result<std::vector<std::string>> ReplayEdits(const FamilyIds& dead_families, bool& uncovered)
      REQUIRES(files_.work);
  [[nodiscard]] Status ReplayFile(const std::string& name, const FamilyIds& dead_families, bool& uncovered)
      REQUIRES(files_.work);
  [[nodiscard]] Status FinishClose(const std::shared_ptr<LogMember>& member) REQUIRES(files_.work);
  [[nodiscard]] Status RecordClosed() REQUIRES(files_.work);

  // Returns where this opening begins, for the manifest; none when marks are not recorded.
  [[nodiscard]] Result<std::vector<QueuePoint>> RecordBegin(const std::shared_ptr<LogMember>& member)
      REQUIRES(files_.work);
  [[nodiscard]] Status RecordEnd(const std::shared_ptr<LogMember>& member) REQUIRES(files_.work);
  void RecordEndOfFailed(const std::shared_ptr<LogMember>& member, const Error& error) REQUIRES(files_.work);
  [[nodiscard]] Status LogOpeningMark(const std::shared_ptr<LogMember>& member, OpeningMark mark);
  [[nodiscard]] QueuePoint EndOfLog() const;

  const OpeningRules& opening_;
  Admission& admission_;
  RegionData& data_;
  WritePath& path_;
  FileSet& files_;
  std::uint64_t first_sequence_ = 0;
  std::optional<QueuePoint> end_mark_ GUARDED_BY(files_.work);  // set once the log has the mark of the end
};

}  // namespace ratchet::regionserver
