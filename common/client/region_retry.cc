#include "common/client/region_retry.h"

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

}  // namespace ratchet::client
