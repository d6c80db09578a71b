// Which process is at the other end of a loopback connection: through /proc/net/tcp and /proc/<pid>/fd.
//
// Only children of this process are looked at, and told apart by their --port argument: nothing has to be registered,
// so a process that connects in its first millisecond is recognised. Not thread-safe. A look reads the table of all
// connections and the descriptors of this process and its children, so under a flood of connections it takes long: it
// has a thread of its own (links.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/cluster/child_process.h"

namespace ratchet::chaos {

// The inode of the socket with these ports in the text of /proc/net/tcp, seen from its owner.
[[nodiscard]] std::optional<std::uint64_t> FindInode(std::string_view tcp_table, std::uint16_t local_port,
                                                     std::uint16_t remote_port);
// The value after "--port" in the text of /proc/<pid>/cmdline.
[[nodiscard]] std::optional<std::uint16_t> PortArgument(std::string_view command_line);

class SourceFinder {
 public:
  explicit SourceFinder(std::map<std::uint16_t, std::string> name_of_port) : name_of_port_(std::move(name_of_port)) {}
  // "client" for what is none of the named processes.
  [[nodiscard]] std::string NameOf(std::uint16_t their_port, std::uint16_t our_port);

 private:
  std::string Search(std::uint64_t inode);

  const std::map<std::uint16_t, std::string> name_of_port_;
  std::map<std::string, ProcessId> known_;
};

}  // namespace ratchet::chaos
