#include "regionserver/host/order_handlers.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/light_directory.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "regionserver/host/orphan_edits.h"
#include "regionserver/host/region_directories.h"
#include "regionserver/host/region_report.h"
#include "regionserver/host/split_log.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kAskForSpaceAgain{200};

OrderAnswer Done(std::string payload = {}) {
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  answer.payload = std::move(payload);
  return answer;
}

}  // namespace

// An opening whose syncs are shared with others.
class OrderHandlers::Job final : public OpenJob {
 public:
  Job(OrderHandlers& handlers, std::shared_ptr<const OpenOrder> order, std::function<void(OrderAnswer)> done)
      : handlers_(handlers), done_(std::move(done)) {
    opening_.order = std::move(order);
  }

  bool Run(Step step) override {
    const Status made = step == Step::kClaim ? handlers_.BeginOpen(opening_) : opening_.steps->TakeOver();
    if (made.ok() && opening_.already == nullptr) return true;
    End(made);
    return false;
  }
  Status Sync(Step step) override {
    return step == Step::kClaim ? opening_.steps->SyncClaim() : opening_.steps->SyncRecord();
  }
  void NoteDurable(Step step) override {
    return step == Step::kClaim ? opening_.steps->NoteClaimDurable() : opening_.steps->NoteRecordDurable();
  }
  io::Directory& directory() override { return opening_.steps->directory(); }
  io::WritableFile* file(Step step) override { return step == Step::kClaim ? nullptr : &opening_.steps->file(); }
  void Finish() override { End(Ok()); }
  void Fail(const Error& error) override { End(error); }

 private:
  void End(const Status& so_far) { done_(handlers_.EndOpen(opening_, so_far)); }

  OrderHandlers& handlers_;
  const std::function<void(OrderAnswer)> done_;
  OpenInProgress opening_;
};

void OrderHandlers::OpenWithOthers(std::shared_ptr<const OpenOrder> order, std::function<void(OrderAnswer)> done) {
  opener_.Add(std::make_shared<Job>(*this, std::move(order), std::move(done)));
}

OrderAnswer OrderHandlers::Open(const OpenOrder& order) {
  OpenInProgress opening;
  opening.order = {std::shared_ptr<void>(), &order};  // it outlives this call
  Status made = BeginOpen(opening);
  if (made.ok() && opening.already == nullptr) made = opening.steps->TakeOverAlone();
  return EndOpen(opening, made);
}

OrderAnswer OrderHandlers::EndOpen(OpenInProgress& opening, const Status& so_far) {
  const OpenOrder& order = *opening.order;
  const auto region = Finish(opening, so_far);
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
void OrderHandlers::SetCallbacks(const OpenOrder& order, OpenParams& params) {
  struct Where {
    std::string region;
    std::string table_dir;
    std::string table;
    std::uint64_t number;
  };
  const auto opening = std::make_shared<const Where>(
      Where{order.encoded_name, order.table_dir, params.info.table.ToString(), order.open_number});
  params.wants_flush = [this, opening] { flusher_.Soon(opening->region); };
  params.lost = [this, opening](const Error& error) {
    RATCHET_LOG(kWarn, "Region {} is lost, opening {}: {}", opening->region, opening->number, error.ToString());
    Drop(opening->region, opening->number);
  };
  params.unsure = [this](const Error& error) { die_(exit_code::kOwnerUnknown, error.ToString()); };
  params.refused = [this, opening](const Error& error) { unserved_.Note(opening->region, error, clock_.Now()); };
  if (!options_.damaged) return;
  params.damaged = [this, opening](const std::string& file, const Error& error) {
    options_.damaged({fmt::format("data/{}/{}/{}", opening->table_dir, opening->region, file), opening->region,
                      opening->table, error});
  };
}

Result<OpenParams> OrderHandlers::ParamsOf(const OpenOrder& order) {
  RATCHET_TRY(CheckNextDescriptor("another region"));
  OpenParams params;
  RATCHET_ASSIGN(params.info, FromProto(order.region));
  RATCHET_ASSIGN(TableDescriptor table, FromProto(order.schema));
  params.table = tables_.Share(std::move(table));
  params.open_number = order.open_number;
  params.past = {order.opened_before, order.build_number, order.issued, order.served, order.flushed};
  params.schema_number = order.schema_number;
  RATCHET_ASSIGN(params.directory, OpenRegionDirectory(root_, order.table_dir, order.encoded_name));
  const auto taken = AdoptKeptEdits(root_, order.encoded_name, *params.directory);
  if (!taken.ok()) return taken.error();
  RATCHET_ASSIGN(params.log, wals_.LogFor(params.info.IsMeta()));
  params.log_owner = wals_.directory_name();
  params.clock = &clock_;
  params.settings = options_.region;
  SetCallbacks(order, params);
  return params;
}

Status OrderHandlers::BeginOpen(OpenInProgress& opening) {
  const OpenOrder& order = *opening.order;
  RATCHET_TRY(HitFault("regionserver.before_open", order.encoded_name));
  if (EndIfGivenUp(order.encoded_name, "open")) return Error(Code::kAborted, "this server ends");
  // S20 (answers are repeated): the region is open already, so report it as opened
  opening.already = regions_.BeginOpening(order.encoded_name);
  if (opening.already != nullptr) return Ok();
  opening.begun = true;
  opening.begun_at = clock_.Now();
  RATCHET_ASSIGN(OpenParams params, ParamsOf(order));
  opening.steps = std::make_unique<OpenSteps>(std::move(params));
  return opening.steps->Claim();
}

Result<std::shared_ptr<Region>> OrderHandlers::Finish(OpenInProgress& opening, const Status& so_far) {
  const OpenOrder& order = *opening.order;
  if (opening.already != nullptr) return opening.already;
  Result<std::shared_ptr<Region>> opened =
      so_far.ok() ? opening.steps->Finish() : Result<std::shared_ptr<Region>>(so_far.error());
  opening.steps.reset();
  if (opening.begun) regions_.EndOpening(order.encoded_name, opened.ok() ? *opened : nullptr);
  if (!opened.ok()) return opened;
  RATCHET_LOG(kInfo, "pid={} Opened region {}, opening={}, first sequence={}, in {} ms", order.pid, order.encoded_name,
              order.open_number, (*opened)->first_sequence(),
              std::chrono::duration_cast<Millis>(clock_.Now() - opening.begun_at).count());
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
  compactor_.Soon(order.encoded_name, false);
  return opened;
}

void OrderHandlers::Drop(const std::string& encoded_name, std::uint64_t open_number) {
  if (options_.closed) options_.closed(encoded_name);
  regions_.Drop(encoded_name, open_number);
}

// No opening has the entries that were only in this server's log when the region was dropped. An order for the region
// shows that the master expects it here. Only the end of this process has the log split, so it must end.
bool OrderHandlers::EndIfGivenUp(const std::string& encoded_name, const char* order) {
  if (!regions_.IsGivenUp(encoded_name) || RATCHET_MUTANT("host.closed_without_close")) return false;
  die_(exit_code::kOwnerUnknown,
       fmt::format("an order to {} region {}, which was open here and was lost without a close: "
                   "this server's log must be split first",
                   order, encoded_name));
  return true;
}

// The rest of a close needs space for unflushed data. If the process ended, its log would be split, which needs space
// too. So the close waits, and the region serves reads meanwhile.
Status OrderHandlers::CloseOrWait(Region& region, ProcId pid) {
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

void OrderHandlers::StopWaiting() {
  MutexLock lock(mutex_);
  stopping_ = true;
  stop_changed_.NotifyAll();
}

std::optional<OrderAnswer> OrderHandlers::Close(const CloseOrder& order) {
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kClosed;
  IgnoreResult(HitFault("regionserver.before_close", order.encoded_name), "the close is retried");
  const std::shared_ptr<Region> region = regions_.Get(order.encoded_name);
  if (region == nullptr) {
    if (EndIfGivenUp(order.encoded_name, "close")) return std::nullopt;
    RATCHET_LOG(kInfo, "pid={} Close of region {}: not open here", order.pid, order.encoded_name);
    if (!order.destination.has_value()) regions_.ForgetMove(order.encoded_name);
    return answer;  // S20: the region is not open here, so report it as closed
  }
  const TimePoint begun = clock_.Now();
  if (const Status closed = CloseOrWait(*region, order.pid); !closed.ok()) {
    // S51 (CLOSED means closed cleanly): the next opening must get the rows that are only in this server's log, even if
    // a higher opening has the region already. That takes a crash procedure, so this server ends and its log is split.
    RATCHET_LOG(kError, "pid={} Close of region {} failed: {}", order.pid, order.encoded_name,
                closed.error().ToString());
    const bool fenced = !wals_.CheckFence().ok();
    const bool taken = closed.error().code() == Code::kFenced;
    if (!taken || fenced || !RATCHET_MUTANT("host.closed_without_close")) {
      die_(fenced ? exit_code::kFenced : exit_code::kOwnerUnknown,
           fmt::format("region {} cannot be closed: {}", order.encoded_name, closed.error().ToString()));
      return std::nullopt;
    }
  }
  const RegionStatus closed = region->GetStatus();
  const std::uint64_t sequence = closed.read_point;
  answer.flushed = closed.flushed_sequence;
  if (region->MayHaveLogged() && !region->info().IsMeta()) wals_.MarkFlushed(order.encoded_name, sequence);
  regions_.Close(order.encoded_name, order.destination, sequence);
  if (options_.closed) options_.closed(order.encoded_name);
  RATCHET_LOG(kInfo, "pid={} Closed region {} in {} ms", order.pid, order.encoded_name,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count());
  IgnoreResult(HitFault("regionserver.after_close", order.encoded_name),
               "the region is closed, so a fault here has no effect");
  return answer;
}

OrderAnswer OrderHandlers::RefreshPeers(const RefreshPeersOrder& order) {
  if (!take_peers_)
    return FailedAnswer(OrderOutcome::kFailed, Error(Code::kUnavailable, "this server does not ship to peers"));
  take_peers_(order.list);
  return Done();
}

OrderAnswer OrderHandlers::TakeRights(const TakeRightsOrder& order) {
  if (!take_rights_)
    return FailedAnswer(OrderOutcome::kFailed, Error(Code::kUnavailable, "this server takes no rights"));
  take_rights_(order.image);
  return Done();
}

// A region that is not open here was flushed by its close, or will be by its next opening.
OrderAnswer OrderHandlers::Flush(const FlushOrder& order) {
  const auto region = regions_.Find(order.encoded_name);
  if (!region.ok()) return FailedAnswer(OrderOutcome::kFailed, region.error());
  if (const Status flushed = (*region)->Flush(); !flushed.ok()) {
    return FailedAnswer(OrderOutcome::kFailed, flushed.error());
  }
  pb::FlushRegionResult result;
  if (const std::string row = (*region)->SplitRow(); !row.empty()) result.set_split_row(row);
  return Done(result.SerializeAsString());
}

OrderAnswer OrderHandlers::Compact(const CompactOrder& order) {
  const auto region = regions_.Find(order.encoded_name);
  if (!region.ok()) return FailedAnswer(OrderOutcome::kFailed, region.error());
  const Status compacted = compactor_.Compact(**region, order.major);
  return compacted.ok() ? Done() : FailedAnswer(OrderOutcome::kFailed, compacted.error());
}

OrderAnswer OrderHandlers::SplitLog(const SplitLogOrder& order) {
  const TimePoint begun = clock_.Now();
  auto report = RunSplit(root_, order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Split of {} failed: {}", order.pid, order.parameter.wal_path(),
                report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Split {} in {} ms: {}", order.pid, order.parameter.wal_path(),
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(), *report);
  IgnoreResult(HitFault("regionserver.after_split", order.parameter.wal_path()),
               "the log is split, so a fault here has no effect");
  return Done(*std::move(report));
}

OrderAnswer OrderHandlers::Build(const BuildOrder& order) {
  const TimePoint begun = clock_.Now();
  const Result<BuildReport> report = RunBuild(order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Build of regions failed: {}", order.pid, report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Built {} regions of {}, files={}, sequence={}, in {} ms{}", order.pid,
              order.parameter.child_size(), order.parameter.parent_size(), report->files, report->sequence,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(),
              report->not_clean.empty() ? "" : ": none, as " + report->not_clean);
  pb::BuildRegionsResult result;
  if (!report->not_clean.empty()) result.set_not_clean(report->not_clean);
  result.set_sequence(report->sequence);
  return Done(result.SerializeAsString());
}

Result<BuildReport> OrderHandlers::RunBuild(const BuildOrder& order) const {
  std::vector<std::unique_ptr<io::Directory>> open;
  const auto parts = [&](const auto& regions) -> Result<std::vector<BuildPart>> {
    std::vector<BuildPart> made;
    for (const pb::RegionInfo& region : regions) {
      BuildPart part;
      RATCHET_ASSIGN(part.region, FromProto(region));
      RATCHET_ASSIGN(auto directory,
                     OpenRegionDirectory(root_, order.parameter.table_dir(), part.region.encoded_name()));
      part.directory = directory.get();
      open.push_back(std::move(directory));
      made.push_back(std::move(part));
    }
    return made;
  };
  BuildRequest request;
  request.number = order.pid.value();
  RATCHET_ASSIGN(request.parents, parts(order.parameter.parent()));
  RATCHET_ASSIGN(request.children, parts(order.parameter.child()));
  RATCHET_ASSIGN(const TableDescriptor table, FromProto(order.parameter.schema()));
  request.families = table.families;
  RATCHET_TRY(wals_.CheckFence());  // a fenced server must not begin
  RATCHET_ASSIGN(BuildReport report, BuildRegions(request));
  RATCHET_TRY(wals_.CheckFence());
  return report;
}

OrderAnswer OrderHandlers::Copy(const CopyOrder& order) {
  const TimePoint begun = clock_.Now();
  const Result<CopyReport> report = RunCopy(order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Copy of a region failed: {}", order.pid, report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Copied a region, snapshot={}, files={}, sequence={}, in {} ms{}", order.pid,
              order.parameter.snapshot(), report->files, report->sequence,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(),
              report->not_ready.empty() ? "" : ": not, as " + report->not_ready);
  pb::CopyRegionResult result;
  if (!report->not_ready.empty()) result.set_not_ready(report->not_ready);
  result.set_sequence(report->sequence);
  result.set_files(report->files);
  result.set_bytes(report->bytes);
  return Done(result.SerializeAsString());
}

Result<CopyReport> OrderHandlers::RunCopy(const CopyOrder& order) const {
  const pb::CopyRegionParameter& parameter = order.parameter;
  const bool from_part = parameter.kind() == pb::CopyRegionParameter::PART;
  RATCHET_ASSIGN(const RegionInfo source, FromProto(parameter.source()));
  CopyTarget target;
  target.number = order.pid.value();
  RATCHET_ASSIGN(target.region, FromProto(parameter.target()));
  RATCHET_ASSIGN(const TableDescriptor table, FromProto(parameter.schema()));
  target.families = table.families;
  RATCHET_TRY(wals_.CheckFence());  // a fenced server must not begin
  RATCHET_ASSIGN(const auto part, PartDirectory(parameter.snapshot(), source.encoded_name()));
  const auto copy = [&]() -> Result<CopyReport> {
    if (parameter.kind() == pb::CopyRegionParameter::OPEN_REGION) {
      target.directory = part.get();
      RATCHET_ASSIGN(const std::shared_ptr<Region> region, regions_.Find(source.encoded_name()));
      return region->CopyTo(parameter.flush(), target);
    }
    const RegionInfo& other = from_part ? target.region : source;
    RATCHET_ASSIGN(const auto directory, OpenRegionDirectory(root_, parameter.table_dir(), other.encoded_name()));
    target.directory = from_part ? directory.get() : part.get();
    if (from_part) return CopyPart(source, *part, parameter.part(), target);
    return CopyClosedRegion(source, *directory, {parameter.opened_before(), parameter.build_number()}, target);
  };
  RATCHET_ASSIGN(CopyReport report, copy());
  RATCHET_TRY(wals_.CheckFence());
  return report;
}

Result<std::unique_ptr<io::Directory>> OrderHandlers::PartDirectory(const std::string& snapshot,
                                                                    const std::string& encoded_name) const {
  if (!IsDirectoryName(snapshot)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a snapshot's directory", snapshot));
  }
  return io::OpenLightDirectory(root_, fmt::format("snapshots/{}/{}", snapshot, encoded_name));
}

}  // namespace ratchet::regionserver
