#include "master/startup/name_proof.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "common/model/name_rules.h"
#include "master/cluster/errors.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

Status ProveServerName(ClusterFiles& files, const ServerName& server) {
  const Status valid = CheckServerName(server);
  if (!valid.ok() && !RATCHET_MUTANT("master.any_server_name")) return IllegalRequest(valid.error().message());
  const auto directories = files.ListLogDirectories();
  if (!directories.ok()) return directories.error().Annotate("listing the logs of " + server.ToString());
  const auto own = std::find_if(directories->begin(), directories->end(),
                                [&server](const LogDirectory& directory) { return directory.server == server; });
  const bool is_listed = own != directories->end();
  if (is_listed && own->fenced) return YouAreDead(server, "has been fenced");
  if (is_listed || RATCHET_MUTANT("master.any_server_name")) return Ok();
  // The directory may have existed: a starting master may have expired the server before it registered, and the crash
  // procedure of a server without regions is quick. Such a server restarts under another start code.
  return YouAreDead(server,
                    "has no log directory wals/<server> below this cluster's --root, which a region server makes "
                    "before it registers");
}

}  // namespace ratchet::master
