// Sends impossible requests to one process, one after the other, and counts how they are answered. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "chaos/hostile/message_maker.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::chaos {

struct HostileCounts {
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;  // answered with a message
  std::uint64_t refused = 0;   // answered with an exception
  std::uint64_t cut = 0;       // the connection was closed
  std::uint64_t unanswered = 0;
  std::set<std::string> methods;  // methods that were answered or refused by a service that has them
};

class HostileClient {
 public:
  // `names` are the caller's own tables, regions and rows; may be empty. With `cluster_key` the client is treated as a
  // member (S77: members only), and its values reach code where a lying member may do any harm: for tests of decoders,
  // not for clusters.
  HostileClient(rpc::Endpoint endpoint, std::uint64_t seed, std::vector<std::string> names,
                const std::string& cluster_key = {});
  ~HostileClient();

  // Sends the next request of the seed's sequence. Returns after its answer, or after the timeout of a call.
  void SendOne();
  [[nodiscard]] const HostileCounts& counts() const { return counts_; }
  // Returns the last request, for a reader that looks for the one that did harm.
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  const rpc::Endpoint endpoint_;
  MessageMaker maker_;
  rpc::ChannelPool pool_;
  HostileCounts counts_;
  std::string last_;
};

}  // namespace ratchet::chaos
