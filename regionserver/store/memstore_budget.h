// The memory limit of all memstores of a server together.
//
// Memstores add and subtract their sizes; regions check before they admit a write. Above `flush_at` the largest region
// is flushed; above `limit` writes are refused as too busy until flushes have freed memory. hbase:meta is never
// refused.
//
// Owner: shared by the server's regions. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "common/base/live.h"

namespace ratchet::regionserver {

struct MemstoreBudget {
  Live<std::uint64_t> limit{UINT64_MAX};     // bytes
  Live<std::uint64_t> flush_at{UINT64_MAX};  // below `limit`
  std::function<void()>
      make_room;  // called on each admission above `flush_at`; must be quick. Set before the first region
  std::atomic<std::uint64_t> used{0};
};

}  // namespace ratchet::regionserver
