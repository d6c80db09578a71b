// The persistent node <parent>/refused-master: why the last master that was refused at its start is not the leader,
// S114 (no start without the past). For `ratchet why` and `ratchet status` while no master is active. No process
// decides anything by it; the active master removes it.
//
// The functions block, and end within the session's time-out.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

inline constexpr std::size_t kMostRefusedText = 4096;

// Writes or replaces the node if the place belongs to the cluster of this id (cluster_place.h); otherwise nothing is
// written (kFailedPrecondition).
[[nodiscard]] Status NoteRefusedStart(ZkSession& session, const ZkPaths& paths, const std::string& cluster_id,
                                      const std::string& text);
// kNotFound: no start was refused since a master was last active.
[[nodiscard]] Result<std::string> ReadRefusedStart(ZkSession& session, const ZkPaths& paths);
[[nodiscard]] Status ForgetRefusedStart(ZkSession& session, const ZkPaths& paths);
// Removes the node if its text begins with `start`: a master that starts removes its own note.
[[nodiscard]] Status ForgetOwnRefusedStart(ZkSession& session, const ZkPaths& paths, const std::string& start);

}  // namespace ratchet::zk
