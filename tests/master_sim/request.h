// One request of an administrator, and its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "procedure/api/executor.h"

namespace ratchet::simulation {

struct Request {
  enum class Kind : std::uint8_t {
    kCreate,
    kEnable,
    kDisable,
    kDelete,
    kTruncate,
    kAlter,
    kFlush,
    kCompact,
    kDrain,
    kUndrain,
    kSplit,
    kMerge,
    kEmpty,
    kMove,
    kReopen,
    kAssign,
    kUnassign,
    // Kinds of Upkeep (upkeep.h).
    kSnapshot,
    kPutBack,
    kExport,
    kImport,
    kMakeNamespace,
    kChangeNamespace,
    kDropNamespace,
    kAddPeer,
    kUpdatePeer,
    kEnablePeer,
    kDisablePeer,
    kRemovePeer
  };
  Kind kind = Kind::kCreate;
  TableName table;
  std::string region;                   // kSplit to kUnassign
  std::vector<std::string> neighbours;  // kMerge: with `region`
  std::string place;                    // kExport, kImport: directory of the copy outside of the cluster
  std::string key;                      // kSplit; in upkeep: name of a snapshot, a namespace or a peer
  std::optional<ServerName> target;     // kMove, kDrain, kUndrain
  int regions = 1;                      // kCreate; kTruncate: 1 for one region
  std::string family;                   // kAlter: is added
  procedure::Nonce nonce;
  bool asked = false;  // sent to the current master, which has not answered yet
  bool refused = false;
  ProcId pid;                      // invalid: not answered yet
  std::optional<std::string> end;  // "success", or the error
  std::string result;              // result of a success
  bool restores = false;           // kPutBack: the table was there, and is disabled

  [[nodiscard]] bool over() const { return refused || end.has_value(); }
  [[nodiscard]] bool succeeded() const { return end == "success"; }
};

}  // namespace ratchet::simulation
