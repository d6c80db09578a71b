#include "regionserver/process/storage_health.h"

#include <utility>

#include "common/base/log.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kMasterSilent{2'000};
constexpr Millis kUntried{5'000};  // so that an idle server notices a problem before its first client does

io::StorageWatchOptions OptionsOf(const Live<Millis>& limit) {
  io::StorageWatchOptions options;
  options.limit = limit;
  return options;
}

}  // namespace

StorageHealth::StorageHealth(const Clock& clock, io::SyncWatch& watch, Live<Millis> limit, StorageHealthParts parts)
    : clock_(clock),
      parts_(std::move(parts)),
      answered_at_(clock.Now().time_since_epoch().count()),
      watch_(
          clock, watch, OptionsOf(limit),
          io::StorageWatchParts{parts_.look, [this] { Prove(); }, {}, parts_.leave, parts_.end, parts_.last_resort}) {}

void StorageHealth::Look() {
  const TimePoint answered{TimePoint::duration(answered_at_.load())};
  const auto proof = watch_.Proof();
  watch_.Look(asked_ || clock_.Now() - answered > kMasterSilent || !proof.has_value() || *proof > kUntried);
}

void StorageHealth::Answered(const hbase::pb::RegionServerReportResponse* answer) {
  asked_ = answer == nullptr || answer->prove_storage();
  if (answer == nullptr) return;
  answered_at_ = clock_.Now().time_since_epoch().count();
  if (answer->may_withdraw()) watch_.Permit();
}

void StorageHealth::Fill(hbase::pb::StorageReport& report) const {
  if (const auto oldest = watch_.OldestUnfinished())
    report.set_oldest_unfinished_ms(static_cast<std::uint64_t>(oldest->count()));
  if (const auto proof = watch_.Proof()) report.set_proof_ms(static_cast<std::uint64_t>(proof->count()));
  if (watch_.limit() > Millis(0)) report.set_limit_ms(static_cast<std::uint64_t>(watch_.limit().count()));
}

// A failed proof file is not used again, because a second sync of the file would prove nothing (S6: failed sync ends
// the process).
void StorageHealth::Prove() {
  io::Directory* const directory = parts_.log_directory();
  if (directory == nullptr || proof_failed_) return;
  const auto written = [&]() -> Status {
    if (proof_ == nullptr) {
      RATCHET_ASSIGN(proof_, directory->Create(kProofFile));
    }
    RATCHET_TRY(proof_->Append("."));
    return proof_->Sync();
  }();
  if (written.ok()) return;
  proof_failed_ = written.error().code() != Code::kNoSpace;
  RATCHET_LOG(kWarn, "The storage could not be tested: {}", written.error().ToString());
}

}  // namespace ratchet::regionserver
