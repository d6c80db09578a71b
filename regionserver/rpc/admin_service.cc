#include "regionserver/rpc/admin_service.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "regionserver/region/region.h"
#include "regionserver/rpc/slow_log.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kMegabyte = 1u << 20;
constexpr Millis kLongestPulse{1'000};

class AdminCalls {
 public:
  explicit AdminCalls(AdminServiceParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] bool reloads() const { return static_cast<bool>(parts_.reload); }

  Result<pb::ExecuteProceduresResponse> Execute(const pb::ExecuteProceduresRequest& request) const {
    RATCHET_TRY(parts_.admit());
    RATCHET_TRY(parts_.take_orders(request));
    return pb::ExecuteProceduresResponse();
  }

  Result<pb::GetRegionInfoResponse> RegionInfo(const pb::GetRegionInfoRequest& request) const {
    RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
    pb::GetRegionInfoResponse response;
    ToProto(region->info(), *response.mutable_region_info());
    if (request.compaction_state()) response.set_compaction_state(CompactionOf(region->encoded_name()));
    // These answers cover this region only; the master checks more (SplitTableRegion, MergeTableRegions).
    response.set_splittable(!region->info().IsMeta());
    response.set_mergeable(!region->info().IsMeta());
    return response;
  }

  Result<pb::GetStoreFileResponse> StoreFiles(const pb::GetStoreFileRequest& request) const {
    RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
    RATCHET_ASSIGN(const auto names, region->StoreFileNames({request.family().begin(), request.family().end()}));
    RATCHET_TRY(region->CheckServing());
    pb::GetStoreFileResponse response;
    for (const std::string& name : names) response.add_store_file(name);
    return response;
  }

  Result<pb::GetOnlineRegionResponse> OnlineRegions(const rpc::CallContext& call) const {
    RATCHET_TRY(parts_.admit());
    pb::GetOnlineRegionResponse response;
    for (const auto& region : parts_.all()) {
      if (Sees(call, *region)) ToProto(region->info(), *response.add_region_info());
    }
    return response;
  }

  Result<pb::FlushRegionResponse> Flush(const pb::FlushRegionRequest& request) const {
    RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
    if (request.has_family()) RATCHET_TRY(region->CheckFamily(request.family()));  // all families are flushed together
    const std::uint64_t before = region->GetStatus().flushed_sequence;
    RATCHET_TRY(region->Flush());
    pb::FlushRegionResponse response;
    response.set_last_flush_time(0);  // the time is not recorded
    response.set_flushed(region->GetStatus().flushed_sequence > before);
    response.set_wrote_flush_wal_marker(false);
    return response;
  }

  Result<pb::CompactRegionResponse> Compact(const pb::CompactRegionRequest& request) const {
    RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
    // all families are compacted together
    if (request.has_family()) RATCHET_TRY(region->CheckFamily(request.family()));
    parts_.compact_soon(region->encoded_name(), request.major());
    return pb::CompactRegionResponse();
  }

  Result<pb::CompactionSwitchResponse> SwitchCompactions(const pb::CompactionSwitchRequest& request) const {
    RATCHET_TRY(parts_.admit());
    pb::CompactionSwitchResponse response;
    response.set_prev_state(parts_.switch_compactions(request.enabled()));
    return response;
  }

  // The log lists settings that cannot change live; HBase's answer has no field for them.
  Result<pb::UpdateConfigurationResponse> Reload() const {
    const Status reloaded = parts_.reload();
    if (!reloaded.ok()) return rpc::RemoteError(rpc::exception::kDoNotRetryIo, reloaded.error().message());
    return pb::UpdateConfigurationResponse();
  }
  Result<pb::RollWALWriterResponse> RollLogs() const {
    RATCHET_TRY(parts_.admit());
    RATCHET_TRY(parts_.roll_logs());
    return pb::RollWALWriterResponse();
  }

  Result<pb::GetServerInfoResponse> ServerInfo() const {
    RATCHET_TRY(parts_.admit());
    pb::GetServerInfoResponse response;
    ToProto(parts_.self(), *response.mutable_server_info()->mutable_server_name());
    if (const std::uint32_t port = parts_.info_port ? parts_.info_port() : 0; port != 0)
      response.mutable_server_info()->set_webui_port(port);
    return response;
  }

  Result<pb::GetRegionLoadResponse> RegionLoads(const rpc::CallContext& call,
                                                const pb::GetRegionLoadRequest& request) const {
    RATCHET_TRY(parts_.admit());
    TableName only;
    if (request.has_table_name()) {
      RATCHET_ASSIGN(only, FromProto(request.table_name()));
    }
    pb::GetRegionLoadResponse response;
    for (const auto& region : parts_.all()) {
      if ((!request.has_table_name() || region->info().table == only) && Sees(call, *region))
        FillRegionLoad(*region, *response.add_region_loads());
    }
    return response;
  }

  // The table of the request's region; an error if the region is not here.
  [[nodiscard]] Result<rights::Target> TargetOf(const pb::RegionSpecifier& specifier) const {
    RATCHET_ASSIGN(const auto region, FindRegion(specifier));
    return rights::Target{rights::Scope::Table(region->info().table)};
  }

  // Answers later, from the thread that does the work.
  template <class Response, class Work>
  void AnswerSlowly(const rpc::Responder<Response>& responder, Work work) const {
    if (slow_->fetch_add(1) >= kMostSlowCalls) {
      slow_->fetch_sub(1);
      responder.Fail(rpc::RemoteError(
          rpc::exception::kCallQueueTooBig,
          fmt::format("{} flushes and log rolls are already waiting on this server; try again", kMostSlowCalls)));
      return;
    }
    parts_.run_slowly([slow = slow_, responder, work = std::move(work)] {
      Result<Response> response = work();
      slow->fetch_sub(1);  // before the answer, because a client may ask again as soon as it has it
      responder.ReplyOrFail(std::move(response));
    });
  }

  // For the master that has found the same itself: some 100 ms on a handler that only members can occupy.
  Result<pb::ProbeServerResponse> Probe(const pb::ProbeServerRequest& request) const {
    RATCHET_ASSIGN(const ServerName server, FromProto(request.server()));
    pb::ProbeServerResponse response;
    response.set_verdict(pb::ProbeServerResponse::NO_FINDING);
    if (request.has_silence_ms()) {
      if (!parts_.pulse) return response;
      const auto end = parts_.pulse(server, std::clamp(Millis(request.silence_ms()), Millis(1), kLongestPulse));
      if (end == rpc::PulseEnd::kSilent) response.set_verdict(pb::ProbeServerResponse::SILENT);
      if (end == rpc::PulseEnd::kAnswered) response.set_verdict(pb::ProbeServerResponse::ALIVE);
      return response;
    }
    if (!parts_.probe) return response;
    const auto verdict = rpc::RunProbeSeries(
        SystemClock(), [this, &server] { return parts_.probe(server); },
        [](Millis wait) {
          Mutex mutex;
          CondVar never;
          const MutexLock lock(mutex);
          never.WaitFor(mutex, wait);
          return true;
        });
    if (verdict == rpc::ProbeVerdict::kGone) response.set_verdict(pb::ProbeServerResponse::GONE);
    if (verdict == rpc::ProbeVerdict::kAlive) response.set_verdict(pb::ProbeServerResponse::ALIVE);
    return response;
  }

  Result<pb::StopServerResponse> Stop(const pb::StopServerRequest& request) const {
    parts_.stop("asked to stop: " + request.reason());
    return pb::StopServerResponse();
  }

 private:
  [[nodiscard]] pb::GetRegionInfoResponse::CompactionState CompactionOf(const std::string& encoded_name) const {
    if (!parts_.is_compacting) return pb::GetRegionInfoResponse::NONE;
    const bool minor = parts_.is_compacting(encoded_name, false);
    if (!parts_.is_compacting(encoded_name, true))
      return minor ? pb::GetRegionInfoResponse::MINOR : pb::GetRegionInfoResponse::NONE;
    return minor ? pb::GetRegionInfoResponse::MAJOR_AND_MINOR : pb::GetRegionInfoResponse::MAJOR;
  }
  // True if the caller holds some right in the region's table.
  [[nodiscard]] bool Sees(const rpc::CallContext& call, const Region& region) const {
    if (parts_.judge == nullptr) return true;
    return parts_.judge->Sees({call.user, call.member},
                              rights::Demand::Some(rights::Scope::Table(region.info().table)));
  }
  Result<std::shared_ptr<Region>> FindRegion(const pb::RegionSpecifier& specifier) const {
    RATCHET_TRY(parts_.admit());
    RATCHET_ASSIGN(const std::string encoded_name, EncodedNameOf(specifier));
    return parts_.find(encoded_name);
  }

  const AdminServiceParts parts_;
  const std::shared_ptr<std::atomic<int>> slow_ = std::make_shared<std::atomic<int>>(0);
};

// Registers a method that answers at once with a Result. `evaluate`: (request), or (context, request).
template <class Request, class Response, class Evaluate>
void Answer(rpc::Service& service, const rpc::Method<Request, Response>& method, Evaluate evaluate,
            rpc::MethodOptions options = {rpc::QueueClass::kAdmin}) {
  service.On(
      method,
      [evaluate = std::move(evaluate)](const rpc::CallContext& call, const Request& request, std::string_view,
                                       const rpc::Responder<Response>& responder) {
        if constexpr (std::is_invocable_v<Evaluate, const rpc::CallContext&, const Request&>) {
          responder.ReplyOrFail(evaluate(call, request));
        } else {
          responder.ReplyOrFail(evaluate(request));
        }
      },
      options);
}

// Registers a method that waits for a disk.
template <class Request, class Response, class Work>
void AnswerLater(rpc::Service& service, const rpc::Method<Request, Response>& method,
                 const std::shared_ptr<const AdminCalls>& calls, Work work) {
  service.On(method,
             [calls, work = std::move(work)](const rpc::CallContext&, const Request& request, std::string_view,
                                             const rpc::Responder<Response>& responder) {
               calls->AnswerSlowly(responder, [work, request] { return work(request); });
             },
             {rpc::QueueClass::kAdmin});
}

// HBase's orders before procedures carry neither an opening number nor an order number, so they cannot be executed
// safely.
Error LegacyOrder(std::string_view method) {
  return Error(
      Code::kUnsupported,
      std::string(method) + " is not supported: regions are opened and closed by the master's ExecuteProcedures only",
      std::string(rpc::exception::kDoNotRetryIo));
}

}  // namespace

std::uint32_t Megabytes(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kMegabyte, 1, INT32_MAX));
}

void FillRegionLoad(const Region& region, pb::RegionLoad& out) { FillRegionLoad(region, region.info().name(), out); }

void FillRegionLoad(const Region& region, const std::string& name, pb::RegionLoad& out) {
  const RegionStatus status = region.GetStatus();
  out.mutable_region_specifier()->set_type(pb::RegionSpecifier::REGION_NAME);
  out.mutable_region_specifier()->set_value(name);
  out.set_stores(static_cast<std::uint32_t>(region.table().families.size()));
  out.set_storefiles(static_cast<std::uint32_t>(status.store_files));
  out.set_store_uncompressed_size_mb(Megabytes(status.uncompressed_bytes));
  out.set_storefile_size_mb(Megabytes(status.store_bytes));
  out.set_region_size_mb(Megabytes(region.OwnBytes()));
  out.set_mem_store_size_mb(Megabytes(status.memstore_bytes));
  out.set_read_requests_count(status.reads);
  out.set_write_requests_count(status.writes);
  out.set_complete_sequence_id(status.flushed_sequence);
  out.set_last_major_compaction_ts(static_cast<std::uint64_t>(std::max<std::int64_t>(status.oldest_major_ms, 0)));
  for (const FamilyDescriptor& family : region.table().families) {
    auto* store = out.add_store_complete_sequence_id();
    store->set_family_name(family.name);
    store->set_sequence_id(status.flushed_sequence);
  }
}

std::shared_ptr<const rpc::Service> MakeAdminService(AdminServiceParts parts) {
  const std::shared_ptr<SlowLog> slow_log = parts.slow_log;
  const auto server = parts.rpc_server;
  auto calls = std::make_shared<const AdminCalls>(std::move(parts));
  auto service = std::make_shared<rpc::Service>(methods::kAdminService);
  // Orders come from masters only (S77: members only), and on threads that no client and no administrator can occupy
  // (S78: members' own queues).
  const auto queue =
      RATCHET_MUTANT("regionserver.orders_beside_meta") ? rpc::QueueClass::kMeta : rpc::QueueClass::kTransition;
  Answer(*service, methods::kExecuteProcedures, [calls](const auto& request) { return calls->Execute(request); },
         {queue});
  Answer(*service, methods::kGetRegionInfo, [calls](const auto& request) { return calls->RegionInfo(request); });
  Answer(*service, methods::kGetStoreFile, [calls](const auto& request) { return calls->StoreFiles(request); });
  Answer(*service, methods::kGetOnlineRegion,
         [calls](const rpc::CallContext& call, const auto&) { return calls->OnlineRegions(call); });
  AnswerLater(*service, methods::kFlushRegion, calls, [calls](const auto& request) { return calls->Flush(request); });
  Answer(*service, methods::kCompactRegion, [calls](const auto& request) { return calls->Compact(request); });
  Answer(*service, methods::kCompactionSwitch,
         [calls](const auto& request) { return calls->SwitchCompactions(request); });
  AnswerLater(*service, methods::kRollWALWriter, calls, [calls](const auto&) { return calls->RollLogs(); });
  Answer(*service, methods::kGetServerInfo, [calls](const auto&) { return calls->ServerInfo(); });
  Answer(*service, methods::kProbeServer, [calls](const auto& request) { return calls->Probe(request); },
         {rpc::QueueClass::kTransition});
  Answer(*service, methods::kGetRegionLoad,
         [calls](const rpc::CallContext& call, const auto& request) { return calls->RegionLoads(call, request); });
  Answer(*service, methods::kGetSpaceQuotaSnapshots,  // space quotas do not exist
         [](const auto&) { return Result<pb::GetSpaceQuotaSnapshotsResponse>(pb::GetSpaceQuotaSnapshotsResponse()); });
  Answer(*service, methods::kStopServer, [calls](const auto& request) { return calls->Stop(request); });
  rpc::AddConnectionMethods(*service, [server] { return server ? server() : nullptr; });
  if (slow_log != nullptr) AddSlowLogMethods(*service, slow_log);
  if (calls->reloads())
    AnswerLater(*service, methods::kUpdateConfiguration, calls, [calls](const auto&) { return calls->Reload(); });
  Answer(*service, methods::kOpenRegion,
         [](const auto&) { return Result<pb::OpenRegionResponse>(LegacyOrder(methods::kOpenRegion.name)); }, {queue});
  Answer(*service, methods::kCloseRegion,
         [](const auto&) { return Result<pb::CloseRegionResponse>(LegacyOrder(methods::kCloseRegion.name)); }, {queue});
  const auto target = [calls](const rpc::CallContext&, const auto& request) {
    return calls->TargetOf(request.region());
  };
  service->TargetOf(methods::kGetRegionInfo, target);
  service->TargetOf(methods::kGetStoreFile, target);
  service->TargetOf(methods::kFlushRegion, target);
  service->TargetOf(methods::kCompactRegion, target);
  return service;
}

}  // namespace ratchet::regionserver
