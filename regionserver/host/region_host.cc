#include "regionserver/host/region_host.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/light_directory.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "regionserver/host/orphan_edits.h"
#include "regionserver/host/timestamps_ahead.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kAskForSpaceAgain{200};

}  // namespace

RegionHost::RegionHost(io::Directory& root, Clock& clock, Lanes& lanes, HostOptions options,
                       std::function<void(int, const std::string&)> die)
    : root_(root), clock_(clock), lanes_(lanes), options_(options), settings_(options.region), die_(std::move(die)) {}

RegionHost::~RegionHost() = default;

Status RegionHost::UseLogDirectory(io::FencedDirectory& directory) {
  log_directory_ = &directory;
  RATCHET_ASSIGN(auto log, MakeLog("log"));
  MutexLock lock(mutex_);
  log_ = std::move(log);
  return Ok();
}

Result<std::unique_ptr<ServerLog>> RegionHost::MakeLog(const std::string& prefix) {
  ServerLogOptions options;
  options.prefix = prefix;
  options.roll_bytes = options_.log_roll_bytes;
  options.prepare_next = options_.prepare_next_log;
  options.fenced = [this](const Error& error) { die_(exit_code::kFenced, error.ToString()); };
  options.unsure = [this](const Error& error) { die_(exit_code::kOwnerUnknown, error.ToString()); };
  return ServerLog::Open(*log_directory_, std::move(options));
}

Status RegionHost::CheckFence() const {
  if (log_directory_ == nullptr) return Error(Code::kUnavailable, "the log directory does not exist yet");
  return log_directory_->Check();
}

Result<ServerLog*> RegionHost::LogFor(bool meta) {
  if (!meta) {
    MutexLock lock(mutex_);
    return log_.get();
  }
  MutexLock making(making_log_);
  {
    MutexLock lock(mutex_);
    if (meta_log_ != nullptr) return meta_log_.get();
  }
  // File work must not run under the mutex that heartbeats and reads take, because the storage may hang.
  RATCHET_ASSIGN(std::unique_ptr<ServerLog> made, MakeLog("meta"));
  MutexLock lock(mutex_);
  meta_log_ = std::move(made);
  return meta_log_.get();
}

Result<std::shared_ptr<Region>> RegionHost::Find(const std::string& encoded_name) const {
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  if (found != open_.end()) return found->second;
  if (opening_.contains(encoded_name)) {
    return rpc::RemoteError(rpc::exception::kRegionOpening, fmt::format("region {} is opening here", encoded_name));
  }
  if (const auto moved = moved_.Find(encoded_name, clock_.Now()))
    return rpc::RegionMovedError(moved->destination, moved->sequence);
  return rpc::RemoteError(rpc::exception::kNotServingRegion, fmt::format("region {} is not open here", encoded_name));
}

std::vector<std::shared_ptr<Region>> RegionHost::All() const {
  std::vector<std::shared_ptr<Region>> all;
  MutexLock lock(mutex_);
  all.reserve(open_.size());
  for (const auto& [name, region] : open_) all.push_back(region);
  return all;
}

OpenChanges RegionHost::DrainChanges() {
  std::map<std::string, std::shared_ptr<Region>> changed;
  {
    MutexLock lock(mutex_);
    changed.swap(changed_);
  }
  OpenChanges changes;
  for (auto& [name, region] : changed) {
    if (region == nullptr) {
      changes.closed.push_back(name);
    } else {
      changes.opened.push_back(std::move(region));
    }
  }
  return changes;
}

OrderAnswer RegionHost::Open(const OpenOrder& order) {
  auto region = OpenRegion(order);
  if (!region.ok()) {
    RATCHET_LOG(kWarn, "pid={} Open failed; region={}, opening={}: {}", order.pid, order.encoded_name,
                order.open_number, region.error().ToString());
    OrderAnswer refusal = FailedAnswer(OrderOutcome::kFailedOpen, region.error());
    // S118 (older copy stays closed): other members of the cluster read these error classes; clients do not get them.
    if (region.error().code() == Code::kWentBack) refusal.error_class = region.error().remote_class();
    return refusal;
  }
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kOpened;
  answer.open_sequence = (*region)->first_sequence();
  answer.open_number = (*region)->GetStatus().open_number;
  answer.schema_number =
      (*region)->schema_number();  // number of the existing opening, which may be that of another order
  return answer;
}

// The callbacks share what they know of the region, because a server may have very many regions.
void RegionHost::SetCallbacks(const OpenOrder& order, OpenParams& params) {
  struct Where {
    std::string region;
    std::string table_dir;
    std::string table;
    std::uint64_t number;
  };
  const auto opening = std::make_shared<const Where>(
      Where{order.encoded_name, order.table_dir, params.info.table.ToString(), order.open_number});
  params.wants_flush = [this, opening] { FlushSoon(opening->region); };
  params.lost = [this, opening](const Error& error) {
    RATCHET_LOG(kWarn, "Region {} is lost, opening {}: {}", opening->region, opening->number, error.ToString());
    Drop(opening->region, opening->number);
  };
  params.refused = [this, opening](const Error& error) { unserved_.Note(opening->region, error, clock_.Now()); };
  if (!options_.damaged) return;
  params.damaged = [this, opening](const std::string& file, const Error& error) {
    options_.damaged({fmt::format("data/{}/{}/{}", opening->table_dir, opening->region, file), opening->region,
                      opening->table, error});
  };
}

Result<std::shared_ptr<Region>> RegionHost::OpenRegion(const OpenOrder& order) {
  RATCHET_TRY(HitFault("regionserver.before_open", order.encoded_name));
  if (EndIfGivenUp(order.encoded_name, "open")) return Error(Code::kAborted, "this server ends");
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(order.encoded_name);
    // S20 (answers are repeated): the region is open already, so report it as opened
    if (found != open_.end()) return found->second;
    opening_.insert(order.encoded_name);
    moved_.Forget(order.encoded_name);
  }
  const TimePoint begun = clock_.Now();
  auto opened = [&]() -> Result<std::shared_ptr<Region>> {
    RATCHET_TRY(CheckNextDescriptor("another region"));
    OpenParams params;
    RATCHET_ASSIGN(params.info, FromProto(order.region));
    RATCHET_ASSIGN(TableDescriptor table, FromProto(order.schema));
    params.table = tables_.Share(std::move(table));
    params.open_number = order.open_number;
    params.past = {order.opened_before, order.build_number, order.issued, order.served, order.flushed};
    params.schema_number = order.schema_number;
    RATCHET_ASSIGN(params.directory, RegionDirectory(order.table_dir, order.encoded_name));
    const auto taken = AdoptKeptEdits(root_, order.encoded_name, *params.directory);
    if (!taken.ok()) return taken.error();
    RATCHET_ASSIGN(params.log, LogFor(params.info.IsMeta()));
    params.log_owner = log_directory_ == nullptr ? "" : log_directory_->name();
    params.clock = &clock_;
    params.settings = settings_;
    SetCallbacks(order, params);
    params.unsure = [this](const Error& error) { die_(exit_code::kOwnerUnknown, error.ToString()); };
    return Region::Open(std::move(params));
  }();
  {
    MutexLock lock(mutex_);
    opening_.erase(order.encoded_name);
    if (opened.ok()) open_[order.encoded_name] = changed_[order.encoded_name] = *opened;
  }
  if (!opened.ok()) return opened;
  RATCHET_LOG(kInfo, "pid={} Opened region {}, opening={}, first sequence={}, in {} ms", order.pid, order.encoded_name,
              order.open_number, (*opened)->first_sequence(),
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count());
  if (const std::int64_t ahead = AheadOfClock(**opened, clock_); ahead > 0) {
    RATCHET_LOG(kWarn,
                "Region {}: its newest timestamp is {} ms ahead of this server's clock; what is written before that "
                "time gets that "
                "timestamp (S27)",
                order.encoded_name, ahead);
  }
  IgnoreResult(HitFault("regionserver.after_open", order.encoded_name),
               "the region is open, so a fault here has no effect");
  // Replaying recovered edits made a file. A region would get one with each crash, and every read would have to look
  // into all of them (hbase:meta once took seconds to load).
  CompactSoon(order.encoded_name, false);
  return opened;
}

Result<std::unique_ptr<io::Directory>> RegionHost::RegionDirectory(const std::string& table_dir,
                                                                   const std::string& encoded_name) const {
  std::string_view rest = table_dir;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    if (!IsDirectoryName(part)) {
      return Error(Code::kInvalidArgument, fmt::format("'{}' is not a table's directory", table_dir));
    }
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  // Opens a light handle, because this server may have very many regions.
  return io::OpenLightDirectory(root_, fmt::format("data/{}/{}", table_dir, encoded_name));
}

void RegionHost::Drop(const std::string& encoded_name, std::uint64_t open_number) {
  std::shared_ptr<Region> dropped;  // released outside the mutex
  if (options_.closed) options_.closed(encoded_name);
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  if (found == open_.end() || found->second->GetStatus().open_number != open_number) return;
  dropped = std::move(found->second);
  open_.erase(found);
  changed_[encoded_name] = nullptr;
  given_up_.insert(encoded_name);
}

// No opening has the entries that were only in this server's log when the region was dropped. An order for the region
// shows that the master expects it here. Only the end of this process has the log split, so it must end.
bool RegionHost::EndIfGivenUp(const std::string& encoded_name, const char* order) {
  {
    MutexLock lock(mutex_);
    if (!given_up_.contains(encoded_name) || RATCHET_MUTANT("host.closed_without_close")) return false;
  }
  die_(exit_code::kOwnerUnknown,
       fmt::format("an order to {} region {}, which was open here and was lost without a close: "
                   "this server's log must be split first",
                   order, encoded_name));
  return true;
}

// The rest of a close needs space for unflushed data. If the process ended, its log would be split, which needs space
// too. So the close waits, and the region serves reads meanwhile.
Status RegionHost::CloseOrWait(Region& region, ProcId pid) {
  for (bool told = false;; told = true) {
    const Status closed = region.Close();
    if (closed.ok() || closed.error().code() != Code::kNoSpace) return closed;
    if (!told)
      RATCHET_LOG(kWarn, "pid={} Close of region {} waits for space: {}", pid, region.encoded_name(),
                  closed.error().ToString());
    MutexLock lock(mutex_);
    if (!stopping_) stop_changed_.WaitFor(mutex_, kAskForSpaceAgain);
    if (stopping_) return closed;
  }
}

void RegionHost::StopWaiting() {
  MutexLock lock(mutex_);
  stopping_ = true;
  stop_changed_.NotifyAll();
}

std::optional<OrderAnswer> RegionHost::Close(const CloseOrder& order) {
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kClosed;
  IgnoreResult(HitFault("regionserver.before_close", order.encoded_name), "the close is retried");
  std::shared_ptr<Region> region;
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(order.encoded_name);
    if (found != open_.end()) region = found->second;
  }
  if (region == nullptr) {
    if (EndIfGivenUp(order.encoded_name, "close")) return std::nullopt;
    RATCHET_LOG(kInfo, "pid={} Close of region {}: not open here", order.pid, order.encoded_name);
    MutexLock lock(mutex_);
    if (!order.destination.has_value()) moved_.Forget(order.encoded_name);
    return answer;  // S20: the region is not open here, so report it as closed
  }
  const TimePoint begun = clock_.Now();
  if (const Status closed = CloseOrWait(*region, order.pid); !closed.ok()) {
    // S51 (CLOSED means closed cleanly): the next opening must get the rows that are only in this server's log, even if
    // a higher opening has the region already. That takes a crash procedure, so this server ends and its log is split.
    RATCHET_LOG(kError, "pid={} Close of region {} failed: {}", order.pid, order.encoded_name,
                closed.error().ToString());
    const bool fenced = !CheckFence().ok();
    const bool taken = closed.error().code() == Code::kFenced;
    if (!(taken && !fenced && RATCHET_MUTANT("host.closed_without_close"))) {
      die_(fenced ? exit_code::kFenced : exit_code::kOwnerUnknown,
           fmt::format("region {} cannot be closed: {}", order.encoded_name, closed.error().ToString()));
      return std::nullopt;
    }
  }
  const RegionStatus closed = region->GetStatus();
  const std::uint64_t sequence = closed.read_point;
  answer.flushed = closed.flushed_sequence;
  if (region->MayHaveLogged() && !region->info().IsMeta()) MarkFlushed(order.encoded_name, sequence);
  {
    MutexLock lock(mutex_);
    open_.erase(order.encoded_name);
    changed_[order.encoded_name] = nullptr;
    NoteWhereItWent(order, sequence);
  }
  if (options_.closed) options_.closed(order.encoded_name);
  RATCHET_LOG(kInfo, "pid={} Closed region {} in {} ms", order.pid, order.encoded_name,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count());
  IgnoreResult(HitFault("regionserver.after_close", order.encoded_name),
               "the region is closed, so a fault here has no effect");
  return answer;
}

// Does not sync: if a crash removes the mark, that costs space in quarantine, but no data.
void RegionHost::MarkFlushed(const std::string& encoded_name, std::uint64_t sequence) {
  const std::vector<ServerLog::FileInfo> files = LogFileList();
  if (files.empty() || log_directory_ == nullptr) return;
  const std::string mark = FlushedMark(encoded_name, sequence);
  const auto made = log_directory_->directory().Create(mark);
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) {
    RATCHET_LOG(kWarn, "region {}: cannot mark its close in the log directory: {}", encoded_name,
                made.error().ToString());
    return;
  }
  std::string previous;
  {
    const MutexLock lock(mutex_);
    FlushedRegion& flushed = flushed_[encoded_name];
    previous = std::exchange(flushed.mark, mark);
    flushed.log = files.back().number;
  }
  if (!previous.empty() && previous != mark)
    IgnoreResult(log_directory_->directory().Unlink(previous), "the mark with the higher sequence counts");
}

void RegionHost::RemoveFlushedMarks(std::uint64_t first_log) {
  std::vector<std::string> marks;
  {
    const MutexLock lock(mutex_);
    std::erase_if(flushed_, [&](const auto& entry) {
      const bool gone = entry.second.log < first_log;
      if (gone) marks.push_back(entry.second.mark);
      return gone;
    });
  }
  for (const std::string& mark : marks)
    IgnoreResult(log_directory_->directory().Unlink(mark), "its logs are covered, so nothing reads it");
}

// Only a move leaves a hint, because after every other close the region may never be open again.
void RegionHost::NoteWhereItWent(const CloseOrder& order, std::uint64_t sequence) {
  if (order.destination.has_value())
    moved_.Remember(order.encoded_name, {*order.destination, sequence}, clock_.Now());
  else
    moved_.Forget(order.encoded_name);
}

}  // namespace ratchet::regionserver
