#include "common/zk/refused_start.h"

#include <fmt/core.h>

#include "common/zk/cluster_place.h"

namespace ratchet::zk {
namespace {

std::string NodeOf(const ZkPaths& paths) { return paths.parent + "/refused-master"; }

}  // namespace

Status NoteRefusedStart(ZkSession& session, const ZkPaths& paths, const std::string& cluster_id,
                        const std::string& text) {
  RATCHET_ASSIGN(const PlaceIdentity place, ReadPlace(session, paths));
  if (cluster_id.empty() || place.cluster_id != cluster_id)
    return Error(Code::kFailedPrecondition, fmt::format("{} is not of this cluster", paths.ClusterId()));
  const std::string bytes = text.substr(0, kMostRefusedText);
  const Status made = session.Create(NodeOf(paths), bytes, NodeKind::kPersistent);
  if (made.ok() || made.error().code() != Code::kAlreadyExists) return made;
  return session.Set(NodeOf(paths), bytes);
}

Result<std::string> ReadRefusedStart(ZkSession& session, const ZkPaths& paths) {
  RATCHET_ASSIGN(const NodeData node, session.Get(NodeOf(paths)));
  std::string text = node.data.substr(0, kMostRefusedText);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = ' ';
  }
  return text;
}

Status ForgetRefusedStart(ZkSession& session, const ZkPaths& paths) {
  const Status gone = session.Delete(NodeOf(paths));
  return gone.ok() || gone.error().code() == Code::kNotFound ? Ok() : gone;
}

Status ForgetOwnRefusedStart(ZkSession& session, const ZkPaths& paths, const std::string& start) {
  const auto refused = ReadRefusedStart(session, paths);
  if (!refused.ok()) return refused.error().code() == Code::kNotFound ? Ok() : Status(refused.error());
  return refused->starts_with(start) ? ForgetRefusedStart(session, paths) : Ok();
}

}  // namespace ratchet::zk
