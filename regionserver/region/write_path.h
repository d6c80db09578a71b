// The way of a mutation: it is planned under the locks of its rows, gets a sequence and a timestamp, goes into the
// server's log, and becomes readable once the log says that it is durable and CHECKed (S1: check after sync; S24:
// visible after sync).
//
// The locks of its rows are released as soon as it is in the log's queue. Mutations of the same rows that follow are
// computed from it and share its fate (S126: same fate as its source).
//
// Owner: Region. Thread-safe. Planning runs on the caller's thread, publishing on the log's thread.
//
// Lock order: row locks before `staging_`, `staging_` before the locks of RegionData. `staging_` guards sequences and
// timestamps, and makes the order of sequences equal to the order in the log.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/region/admission.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

class WritePath {
 public:
  WritePath(const OpeningRules& opening, Admission& admission, RegionData& data)
      : opening_(opening), admission_(admission), data_(data) {}

  // See Region::MutateBatch. `member` keeps the region alive until the batch has ended.
  void MutateBatch(std::shared_ptr<LogMember> member, std::vector<AtomicMutation> mutations, BatchDone done,
                   std::shared_ptr<ResultAllowance> results);

  // Returns a timestamp >= `floor` for a unit (S27: rising timestamps).
  [[nodiscard]] std::int64_t AssignTimestamp(const AtomicMutation& unit, std::int64_t floor);
  // Returns a timestamp for the cell that replaces one of `old`, where the unit has `now` by AssignTimestamp. As in
  // HBase it is a version of its own. `now` rises with it, so that what the server writes next is not older (S27:
  // rising timestamps); but not above a timestamp that a client has chosen.
  [[nodiscard]] std::int64_t TimestampAfter(std::int64_t old, std::int64_t& now);
  // Returns the greatest timestamp that was assigned.
  [[nodiscard]] std::int64_t greatest_timestamp() const;
  void FillStatus(RegionStatus& status) const;
  [[nodiscard]] bool has_written() const { return writes_.load() > 0; }

  // The opening: begins above `state`, passes over recovered edits, and returns the first sequence of this opening.
  void Load(const ManifestState& state);
  void PassOver(const LogEntry& entry);
  [[nodiscard]] std::uint64_t FinishLoad();

  // Puts an entry into the log. Returns false when the log has ended; `done` will not be called.
  // `computed_from`: see ServerLog::Append.
  [[nodiscard]] bool Stage(std::shared_ptr<LogMember> member, const std::shared_ptr<LogEntry>& entry,
                           std::function<void(Status)> done, std::uint64_t computed_from = 0);

 private:
  class Batch;

  [[nodiscard]] Status CheckBudget() const;
  [[nodiscard]] Status Admit();            // admits one more batch, or returns why not
  [[nodiscard]] Status CheckRoom() const;  // checks the limits of the server and of the region for more writes
  // Returns the answer to a client, from what the log reports.
  [[nodiscard]] Status Judge(const Status& logged);
  [[nodiscard]] Status Publish(const LogEntry& entry, const Status& logged);
  void MakeReadable(const LogEntry& entry);
  [[nodiscard]] static std::size_t SlotOf(std::string_view row);  // index in newest_delete_
  [[nodiscard]] std::int64_t NewestDelete(std::string_view row) const REQUIRES(staging_);
  void NoteDelete(std::string_view row, std::int64_t timestamp) REQUIRES(staging_);

  const OpeningRules& opening_;
  Admission& admission_;
  RegionData& data_;
  std::atomic<std::uint64_t> writes_{0};

  mutable Mutex staging_;
  std::uint64_t next_sequence_ GUARDED_BY(staging_) = 1;
  std::int64_t greatest_timestamp_ GUARDED_BY(staging_) = 0;
  std::atomic<std::int64_t> shown_timestamp_{0};  // copy of greatest_timestamp_ for FillStatus

  // Newest server-assigned delete of the rows that share a slot. A later put of the same millisecond must not be hidden
  // by it. Null before this opening's first delete: then every slot has the time of the opening.
  using DeleteTimes = std::array<std::int64_t, 1024>;
  std::unique_ptr<DeleteTimes> newest_delete_ GUARDED_BY(staging_);
  std::int64_t deletes_before_ GUARDED_BY(staging_) = 0;  // no earlier opening has a later delete
};

}  // namespace ratchet::regionserver
