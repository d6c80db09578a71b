// WalStore: claims a root's store, and updates what the root keeps about it (root_guard.h).
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/store/epoch_claim.h"
#include "procedure/store/quarantine.h"
#include "procedure/store/root_guard.h"
#include "procedure/store/wal_store.h"
#include "procedure/store/wal_writer.h"

namespace ratchet::procedure {
namespace {

constexpr Millis kMarkEvery{60'000};

}  // namespace

Result<LoadedState> WalStore::Claim() {
  RATCHET_CHECK(state_ == State::kNew, "Claim twice");
  std::optional<StoreContents> early;
  if (RATCHET_MUTANT("store.read_before_claim")) {
    RATCHET_ASSIGN(early, ReadStore(*directory_, {}));
  }
  RATCHET_ASSIGN(epoch_, guard_ != nullptr ? guard_->Claim(*directory_) : ClaimNextEpoch(*directory_));
  RATCHET_ASSIGN(auto claim, directory_->OpenForRead(ClaimName(epoch_)));
  proof_ = std::make_unique<const io::StorageProof>(std::move(claim));
  RATCHET_TRY(HitFault("store.claimed"));
  // S1 (check after sync): older files are listed and read only now, when the claim is durable.
  ReadOptions read;
  read.below = epoch_;
  read.sync = true;
  StoreContents contents;
  if (early) {
    contents = std::move(*early);
  } else {
    RATCHET_ASSIGN(contents, ReadStore(*directory_, read));
  }
  if (!contents.damage.empty()) return ReportDamage(contents);
  if (guard_ != nullptr) RATCHET_TRY(guard_->CheckAge(contents.last_sequence, contents.max_pid));
  RATCHET_TRY(spares_->Adopt(epoch_));
  RATCHET_TRY(writer_->Seal(epoch_, contents));

  next_sequence_ = contents.last_sequence + 1;
  LoadedState loaded;
  loaded.epoch = epoch_;
  loaded.max_pid = contents.max_pid;
  if (guard_ != nullptr) {
    RATCHET_ASSIGN(loaded.max_pid, guard_->Begin(epoch_, contents.last_sequence, contents.max_pid));
    marked_ = clock_.Now();
    marked_sequence_ = contents.last_sequence;
  }
  loaded.last_sequence = contents.last_sequence;
  loaded.problems = std::move(contents.notes);
  loaded.records.reserve(contents.index.size());
  for (LoadedRecord& record : contents.records) {
    if (record.record.pid.valid()) loaded.records.push_back(std::move(record.record));
  }
  std::sort(loaded.records.begin(), loaded.records.end(),
            [](const ProcedureUpsert& a, const ProcedureUpsert& b) { return a.pid < b.pid; });
  for (auto& [key, record] : contents.system) loaded.system_records.emplace(key, std::move(record.value));
  state_ = State::kOwner;
  PublishCounters();
  if (options_.threads) {
    writer_thread_ = std::thread([this] { RunWriter(); });
    housekeeper_thread_ = std::thread([this] { RunHousekeeper(); });
  }
  return loaded;
}

Result<LoadedState> WalStore::ReportDamage(const StoreContents& contents) {
  std::string text = "the procedure store in " + directory_->path() + " is damaged";
  for (const StoreDamage& damage : contents.damage) {
    text += "; " + damage.ToString();
    if (quarantine_ == nullptr) continue;
    const auto there = directory_->Exists(damage.file);
    if (!there.ok() || !*there) continue;
    const auto copy = QuarantineCopy(*directory_, damage.file, *quarantine_);
    text += copy.ok() ? " (copy in " + *copy + ")" : " (no copy: " + copy.error().message() + ")";
  }
  text += ". Nothing was changed. Look with 'ratchet-wal verify', decide with 'ratchet-wal repair', then start again";
  return Error(Code::kCorruption, std::move(text));
}

// S117 (pid limit). Returns false if the limit cannot be raised now; the store then waits, as on a full disk.
bool WalStore::AllowPids() {
  if (guard_ == nullptr) return true;
  const Status allowed = guard_->AllowPid(group_pid_);
  if (!allowed.ok()) RATCHET_LOG(kWarn, "procedure store: {}", allowed.error().ToString());
  return allowed.ok();
}

// S114 (no start without the past): at each roll, and each minute in which something was written.
bool WalStore::MarkAge() {
  if (guard_ == nullptr) return false;
  const TimePoint now = clock_.Now();
  std::uint64_t sequence = 0;
  std::uint64_t rolls = 0;
  {
    MutexLock lock(mutex_);
    sequence = durable_sequence_;
    rolls = metrics_.rolls;
  }
  if (sequence <= marked_sequence_ || (rolls == marked_rolls_ && now - marked_ < kMarkEvery)) return false;
  marked_ = now;
  marked_rolls_ = rolls;
  const Status marked = guard_->Mark(sequence);
  if (marked.ok()) marked_sequence_ = sequence;
  if (!marked.ok()) RATCHET_LOG(kWarn, "procedure store: {}", marked.error().ToString());
  return false;
}

}  // namespace ratchet::procedure
