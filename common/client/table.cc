#include "common/client/table.h"

#include "common/client/region_retry.h"
#include "common/client/wire_requests.h"
#include "common/model/attributes.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::client {

template <class Request, class Response>
Result<rpc::Reply<Response>> Table::CallRegion(RetryLoop& loop, const std::string& row,
                                               const rpc::Method<Request, Response>& method, Request& request,
                                               const std::function<void(const RegionLocation&)>& address) {
  for (;;) {
    RATCHET_ASSIGN(const RegionLocation location, connection_.locator().Locate(loop, name_, row));
    address(location);
    loop.Attempt(fmt::format("asking {} ({} on table {})", location.server.ToString(), method.name, name_.ToString()));
    rpc::CallOptions options;
    options.timeout = loop.AttemptTimeout(connection_.options().rpc_timeout);
    auto reply = connection_.pool().CallSync(method, location.endpoint(), request, std::move(options));
    if (reply.ok()) return reply;
    if (!PrepareRetry(connection_.locator(), location, reply.error())) return reply.error();
    RATCHET_TRY(CheckNotDisabled(connection_.locator(), loop, name_, reply.error()));
    RATCHET_TRY(loop.Pause(reply.error().Annotate(location.server.ToString()),
                           fmt::format("{} on table {}", method.name, name_.ToString()), method.effect));
  }
}

Result<Row> Table::Get(const client::Get& get) {
  hbase::pb::GetRequest request;
  ToProto(get, *request.mutable_get());
  RetryLoop loop = connection_.NewLoop(timeout_);
  RATCHET_ASSIGN(const auto reply, CallRegion(loop, get.row, methods::kGet, request, [&](const RegionLocation& at) {
                   SpecifyRegion(at.region, *request.mutable_region());
                 }));
  CellBlockReader block(reply.cells);
  RATCHET_ASSIGN(auto found, ReadResult(reply.message.result(), block));
  return Row{get.row, std::move(found), false};
}

Result<Row> Table::MutateIf(const Condition* condition, const Mutation& mutation, bool* processed) {
  hbase::pb::MutateRequest request;
  ToProto(mutation, connection_.NewNonce(), *request.mutable_mutation());
  request.set_nonce_group(connection_.nonce_group());
  if (condition != nullptr) ToProto(mutation.row, *condition, *request.mutable_condition());
  RetryLoop loop = connection_.NewLoop(timeout_);
  const auto reply = CallRegion(loop, mutation.row, methods::kMutate, request, [&](const RegionLocation& at) {
    SpecifyRegion(at.region, *request.mutable_region());
    SetNonceAge((timeout_ - loop.Remaining()).count(), *request.mutable_mutation());
  });
  if (!reply.ok()) {
    return reply.error().code() == Code::kTimeout ? reply.error() : Refused(reply.error(), loop.outcome_unknown());
  }
  CellBlockReader block(reply->cells);
  RATCHET_ASSIGN(auto result, ReadResult(reply->message.result(), block));
  if (processed != nullptr) *processed = reply->message.processed();
  return Row{mutation.row, std::move(result), loop.outcome_unknown()};
}

Result<Row> Table::Mutate(const Mutation& mutation) { return MutateIf(nullptr, mutation, nullptr); }

Result<bool> Table::CheckAndMutate(const Condition& condition, const Mutation& mutation, bool* repeated) {
  bool processed = false;
  RATCHET_ASSIGN(const Row answer, MutateIf(&condition, mutation, &processed));
  if (repeated != nullptr) *repeated = answer.repeated;
  return processed;
}

}  // namespace ratchet::client
