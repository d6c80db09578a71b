// What leads a cluster past a fault point, and past a step of a procedure: one table each, so that a new point or a new
// type of procedure is given its occasion here and never guessed from its name. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "chaos/faults/point_order.h"
#include "common/base/result.h"

namespace ratchet::chaos {

enum class Occasion : std::uint8_t {
  kMove,          // regions are moved
  kServerCrash,   // a region server is killed
  kServerReturn,  // ... and started again
  kTable,         // a table passes through all verbs
  kExport,        // the same, where masters may export snapshots
  kDrain,         // a region server is drained and taken back
  kSettings,      // a namespace comes and goes, and a switch is set
  kNone,          // nothing that a fault may do leads there
};

// All points of fault_points.def.
struct PointFacts {
  std::string_view name;
  bool master = false;  // a master comes by there, else a region server
  Occasion occasion = Occasion::kMove;
  // Whether every cluster comes by when it is given the occasion, and whether only once or twice then.
  enum class Reached : std::uint8_t { kSeldom, kOnce, kOften } reached = Reached::kSeldom;
};
[[nodiscard]] std::span<const PointFacts> AllPoints();
// Of a name in fault_points.def.
[[nodiscard]] const PointFacts& FactsOf(std::string_view point);

// Of the steps of a type of procedure; nullopt: no such type is known here.
[[nodiscard]] std::optional<Occasion> OccasionOfType(std::string_view type);
// kInvalidArgument when the order names a type of procedure that is not known here.
[[nodiscard]] Result<Occasion> OccasionOf(const PointOrder& order);
// True when a master comes by there, false when a region server does.
[[nodiscard]] bool IsMastersPoint(const PointOrder& order);

}  // namespace ratchet::chaos
