#include "chaos/faults/occasions.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "common/base/check.h"

namespace ratchet::chaos {
namespace {

using enum Occasion;
using Reached = PointFacts::Reached;
constexpr bool kServer = false;
constexpr bool kMaster = true;

constexpr std::array kPoints{
    // Seeds draw from this table: the order and the Reached values must not change, and new points go to the end.
    PointFacts{"regionserver.before_open", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.after_open", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.before_close", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.after_close", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.before_report", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.after_report", kServer, kMove, Reached::kOften},
    // A server splits a log only after another one has died.
    PointFacts{"regionserver.before_split", kServer, kServerCrash, Reached::kOnce},
    PointFacts{"regionserver.after_split", kServer, kServerCrash, Reached::kOnce},
    PointFacts{"regionserver.before_write_reply", kServer, kMove, Reached::kOften},
    PointFacts{"log.before_write", kServer, kMove, Reached::kOften},
    PointFacts{"log.before_sync", kServer, kMove, Reached::kOften},
    PointFacts{"log.before_check", kServer, kMove, Reached::kOften},
    PointFacts{"split.before_publish", kServer, kServerCrash, Reached::kOnce},
    PointFacts{"split.before_done", kServer, kServerCrash, Reached::kOnce},
    PointFacts{"manifest.created", kServer, kMove, Reached::kOften},
    PointFacts{"manifest.before_write", kServer, kMove, Reached::kOften},
    PointFacts{"io.append", kServer, kMove, Reached::kOften},
    PointFacts{"io.sync", kServer, kMove, Reached::kOften},
    PointFacts{"io.synced", kServer, kMove, Reached::kOften},
    PointFacts{"io.sync_directory", kServer, kMove, Reached::kOften},
    PointFacts{"io.create", kServer, kMove, Reached::kOften},
    PointFacts{"io.rename", kServer, kMove, Reached::kOften},
    // A master claims its store once.
    PointFacts{"store.claimed", kMaster, kMove, Reached::kOnce},
    PointFacts{"store.sealed", kMaster, kMove, Reached::kOnce},
    PointFacts{"store.before_write", kMaster, kMove, Reached::kOften},
    PointFacts{"store.before_sync", kMaster, kMove, Reached::kOften},
    PointFacts{"store.before_check", kMaster, kMove, Reached::kOften},
    PointFacts{"executor.before_commit", kMaster, kMove, Reached::kOften},
    PointFacts{"executor.after_commit", kMaster, kMove, Reached::kOften},
    PointFacts{"executor.before_step", kMaster, kMove, Reached::kOften},
    PointFacts{"master.before_send", kMaster, kMove, Reached::kOften},
    PointFacts{"master.before_fence", kMaster, kServerCrash, Reached::kOften},
    PointFacts{"master.after_fence", kMaster, kServerCrash, Reached::kOften},
    PointFacts{"master.before_report", kMaster, kMove, Reached::kOften},
    PointFacts{"rpc.before_reply", kServer, kMove, Reached::kOften},
    PointFacts{"regionserver.before_read_reply", kServer, kMove, Reached::kSeldom},
    PointFacts{"io.preallocate", kServer, kMove, Reached::kSeldom},
    PointFacts{"io.unlink", kServer, kMove, Reached::kSeldom},
    PointFacts{"io.cut", kServer, kMove, Reached::kSeldom},
    PointFacts{"executor.submit_committed", kMaster, kMove, Reached::kSeldom},
    PointFacts{"log.before_roll", kServer, kMove, Reached::kSeldom},
    PointFacts{"manifest.before_rename", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.replayed", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.file_written", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.manifest_written", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.before_close_check", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.compacted", kServer, kMove, Reached::kSeldom},
    PointFacts{"region.before_unneeded", kServer, kMove, Reached::kSeldom},
    PointFacts{"master.before_retire", kMaster, kMove, Reached::kSeldom},
    PointFacts{"io.link", kServer, kTable, Reached::kSeldom},
    PointFacts{"build.sealed", kServer, kTable, Reached::kOnce},
    PointFacts{"build.linked", kServer, kTable, Reached::kOnce},
    PointFacts{"build.published", kServer, kTable, Reached::kOnce},
    PointFacts{"copy.published", kServer, kTable, Reached::kOnce},
    // Reached only if the cluster has a replication peer.
    PointFacts{"replication.before_ship", kServer, kNone, Reached::kSeldom},
    PointFacts{"replication.after_ship", kServer, kNone, Reached::kSeldom},
    // Reached only if addresses are names.
    PointFacts{"names.lookup", kServer, kNone, Reached::kSeldom},
    // Each master comes by once a step of its activation, before anything else.
    PointFacts{"master.activation", kMaster, kMove, Reached::kSeldom},
    PointFacts{"master.file_action", kMaster, kTable, Reached::kSeldom},
};

struct TypeFacts {
  std::string_view type;
  Occasion occasion;
};
constexpr std::array kTypeFacts{
#define RATCHET_PROCEDURE(type, occasion) TypeFacts{#type, occasion},
#include "master/procedures/procedures.def"
    TypeFacts{"LockProcedure", kNone},  // of holders outside the cluster
};

}  // namespace

std::span<const PointFacts> AllPoints() { return kPoints; }

const PointFacts& FactsOf(std::string_view point) {
  const auto found =
      std::find_if(kPoints.begin(), kPoints.end(), [&](const PointFacts& facts) { return facts.name == point; });
  RATCHET_CHECK(found != kPoints.end(), "the fault point {} has no occasion", point);
  return *found;
}

std::optional<Occasion> OccasionOfType(std::string_view type) {
  const auto found =
      std::find_if(kTypeFacts.begin(), kTypeFacts.end(), [&](const TypeFacts& facts) { return facts.type == type; });
  if (found == kTypeFacts.end()) return std::nullopt;
  return found->occasion;
}

Result<Occasion> OccasionOf(const PointOrder& order) {
  const PointFacts& facts = FactsOf(order.name);
  const bool of_step = order.name.starts_with("executor.") && !order.match.empty();
  if (!of_step) return facts.occasion;
  const std::string_view type = std::string_view(order.match).substr(0, order.match.find(':'));
  if (const auto occasion = OccasionOfType(type)) return *occasion;
  return Error(Code::kInvalidArgument,
               fmt::format("'{}' is not a known type of procedure; ratchet-master --list-steps lists them", type));
}

bool IsMastersPoint(const PointOrder& order) { return FactsOf(order.name).master; }

}  // namespace ratchet::chaos
