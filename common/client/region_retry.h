// What a client does after a region has refused a call, or has not answered it: for single rows, batches and scans.
#pragma once

#include "common/client/connection.h"

namespace ratchet::client {

// Regions of a disabled table answer NotServingRegionException for as long as one asks. Now and then a retry loop looks
// whether that is why: TableNotEnabledException then, else OK.
[[nodiscard]] Status CheckNotDisabled(RegionLocator& locator, RetryLoop& loop, const TableName& table,
                                      const Error& error);

// What to do with the location after a failed data call, and whether the call may be tried again.
[[nodiscard]] bool PrepareRetry(RegionLocator& locator, const RegionLocation& location, const Error& error);

}  // namespace ratchet::client
