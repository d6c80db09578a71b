// The command line's own diagnosis when no active master answers: from ZooKeeper's members, from the nodes in
// ZooKeeper, and from connections to the addresses in them.
#pragma once

#include <string>

#include "common/model/proto/why.pb.h"
#include "common/tools/cli/session.h"

namespace ratchet::cli {

// One call to one address, without retries. `address`: "host:port".
[[nodiscard]] Result<pb::WhyResponse> AskDirectly(Session& session, const std::string& address,
                                                  const pb::WhyRequest& request, Millis patience);
// Adds that a standby has answered, and that the master which it considers active does not.
void AddSilentActive(pb::WhyResponse& answer, const std::string& address, const Error& error);
// `error`: the failure of the request to the active master.
[[nodiscard]] pb::WhyResponse LookFromOutside(Session& session, const Error& error, Millis patience);

// The reason why the last master that was started is not the leader (S114: no start without the past), while no master
// is registered as active. Returns an empty string if no start was refused, or if ZooKeeper does not answer within a
// second.
[[nodiscard]] std::string RefusedStartText(Session& session);

}  // namespace ratchet::cli
