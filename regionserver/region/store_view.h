// What a reader of a region keeps: where the data is at one moment, and up to where it is readable. Inside the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "regionserver/store/memstore.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

// Where the data is, at one moment: what a reader keeps.
struct StoreView {
  std::shared_ptr<Memstore> active;
  std::shared_ptr<Memstore> flushing;  // null: none
  std::vector<std::shared_ptr<const StoreFiles::Reader>> files;
};

struct ReadPoint {
  std::shared_ptr<const StoreView> view;
  std::uint64_t sequence = 0;  // what is above it is not readable yet
};

}  // namespace ratchet::regionserver
