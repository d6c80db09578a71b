// The event that makes a cluster reach a fault point, or a step of a procedure: one table each. So a new point or type
// must be given its event here, and is never guessed from its name. Pure; any thread.
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
  kServerReturn,  // ... and restarted
  kTable,         // a table goes through all verbs
  kExport,        // the same, if masters may export snapshots
  kDrain,         // a region server is drained and taken back
  kSettings,      // a namespace is created and deleted, and a switch is set
  kNone,          // no fault can make the cluster reach it
};

// All points of fault_points.def.
struct PointFacts {
  std::string_view name;
  bool master = false;  // whether a master reaches the point, or a region server
  Occasion occasion = Occasion::kMove;
  // How often a cluster reaches the point after the event: not always, once or twice, or often.
  enum class Reached : std::uint8_t { kSeldom, kOnce, kOften } reached = Reached::kSeldom;
};
[[nodiscard]] std::span<const PointFacts> AllPoints();
// Returns the facts of a name in fault_points.def.
[[nodiscard]] const PointFacts& FactsOf(std::string_view point);

// Returns the event for the steps of a type of procedure; nullopt: unknown type.
[[nodiscard]] std::optional<Occasion> OccasionOfType(std::string_view type);
// Returns kInvalidArgument when the order names an unknown type of procedure.
[[nodiscard]] Result<Occasion> OccasionOf(const PointOrder& order);
// True when a master reaches the point, false when a region server does.
[[nodiscard]] bool IsMastersPoint(const PointOrder& order);

}  // namespace ratchet::chaos
