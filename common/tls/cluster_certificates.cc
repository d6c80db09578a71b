#include "common/tls/cluster_certificates.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/core.h>

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

Result<std::vector<NamedText>> Make(const std::vector<std::string>& hosts) {
  if (hosts.empty() || hosts.size() > kMostHosts)
    return Error(Code::kInvalidArgument, fmt::format("name 1 to {} hosts", kMostHosts));
  RATCHET_ASSIGN(const auto authority, CertificateAuthority::Make("Ratchet cluster authority", kDays));
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

Status WriteNew(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const Code code = errno == EEXIST ? Code::kAlreadyExists : Code::kIo;
    return Error(code, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  std::size_t written = 0;
  bool good = ::fchmod(descriptor, 0600) == 0;
  while (good && written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    good = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  good = good && ::fsync(descriptor) == 0;
  ::close(descriptor);
  return good ? Ok() : Status(Error(Code::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno))));
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
    RATCHET_TRY(WriteNew(directory + "/" + file.name, file.text));
    names.push_back(file.name);
  }
  return names;
}

}  // namespace ratchet::tls
