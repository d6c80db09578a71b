// A reader's view of a region: where the data is at one moment, and up to which sequence it is readable. Inside the
// engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "regionserver/store/memstore.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

// Memstores and files of a region at one moment; readers keep it.
struct StoreView {
  std::shared_ptr<Memstore> active;
  std::shared_ptr<Memstore> flushing;  // null: none
  std::vector<std::shared_ptr<const StoreFiles::Reader>> files;
};

struct ReadPoint {
  std::shared_ptr<const StoreView> view;
  std::uint64_t sequence = 0;  // cells above it are not readable yet
};

}  // namespace ratchet::regionserver
