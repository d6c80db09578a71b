// Resolves names that a user types: tables, and regions by the beginning of their encoded names. Asks the master.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/client/admin.h"
#include "common/model/proto/common.pb.h"

namespace ratchet::cli {

struct NamedRegion {
  std::string table;  // "t", "ns:t"
  std::string encoded;
};
// The one region whose encoded name is `text` or begins with it. kNotFound, or kInvalidArgument with the candidates.
[[nodiscard]] Result<NamedRegion> ChooseRegion(std::string_view text, const std::vector<NamedRegion>& regions);

// The encoded name of a full region name, of an encoded one or of the beginning of one ("t/56f9" too). Asks the master
// only if the text is not a whole encoded name.
[[nodiscard]] Result<std::string> FindRegion(client::Admin& admin, const std::string& text);
// A full server name, or the live server at "host:port".
[[nodiscard]] Result<ServerName> FindServer(client::Admin& admin, const std::string& text);
// "table/encoded", as pauses and locks name it.
[[nodiscard]] Result<std::string> FindRegionResource(client::Admin& admin, const std::string& text);

// "host,port,startcode".
[[nodiscard]] std::string NameText(const hbase::pb::ServerName& name);

// On a terminal: asks on standard error, and returns true when the answer is yes. Elsewhere, or with `yes`: true.
[[nodiscard]] bool Confirmed(const std::string& question, bool yes);

}  // namespace ratchet::cli
