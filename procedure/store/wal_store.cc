#include "procedure/store/wal_store.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"
#include "procedure/store/claim.h"
#include "procedure/store/reader.h"
#include "procedure/store/wal_writer.h"

namespace ratchet::procedure {

namespace {

constexpr Millis kRetryWhenFull{100};
constexpr Millis kChoresEvery{1'000};

WalWriter::Options WriterOptions(const WalStoreOptions& options) {
  return {options.segment_bytes, options.segment_age, options.max_segments, options.max_frame_bytes / 4, options.owner};
}

Error Stopped() { return {Code::kAborted, "the procedure store was stopped"}; }

}  // namespace

WalStore::WalStore(std::unique_ptr<io::Directory> directory, std::unique_ptr<io::Directory> quarantine,
                   const Clock& clock, WalStoreOptions options, std::shared_ptr<RootGuard> guard)
    : directory_(std::move(directory)),
      quarantine_(std::move(quarantine)),
      clock_(clock),
      options_(std::move(options)),
      guard_(std::move(guard)),
      // A spare must have room for a full segment and one more frame, because a claimer copies that much, S8 (act only
      // on durable records).
      spares_(std::make_unique<SpareSegments>(
          *directory_, SpareSegments::Options{options_.segment_bytes + 2 * options_.max_frame_bytes, options_.spares})),
      writer_(std::make_unique<WalWriter>(*directory_, clock_, *spares_, WriterOptions(options_),
                                          [this] { return CheckOwner(); })) {}

WalStore::~WalStore() { Stop(); }

void WalStore::Commit(StoreBatch batch, CommitDone done) {
  if (Enqueue(batch, done)) return;
  if (state_ != State::kDead && done) done(Stopped());
}

bool WalStore::AnnounceGroups(std::function<void()> ended) {
  group_ended_ = std::move(ended);
  return true;
}

Result<std::uint64_t> WalStore::CommitAndWait(StoreBatch batch) {
  CommitWait wait;
  CommitDone done = [&wait](Result<std::uint64_t> outcome) { wait.Complete(std::move(outcome)); };
  const auto turn = Enqueue(batch, done);
  if (!turn) return Stopped();
  return waits_.Await(*turn, wait);
}

// Returns the turn of the commit; nullopt: the store accepts no more commits.
std::optional<std::uint64_t> WalStore::Enqueue(StoreBatch& batch, CommitDone& done) {
  MutexLock lock(mutex_);
  if (closed_) return std::nullopt;
  // Numbered under the lock, so that sequences rise in the order of the queue.
  queue_.push_back({std::move(batch), std::move(done), NextSequence(), std::nullopt});
  ++metrics_.in_flight;
  if (writer_waits_) work_.NotifyOne();
  return turn_;
}

// S2 (check is positive), S9' (claim in root and store).
Status WalStore::CheckOwner() { return guard_ != nullptr ? guard_->Check(epoch_) : CheckEpoch(*directory_, epoch_); }

Status WalStore::Check() {
  const State state = state_;
  if (state == State::kOwner) {
    RATCHET_TRY(CheckOwner());
    // S101 (cached names need a proof): the look-up of the next claim has a negative answer, which a cache keeps as
    // well.
    return proof_->AfterLook();
  }
  return Error(Code::kFenced, state == State::kFenced ? "deposed as owner of the procedure store"
                                                      : "not the owner of the procedure store");
}

Status WalStore::Admit() {
  if (!spares_->low_on_space()) return Ok();
  return Error(Code::kNoSpace,
               "the disk of the procedure store is nearly full: new procedures are refused until there is space again");
}

void WalStore::Stop() {
  const bool first = !stop_.exchange(true);
  if (!first) return;
  {
    MutexLock lock(mutex_);
    work_.NotifyAll();
    chores_.NotifyAll();
  }
  if (housekeeper_thread_.joinable()) housekeeper_thread_.join();
  if (writer_thread_.joinable()) {
    writer_thread_.join();
  } else {
    while (state_ == State::kOwner && StepOnce()) {
    }
  }
  State owner = State::kOwner;
  if (state_.compare_exchange_strong(owner, State::kStopped)) writer_->Close();
  FailBacklog();
}

StoreMetrics WalStore::metrics() const {
  MutexLock lock(mutex_);
  return metrics_;
}

bool WalStore::StepOnce() {
  const State state = state_;
  if (state == State::kDead || state == State::kNew || state == State::kStopped) return false;
  const std::size_t count = DequeueGroup();
  if (state == State::kFenced) {
    if (count == 0) return false;
    Complete(count, &writer_->fence_reason());
    return true;
  }
  if (count == 0 && !writer_->HasOwnWork()) return false;
  if (!AllowPids()) return false;
  const auto outcome = writer_->Write(std::span(backlog_).subspan(backlog_done_, count));
  if (outcome == WalWriter::Outcome::kNoSpace) return false;
  if (outcome == WalWriter::Outcome::kDead) {
    state_ = State::kDead;
    return false;
  }
  if (outcome == WalWriter::Outcome::kFenced) {
    RATCHET_LOG(kWarn, "procedure store: {}", writer_->fence_reason().ToString());
    state_ = State::kFenced;
  }
  PublishCounters();
  Complete(count, outcome == WalWriter::Outcome::kFenced ? &writer_->fence_reason() : nullptr);
  return true;
}

// Moves the queue into the backlog and returns how much of it makes the next frame.
std::size_t WalStore::DequeueGroup() {
  if (backlog_done_ == backlog_.size()) {
    backlog_.clear();
    backlog_done_ = 0;
    MutexLock lock(mutex_);
    backlog_.swap(queue_);
    backlog_turn_ = turn_++;
    if (rewritten_) {
      writer_->AddStragglers(std::move(*rewritten_));
      rewritten_.reset();
    }
  }
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  group_pid_ = ProcId();
  while (backlog_done_ + count < backlog_.size() && bytes < options_.max_frame_bytes) {
    for (const ProcedureUpsert& upsert : backlog_[backlog_done_ + count].batch.upserts) {
      bytes += upsert.bytes.size() + 32;
      group_pid_ = std::max(group_pid_, upsert.pid);
    }
    ++count;
  }
  return count;
}

// In the order of the Commit calls.
void WalStore::Complete(std::size_t count, const Error* failure) {
  for (std::size_t i = 0; i < count; ++i) {
    PendingCommit commit = std::move(backlog_[backlog_done_++]);
    if (!commit.done) continue;
    if (failure != nullptr) {
      commit.done(*failure);
    } else if (commit.refused) {
      commit.done(std::move(*commit.refused));
    } else {
      commit.done(commit.sequence);
    }
  }
  if (count > 0 && group_ended_) group_ended_();
  waits_.Wake(backlog_turn_);
}

// After a failed sync no waiter is notified (S6: failed sync ends the process).
void WalStore::FailBacklog() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (PendingCommit& commit : queue_) backlog_.push_back(std::move(commit));
    queue_.clear();
    metrics_.in_flight = 0;
  }
  while (backlog_done_ < backlog_.size()) {
    PendingCommit commit = std::move(backlog_[backlog_done_++]);
    if (commit.done && state_ != State::kDead) commit.done(Stopped());
  }
}

void WalStore::PublishCounters() {
  const StoreMetrics& now = writer_->counters();
  auto request = writer_->ConsumeRewriteRequest();
  MutexLock lock(mutex_);
  metrics_.batches = now.batches;
  metrics_.records = now.records;
  metrics_.syncs = now.syncs;
  metrics_.bytes_written = now.bytes_written;
  metrics_.rewritten_records = now.rewritten_records;
  metrics_.rolls = now.rolls;
  metrics_.segments = writer_->tracker().segment_count();
  metrics_.live_records = writer_->tracker().live_count();
  metrics_.in_flight = queue_.size() + backlog_.size() - backlog_done_;
  const bool chores = request.has_value() || remove_below_ < writer_->durable_low_water() ||
                      (options_.spares > 0 && spares_->available() < options_.spares);
  if (request) rewrite_ = std::make_unique<RewriteRequest>(std::move(*request));
  remove_below_ = writer_->durable_low_water();
  durable_sequence_ = writer_->checked_sequence();
  if (chores) chores_.NotifyOne();
}

void WalStore::RunWriter() {
  SetThreadName("store-writer");
  while (WaitForWork()) {
    if (StepOnce()) continue;
    if (stop_) return;       // the rest cannot be written; Stop fails it
    MutexLock lock(mutex_);  // no space: commits wait until there is some again
    work_.WaitFor(mutex_, kRetryWhenFull);
  }
}

// Returns false if the store was stopped and nothing is left to write.
bool WalStore::WaitForWork() {
  const bool left = backlog_done_ < backlog_.size() || (state_ == State::kOwner && writer_->HasOwnWork());
  MutexLock lock(mutex_);
  if (state_ == State::kDead) return false;
  while (queue_.empty() && !left && !rewritten_) {
    if (stop_) return false;
    writer_waits_ = true;
    work_.Wait(mutex_);
    writer_waits_ = false;
  }
  return !(stop_ && state_ != State::kOwner);
}

void WalStore::RunHousekeeper() {
  SetThreadName("store-chores");
  AwaitFirstChores();
  while (!stop_) {
    if (StepHousekeeping()) continue;
    MutexLock lock(mutex_);
    if (!stop_) chores_.WaitFor(mutex_, kChoresEvery);
  }
}

// A new owner continues unfinished procedures first: their commits do not wait for the disk that fills a spare segment.
void WalStore::AwaitFirstChores() {
  const SystemClock clock;
  const TimePoint begin = clock.Now() + kChoresEvery;
  MutexLock lock(mutex_);
  while (!stop_ && clock.Now() < begin) chores_.WaitFor(mutex_, begin - clock.Now());
}

bool WalStore::StepHousekeeping() {
  if (state_ != State::kOwner) return false;
  SegmentId remove_below;
  std::unique_ptr<RewriteRequest> rewrite;
  {
    MutexLock lock(mutex_);
    remove_below = remove_below_;
    // One task at a time. The writer requests the rewrite of a segment's stragglers once, so the request must be kept.
    if (removed_below_ >= remove_below) rewrite.swap(rewrite_);
  }
  if (removed_below_ < remove_below) {
    RemoveDeadSegments(remove_below);
    removed_below_ = remove_below;
    return true;
  }
  // A segment that has become dead since the request is gone, and its request with it.
  if (rewrite && rewrite->id >= remove_below && ReadForRewriting(std::move(rewrite))) return true;
  auto refilled = spares_->Refill(stop_);
  if (refilled.ok() && *refilled) return true;
  return MarkAge();
}

// Returns false if the segment cannot be read now. The writer asks once for each segment, so the request stays until it
// is answered. No data is lost in the meantime; there are only more segments than there should be. Damage stops the
// start when the store is claimed next.
bool WalStore::ReadForRewriting(std::unique_ptr<RewriteRequest> request) {
  auto stragglers = ReadStragglers(*directory_, *request);
  if (!stragglers.ok() && rewrite_trouble_ != request->id) {
    rewrite_trouble_ = request->id;
    RATCHET_LOG(kError, "procedure store: cannot rewrite stragglers, trying again: {}", stragglers.error().ToString());
  }
  MutexLock lock(mutex_);
  if (!stragglers.ok()) {
    if (!rewrite_) rewrite_ = std::move(request);
    return false;
  }
  rewritten_ = std::move(stragglers).value();
  if (writer_waits_) work_.NotifyOne();
  return true;
}

// S10 (low-water record before removal): oldest first, and only below a low-water mark that is durable and checked.
// Safe from a deposed owner: its mark predates the claim. Unfinished files of earlier owners are removed too.
void WalStore::RemoveDeadSegments(SegmentId low_water) {
  const auto names = directory_->List();
  if (!names.ok()) return;
  std::vector<std::pair<SegmentId, std::string>> dead;
  for (const std::string& name : *names) {
    const auto segment = ParseNumberedName(kSegmentPrefix, name);
    if (segment && *segment < low_water) dead.emplace_back(*segment, name);
    const auto filling = ParseNumberedName(kFillingPrefix, name);
    if (filling && filling->epoch < epoch_) dead.emplace_back(*filling, name);
  }
  std::sort(dead.begin(), dead.end());
  for (const auto& entry : dead) {
    const Status removed = directory_->Unlink(entry.second);
    if (!removed.ok()) RATCHET_LOG(kWarn, "procedure store: {}", removed.error().ToString());
  }
}

std::unique_ptr<ProcedureStore> MakeWalStore(std::unique_ptr<io::Directory> directory,
                                             std::unique_ptr<io::Directory> quarantine, const Clock& clock,
                                             WalStoreOptions options, std::shared_ptr<RootGuard> guard) {
  return std::make_unique<WalStore>(std::move(directory), std::move(quarantine), clock, std::move(options),
                                    std::move(guard));
}

// WalStore: claims a root's store, and updates what the root keeps about it (claim.h).

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
