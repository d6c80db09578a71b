// The certificates of a new cluster, as files: an authority, one certificate for each host, and one for administrators.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::tls {

inline constexpr std::size_t kMostHosts = 1'000;
inline constexpr const char* kAuthorityFile = "ca.pem";
inline constexpr const char* kAuthorityKeyFile = "ca-key.pem";
inline constexpr const char* kAdminFile = "admin.pem";

// Writes ca.pem, ca-key.pem, admin.pem and NAME.pem for each host into `directory`, all with mode 0600, and returns
// their names. A host is one or more names and addresses of the same machine, joined by '+'; the first one names its
// file. Makes the directory (mode 0700). kAlreadyExists: one of the files exists; none of them is overwritten.
[[nodiscard]] Result<std::vector<std::string>> WriteClusterCertificates(const std::string& directory,
                                                                        const std::vector<std::string>& hosts);

}  // namespace ratchet::tls
