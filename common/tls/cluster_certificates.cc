#include "common/tls/cluster_certificates.h"

#include <openssl/rand.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/small_file.h"
#include "common/tls/certificate_authority.h"

namespace ratchet::tls {
namespace {

constexpr int kDays = 825;  // the longest lifetime that common clients accept

struct NamedText {
  std::string name;
  std::string text;
};

std::vector<std::string> NamesOf(const std::string& host) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= host.size()) {
    const std::size_t end = std::min(host.find('+', begin), host.size());
    names.push_back(host.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Each authority has a name of its own: Java's client keeps trusted authorities by their names, and would forget the
// old one while a cluster changes to a new one.
Result<std::string> AuthorityName() {
  std::array<unsigned char, 8> random{};
  if (RAND_bytes(random.data(), random.size()) != 1) return Error(Code::kIo, "OpenSSL has no random bytes");
  return fmt::format("Ratchet cluster authority {:02x}", fmt::join(random, ""));
}

Result<std::vector<NamedText>> Make(const std::vector<std::string>& hosts) {
  if (hosts.empty() || hosts.size() > kMostHosts)
    return Error(Code::kInvalidArgument, fmt::format("name 1 to {} hosts", kMostHosts));
  RATCHET_ASSIGN(const std::string name, AuthorityName());
  RATCHET_ASSIGN(const auto authority, CertificateAuthority::Make(name, kDays));
  std::vector<NamedText> files{{kAuthorityFile, authority->CertificatePem()}, {kAuthorityKeyFile, authority->KeyPem()}};
  CertificateRequest admin{"admin", {}};
  admin.for_server = false;
  RATCHET_ASSIGN(std::string text, authority->Issue(admin));
  files.push_back({kAdminFile, std::move(text)});
  std::set<std::string> taken{kAuthorityFile, kAuthorityKeyFile, kAdminFile};
  for (const std::string& host : hosts) {
    const std::vector<std::string> names = NamesOf(host);
    const std::string file = names.front() + ".pem";
    if (names.front().empty() || names.front().front() == '.' || file.find('/') != std::string::npos ||
        !taken.insert(file).second)
      return Error(Code::kInvalidArgument, fmt::format("'{}' cannot name the file of a host", host));
    RATCHET_ASSIGN(std::string issued, authority->Issue({names.front(), names}));
    files.push_back({file, std::move(issued)});
  }
  return files;
}

}  // namespace

Result<std::vector<std::string>> WriteClusterCertificates(const std::string& directory,
                                                          const std::vector<std::string>& hosts) {
  RATCHET_ASSIGN(const std::vector<NamedText> files, Make(hosts));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return Error(Code::kIo, fmt::format("cannot make {}: {}", directory, std::strerror(errno)));
  for (const NamedText& file : files) {
    struct stat facts {};
    const std::string path = directory + "/" + file.name;
    if (::lstat(path.c_str(), &facts) == 0)
      return Error(Code::kAlreadyExists, fmt::format("{} exists; choose another directory, or remove the file", path));
  }
  std::vector<std::string> names;
  for (const NamedText& file : files) {
    RATCHET_TRY(WriteNewSecret(directory + "/" + file.name, file.text));
    names.push_back(file.name);
  }
  return names;
}

}  // namespace ratchet::tls
