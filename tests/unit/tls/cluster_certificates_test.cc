#include "common/tls/cluster_certificates.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

class ClusterCertificatesTest : public TlsTest {
 protected:
  [[nodiscard]] std::string Path(const std::string& name = "") const { return directory_ + "/new/" + name; }
  [[nodiscard]] TlsFiles FilesOf(const std::string& name) const {
    TlsFiles files;
    files.certificate = Path(name);
    files.trust = Path(kAuthorityFile);
    return files;
  }
};

TEST_F(ClusterCertificatesTest, HostsAndAdministratorsCanConnect) {
  const auto written = WriteClusterCertificates(Path(), {"a.example+10.0.0.1", "b.example"});
  ASSERT_TRUE(written.ok()) << written.error().ToString();
  EXPECT_EQ(*written,
            (std::vector<std::string>{"ca.pem", "ca-key.pem", "admin.pem", "a.example.pem", "b.example.pem"}));
  for (const std::string& name : *written) {
    struct stat facts {};
    ASSERT_EQ(::stat(Path(name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << name;
  }
  const auto admin = Context(FilesOf(kAdminFile), ClientCertificates::kNone, TlsMaterial::Use::kClient);
  const auto a = Context(FilesOf("a.example.pem"));
  const auto b = Context(FilesOf("b.example.pem"));
  const auto connects = [](const auto& client, const auto& server, const std::string& host) {
    Pair pair{client->Connect(host), server->Accept(), {}, {}};
    return pair.Handshake().ok();
  };
  EXPECT_TRUE(connects(admin, a, "a.example"));
  EXPECT_TRUE(connects(b, a, "10.0.0.1"));
  EXPECT_TRUE(connects(a, b, "b.example"));
  EXPECT_FALSE(connects(a, b, "a.example"));
  EXPECT_FALSE(TlsMaterial::Read(FilesOf(kAdminFile), TlsMaterial::Use::kMember).ok())
      << "an administrator's is not for servers";
}

TEST_F(ClusterCertificatesTest, NoFileIsOverwritten) {
  ASSERT_TRUE(WriteClusterCertificates(Path(), {"a.example"}).ok());
  const auto read = [&] {
    std::ifstream file(Path("a.example.pem"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = read();
  const auto again = WriteClusterCertificates(Path(), {"a.example"});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(read(), before);
}

// Java's client keeps trusted authorities by their names. Two of the same name could not be trusted at a time.
TEST_F(ClusterCertificatesTest, EachAuthorityHasItsOwnName) {
  const auto name = [&](const std::string& directory) {
    EXPECT_TRUE(WriteClusterCertificates(directory_ + directory, {"a.example"}).ok());
    std::FILE* const file = std::fopen((directory_ + directory + "/ca.pem").c_str(), "r");
    X509* const certificate = file == nullptr ? nullptr : PEM_read_X509(file, nullptr, nullptr, nullptr);
    if (file != nullptr) std::fclose(file);
    std::array<char, 200> text{};
    if (certificate != nullptr) X509_NAME_oneline(X509_get_subject_name(certificate), text.data(), text.size());
    X509_free(certificate);
    return std::string(text.data());
  };
  const std::string one = name("/one");
  EXPECT_TRUE(one.starts_with("/CN=Ratchet cluster authority ")) << one;
  EXPECT_NE(one, name("/two"));
}

TEST_F(ClusterCertificatesTest, NamesThatAreNoHostsAreRefused) {
  for (const std::vector<std::string>& hosts :
       {std::vector<std::string>{}, {""}, {"../x"}, {"a", "a"}, {"admin"}, {"ca"}, {"a+"}, {"a b"}, {".hidden"}}) {
    EXPECT_FALSE(WriteClusterCertificates(Path(), hosts).ok());
    EXPECT_FALSE(std::filesystem::exists(Path())) << "nothing is written";
  }
}

}  // namespace
}  // namespace ratchet::tls
