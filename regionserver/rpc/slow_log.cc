#include "regionserver/rpc/slow_log.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/base/printable.h"
#include "common/model/message_limits.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::regionserver {
namespace {

namespace pb = ::hbase::pb;
using google::protobuf::MessageLite;

constexpr std::size_t kMostRegionName = 4096;

std::string RegionNameOf(const pb::RegionSpecifier& region) {
  return PrintableText(std::string_view(region.value()).substr(0, kMostRegionName));
}

// A Multi counts the operations that it requests, and belongs to its first region.
void FillMulti(const pb::MultiRequest& multi, pb::SlowLogPayload& out) {
  std::int32_t gets = 0;
  std::int32_t mutations = 0;
  std::int32_t services = 0;
  for (const pb::RegionAction& region : multi.regionaction()) {
    for (const pb::Action& action : region.action()) {
      gets += action.has_get() ? 1 : 0;
      mutations += action.has_mutation() ? 1 : 0;
      services += action.has_service_call() ? 1 : 0;
    }
  }
  if (multi.regionaction_size() > 0) out.set_region_name(RegionNameOf(multi.regionaction(0).region()));
  out.set_multi_gets(gets);
  out.set_multi_mutations(mutations);
  out.set_multi_service_calls(services);
}

// The next call of a scan names only its scanner.
void FillRequest(const MessageLite& request, pb::SlowLogPayload& out) {
  if (const auto* multi = dynamic_cast<const pb::MultiRequest*>(&request)) {
    FillMulti(*multi, out);
  } else if (const auto* get = dynamic_cast<const pb::GetRequest*>(&request)) {
    out.set_region_name(RegionNameOf(get->region()));
  } else if (const auto* mutate = dynamic_cast<const pb::MutateRequest*>(&request)) {
    out.set_region_name(RegionNameOf(mutate->region()));
  } else if (const auto* scan = dynamic_cast<const pb::ScanRequest*>(&request); scan != nullptr && scan->has_region()) {
    out.set_region_name(RegionNameOf(scan->region()));
  }
}

// A filter by an address matches with or without the port.
bool IsFrom(const std::string& address, const std::string& wanted) {
  const auto split = SplitHostPort(address);
  return address == wanted || (split.has_value() && split->host == wanted);
}

bool Passes(const pb::SlowLogPayload& call, const pb::SlowLogResponseRequest& request) {
  if (request.has_log_type()) {
    const bool large = request.log_type() == pb::SlowLogResponseRequest::LARGE_LOG;
    if (call.type() == (large ? pb::SlowLogPayload::SLOW_LOG : pb::SlowLogPayload::LARGE_LOG)) return false;
  }
  std::vector<bool> filters;
  if (!request.region_name().empty()) filters.push_back(call.region_name() == request.region_name());
  if (!request.table_name().empty()) filters.push_back(call.region_name().starts_with(request.table_name() + ","));
  if (!request.client_address().empty()) filters.push_back(IsFrom(call.client_address(), request.client_address()));
  if (!request.user_name().empty()) filters.push_back(call.user_name() == request.user_name());
  if (filters.empty()) return true;
  const bool all = request.filter_by_operator() == pb::SlowLogResponseRequest::AND;
  for (const bool passes : filters) {
    if (passes != all) return passes;
  }
  return all;
}

pb::SlowLogResponses ReadOnly(const SlowLog& log, pb::SlowLogResponseRequest request,
                              pb::SlowLogResponseRequest::LogType type) {
  request.set_log_type(type);
  return log.Read(request);
}

constexpr std::string_view kRequestClass = "SlowLogResponseRequest";
constexpr std::string_view kResponseClass = "SlowLogResponses";

// Requests and answers contain their message and its Java class name.
Result<pb::LogEntry> EntriesOf(const SlowLog& log, const pb::LogRequest& request) {
  const std::string& name = request.log_class_name();
  if (!name.ends_with(kRequestClass))
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("Invalid request params: there are no log entries of {} here", name));
  pb::SlowLogResponseRequest wanted;
  if (!ParseMessage(request.log_message(), wanted).ok())
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "Invalid request params: the message cannot be read");
  pb::LogEntry entry;
  entry.set_log_class_name(name.substr(0, name.size() - kRequestClass.size()) + std::string(kResponseClass));
  entry.set_log_message(log.Read(wanted).SerializeAsString());
  return entry;
}

template <class Request, class Response, class Evaluate>
void Register(rpc::Service& service, const rpc::Method<Request, Response>& method, Evaluate evaluate) {
  service.On(method,
             [evaluate = std::move(evaluate)](const rpc::CallContext&, const Request& request, std::string_view,
                                              const rpc::Responder<Response>& responder) {
               responder.ReplyOrFail(evaluate(request));
             },
             {rpc::QueueClass::kAdmin});
}

}  // namespace

void SlowLog::Note(const rpc::FinishedCall& call, std::int64_t now_ms) {
  if (most_ == 0 || call.context.service != methods::kClientService) return;
  pb::SlowLogPayload entry;
  entry.set_start_time(now_ms - call.took.count());
  entry.set_processing_time(static_cast<std::int32_t>(std::min<std::int64_t>(call.took.count(), INT32_MAX)));
  entry.set_queue_time(static_cast<std::int32_t>(std::min<std::int64_t>(call.queued.count(), INT32_MAX)));
  entry.set_response_size(static_cast<std::int64_t>(call.answer_bytes));
  entry.set_client_address(call.context.peer);
  entry.set_server_class("HRegionServer");
  entry.set_method_name(call.context.method);
  entry.set_call_details(fmt::format("{}({})", call.context.method, call.request.GetTypeName()));
  entry.set_param(fmt::format("{} bytes", call.request.ByteSizeLong()));
  entry.set_user_name(call.context.user);
  entry.set_type(call.slow && call.large ? pb::SlowLogPayload::ALL
                 : call.slow             ? pb::SlowLogPayload::SLOW_LOG
                                         : pb::SlowLogPayload::LARGE_LOG);
  FillRequest(call.request, entry);
  const MutexLock lock(mutex_);
  if (calls_.size() >= most_) calls_.pop_front();
  calls_.push_back(std::move(entry));
}

pb::SlowLogResponses SlowLog::Read(const pb::SlowLogResponseRequest& request) const {
  pb::SlowLogResponses found;
  const MutexLock lock(mutex_);
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (static_cast<std::uint32_t>(found.slow_log_payloads_size()) >= request.limit()) break;
    if (Passes(*call, request)) *found.add_slow_log_payloads() = *call;
  }
  return found;
}

void SlowLog::Clear() {
  const MutexLock lock(mutex_);
  calls_.clear();
}

void AddSlowLogMethods(rpc::Service& service, const std::shared_ptr<SlowLog>& log) {
  Register(service, methods::kGetSlowLogResponses, [log](const pb::SlowLogResponseRequest& request) {
    return Result<pb::SlowLogResponses>(ReadOnly(*log, request, pb::SlowLogResponseRequest::SLOW_LOG));
  });
  Register(service, methods::kGetLargeLogResponses, [log](const pb::SlowLogResponseRequest& request) {
    return Result<pb::SlowLogResponses>(ReadOnly(*log, request, pb::SlowLogResponseRequest::LARGE_LOG));
  });
  Register(service, methods::kClearSlowLogsResponses, [log](const pb::ClearSlowLogResponseRequest& /*request*/) {
    log->Clear();
    pb::ClearSlowLogResponses response;
    response.set_is_cleaned(true);
    return Result<pb::ClearSlowLogResponses>(response);
  });
  Register(service, methods::kGetLogEntries, [log](const pb::LogRequest& request) { return EntriesOf(*log, request); });
}

}  // namespace ratchet::regionserver
