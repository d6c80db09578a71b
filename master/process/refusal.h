// A master that must not start at its root (S114: no start without the past) writes the cause to ZooKeeper before it
// ends. `ratchet why` reads it while no master is active.
#pragma once

#include <optional>
#include <string>

#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/process/master_config.h"

namespace ratchet::master {

// Blocks for some seconds at most. `session`: null if there is none yet; the function then opens one.
void NoteRefusal(const MasterConfig& config, zk::ZkSession* session, const std::string& why);

// "host:port: ", the beginning of each text that this master leaves.
[[nodiscard]] std::string RefusalStart(const MasterConfig& config);

// The problem that the status and the page of another master show. Empty: no refusal is known. nullopt: ZooKeeper does
// not answer. Blocks for one look-up.
[[nodiscard]] std::optional<std::string> RefusalProblem(zk::ZkSession& session, const zk::ZkPaths& paths);

}  // namespace ratchet::master
