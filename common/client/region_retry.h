// A client's reaction when a region has refused a call, or has not answered it: for single rows, batches and scans.
#pragma once

#include "common/client/connection.h"

namespace ratchet::client {

// Regions of a disabled table answer NotServingRegionException without end. So a retry loop checks from time to time
// whether the table is disabled: TableNotEnabledException then, else OK.
[[nodiscard]] Status CheckNotDisabled(RegionLocator& locator, RetryLoop& loop, const TableName& table,
                                      const Error& error);

// Updates the cached location after a failed data call. Returns true if the call may be retried.
[[nodiscard]] bool PrepareRetry(RegionLocator& locator, const RegionLocation& location, const Error& error);

}  // namespace ratchet::client
