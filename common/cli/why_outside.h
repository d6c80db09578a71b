// What the command line finds out by itself where no active master answers: from ZooKeeper's members, from the nodes in
// ZooKeeper, and from connections to the addresses in them.
#pragma once

#include <string>

#include "common/cli/commands.h"
#include "common/model/proto/why.pb.h"

namespace ratchet::cli {

// One call to one address, without retries. `address`: "host:port".
[[nodiscard]] Result<pb::WhyResponse> AskDirectly(Session& session, const std::string& address,
                                                  const pb::WhyRequest& request, Millis patience);
// A standby has answered, and the master that it calls active does not.
void AddSilentActive(pb::WhyResponse& answer, const std::string& address, const Error& error);
// `error`: how asking the active master has failed.
[[nodiscard]] pb::WhyResponse LookFromOutside(Session& session, const Error& error, Millis patience);

}  // namespace ratchet::cli
