#include "common/client/table.h"

#include "common/client/wire_requests.h"
#include "common/model/attributes.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/exceptions.h"

namespace ratchet::client {

bool PrepareRetry(RegionLocator& locator, const RegionLocation& location, const Error& error) {
  if (rpc::IsClass(error, rpc::kNotSent) && error.code() == Code::kUnavailable) {
    locator.ForgetServer(location);
    return true;
  }
  if (rpc::IsRelocate(error)) {
    if (const auto moved = rpc::MovedTo(error))
      locator.Moved(location, *moved);
    else
      locator.Forget(location);
    return true;
  }
  if (rpc::OutcomeUnknown(error) || rpc::IsClass(error, rpc::kNotSent)) {
    locator.Forget(location);
    return true;
  }
  if (!rpc::IsTransient(error)) return false;
  locator.Forget(location);
  return true;
}

Status CheckNotDisabled(RegionLocator& locator, RetryLoop& loop, const TableName& table, const Error& error) {
  constexpr std::uint32_t kEvery = 4;
  if (!rpc::IsClass(error, rpc::exception::kNotServingRegion) || loop.attempts() % kEvery != 1) return Ok();
  const auto state = locator.StateOf(loop, table);
  if (!state || (*state != TableState::kDisabled && *state != TableState::kDisabling)) return Ok();
  return rpc::RemoteError(rpc::exception::kTableNotEnabled, fmt::format("table {} is disabled", table.ToString()));
}

Result<std::string> Table::CallRegion(RetryLoop& loop, const std::string& row, std::string_view method,
                                      google::protobuf::MessageLite& request,
                                      const std::function<void(const RegionLocation&)>& address,
                                      const std::shared_ptr<google::protobuf::MessageLite>& response) {
  for (;;) {
    RATCHET_ASSIGN(const RegionLocation location, connection_.locator().Locate(loop, name_, row));
    address(location);
    loop.Attempt(fmt::format("asking {} ({} on table {})", location.server.ToString(), method, name_.ToString()));
    response->Clear();
    rpc::CallOptions options;
    options.timeout = loop.AttemptTimeout(connection_.options().rpc_timeout);
    auto cells = connection_.pool()
                     .Get("ClientService", location.endpoint())
                     ->CallRawSync(method, request, response, std::move(options));
    if (cells.ok()) return cells;
    if (!PrepareRetry(connection_.locator(), location, cells.error())) return cells.error();
    RATCHET_TRY(CheckNotDisabled(connection_.locator(), loop, name_, cells.error()));
    RATCHET_TRY(loop.Pause(cells.error().Annotate(location.server.ToString()),
                           fmt::format("{} on table {}", method, name_.ToString()),
                           method == "Get" ? Effect::kQueries : Effect::kChanges));
  }
}

Result<Row> Table::Get(const client::Get& get) {
  hbase::pb::GetRequest request;
  ToProto(get, *request.mutable_get());
  auto response = std::make_shared<hbase::pb::GetResponse>();
  RetryLoop loop = connection_.NewLoop(timeout_);
  RATCHET_ASSIGN(const std::string cells,
                 CallRegion(
                     loop, get.row, "Get", request,
                     [&](const RegionLocation& at) { SpecifyRegion(at.region, *request.mutable_region()); }, response));
  CellBlockReader block(cells);
  RATCHET_ASSIGN(auto found, TakeResult(response->result(), block));
  return Row{get.row, std::move(found), false};
}

Result<Row> Table::MutateIf(const Condition* condition, const Mutation& mutation, bool* processed) {
  hbase::pb::MutateRequest request;
  ToProto(mutation, connection_.NewNonce(), *request.mutable_mutation());
  request.set_nonce_group(connection_.nonce_group());
  if (condition != nullptr) ToProto(mutation.row, *condition, *request.mutable_condition());
  auto response = std::make_shared<hbase::pb::MutateResponse>();
  RetryLoop loop = connection_.NewLoop(timeout_);
  const auto cells = CallRegion(
      loop, mutation.row, "Mutate", request,
      [&](const RegionLocation& at) {
        SpecifyRegion(at.region, *request.mutable_region());
        SetNonceAge((timeout_ - loop.Remaining()).count(), *request.mutable_mutation());
      },
      response);
  if (!cells.ok()) {
    return cells.error().code() == Code::kTimeout ? cells.error() : Refused(cells.error(), loop.outcome_unknown());
  }
  CellBlockReader block(*cells);
  RATCHET_ASSIGN(auto result, TakeResult(response->result(), block));
  if (processed != nullptr) *processed = response->processed();
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
