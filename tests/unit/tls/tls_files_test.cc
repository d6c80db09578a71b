#include "common/tls/tls_files.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

class TlsFilesTest : public TlsTest {
 protected:
  // The reason of a refusal; empty: accepted.
  static std::string Refusal(const TlsFiles& files, TlsMaterial::Use use = TlsMaterial::Use::kMember) {
    const auto read = TlsMaterial::Read(files, use);
    return read.ok() ? std::string() : read.error().message();
  }
  [[nodiscard]] std::string RefusalOf(const CertificateRequest& request,
                                      TlsMaterial::Use use = TlsMaterial::Use::kMember) const {
    return Refusal(Files(request), use);
  }
};

TEST_F(TlsFilesTest, PemAndPkcs12AreRead) {
  EXPECT_EQ(Refusal(Files()), "");
  TlsFiles files = Files();
  files.certificate = Write("member.p12", *authority_->IssuePkcs12({"member", {"localhost"}}, "a password"));
  EXPECT_NE(Refusal(files).find("check the password"), std::string::npos) << Refusal(files);
  files.password = Write("password", "a password\n");
  EXPECT_EQ(Refusal(files), "");
  const auto read = TlsMaterial::Read(files, TlsMaterial::Use::kMember);
  EXPECT_NE((*read)->description().find("CN=member"), std::string::npos) << (*read)->description();
}

TEST_F(TlsFilesTest, JavasOwnFormatsAreRefusedWithTheConversion) {
  TlsFiles files = Files();
  for (const auto& [name, format] : {std::pair{"store.jks", "JKS"}, {"store.bcfks", "BCFKS"}}) {
    files.certificate = Write(name, "\xfe\xed\xfe\xed and more");
    const std::string refusal = Refusal(files);
    EXPECT_NE(refusal.find(std::string(format) + " is not supported"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("keytool -importkeystore -srckeystore " + files.certificate), std::string::npos) << refusal;
  }
  files = Files();
  files.trust = Write("trust.jks", "\xfe\xed\xfe\xed and more");
  EXPECT_NE(Refusal(files).find("JKS is not supported"), std::string::npos);
}

TEST_F(TlsFilesTest, CertificatesThatOthersWouldRefuseAreRefusedAtTheStart) {
  CertificateRequest request{"member", {"localhost"}};
  request.age = std::chrono::hours(20);
  request.lifetime = std::chrono::hours(10);
  EXPECT_NE(RefusalOf(request).find("expired"), std::string::npos) << RefusalOf(request);
  request.age = -std::chrono::hours(5);
  EXPECT_NE(RefusalOf(request).find("not yet valid"), std::string::npos) << RefusalOf(request);
  for (const auto& [server, client] : {std::pair{true, false}, {false, true}}) {
    request = {"member", {"localhost"}};
    request.for_server = server;
    request.for_client = client;
    EXPECT_NE(RefusalOf(request).find(server ? "a client's" : "a server's"), std::string::npos) << RefusalOf(request);
  }
  EXPECT_EQ(RefusalOf(request, TlsMaterial::Use::kClient), "");
  TlsFiles files = Files();
  files.trust = Write("other.pem", (*CertificateAuthority::Make("other", 10))->CertificatePem());
  EXPECT_NE(Refusal(files).find("unable to get local issuer"), std::string::npos) << Refusal(files);
}

TEST_F(TlsFilesTest, AKeyOfAnotherCertificateIsRefused) {
  const std::string one = *authority_->Issue({"one", {"localhost"}});
  const std::string two = *authority_->Issue({"two", {"localhost"}});
  const std::string cut = "-----BEGIN CERTIFICATE-----";
  TlsFiles files = Files();
  files.certificate = Write("mixed.pem", one.substr(0, one.find(cut)) + two.substr(two.find(cut)));
  EXPECT_NE(Refusal(files).find("does not belong"), std::string::npos) << Refusal(files);
  // The key's certificate is last.
  files.certificate =
      Write("last.pem", one.substr(0, one.find(cut)) + authority_->CertificatePem() + one.substr(one.find(cut)));
  EXPECT_NE(Refusal(files).find("must be first"), std::string::npos) << Refusal(files);
}

TEST_F(TlsFilesTest, DamagedFilesAreRefused) {
  const std::string whole = *authority_->Issue({"member", {"localhost"}});
  TlsFiles files = Files();
  for (const std::string& text :
       {std::string(), std::string("nonsense"), whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 100),
        whole.substr(whole.size() / 2), std::string(kMostFileBytes + 1, 'x'), std::string("\x30\x82\x01", 3)}) {
    files.certificate = Write("member.pem", text);
    EXPECT_NE(Refusal(files), "") << text.size();
  }
  files.certificate = directory_ + "/missing.pem";
  EXPECT_NE(Refusal(files).find("cannot open"), std::string::npos);
  files.certificate = directory_;
  EXPECT_NE(Refusal(files).find("not a regular file"), std::string::npos) << Refusal(files);
}

TEST_F(TlsFilesTest, AKeyThatOthersMayReadIsRefused) {
  const TlsFiles files = Files();
  for (const unsigned mode : {0604U, 0620U, 0602U}) {
    ASSERT_EQ(::chmod(files.certificate.c_str(), mode), 0);
    EXPECT_NE(Refusal(files).find("chmod 600"), std::string::npos) << mode;
  }
  ASSERT_EQ(::chmod(files.certificate.c_str(), 0640), 0);
  EXPECT_EQ(Refusal(files), "");
}

TEST_F(TlsFilesTest, HostsWithCharactersOfTheSyntaxAreRefused) {
  for (const char* host : {"a,IP:1.2.3.4", "a b", "", "a\nb", "x=y"})
    EXPECT_FALSE(authority_->Issue({"member", {host}}).ok()) << host;
  EXPECT_FALSE(authority_->Issue({"", {"localhost"}}).ok());
}

}  // namespace
}  // namespace ratchet::tls
