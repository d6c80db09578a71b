// A client with one token, while keys of tokens are replaced, masters fail over, and a region server begins.
#include <map>
#include <optional>

#include "common/identity/token_check.h"
#include "master/cluster/rights_book.h"
#include "master/requests/rights_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

// The keys of the active master, as the check of its own callers has them (own_rights.h).
class BookKeys final : public rights::TokenKeySource {
 public:
  explicit BookKeys(const RightsBook& book) : book_(book) {}
  [[nodiscard]] std::shared_ptr<const rights::TokenKeys> token_keys() const override { return book_.TokenKeys(); }
  [[nodiscard]] std::shared_ptr<const rights::RevokedTokens> revoked_tokens() const override {
    return book_.RevokedTokens();
  }

 private:
  const RightsBook& book_;
};

// The token lives for seven days. Test 51 of identity.
class LongTokenTest : public MasterTest {
 protected:
  static constexpr std::int64_t kDayMs = 86'400'000;
  static constexpr std::int64_t kLivesMs = 7 * kDayMs;

  [[nodiscard]] const RightsBook& book() { return master().logic().rights; }
  // As the service of tokens does it with the default settings.
  void MakeKey() {
    const std::int64_t now = WallMs();
    std::optional<Status> answer;
    master().logic().rights_admin.ReplaceKey(
        {std::string(rights::kTokenKeyBytes, secret_++), false, now, now + kDayMs + kLivesMs, now}, {"me", {}},
        [&answer](const Status& done) { answer = done; });
    ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
    ASSERT_TRUE(answer->ok()) << answer->error().ToString();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  void MakeToken() {
    IssuedToken token;
    token.user = "etl";
    token.key_id = 1;
    token.issued_ms = WallMs();
    token.expires_ms = token.issued_ms + kLivesMs;
    std::optional<Result<ProcId>> pid;
    master().logic().rights_admin.IssueToken(token, {"me", {}},
                                             [&pid](const Result<ProcId>& made, const std::string&) { pid = made; });
    ASSERT_TRUE(cluster_.RunUntil([&] { return pid.has_value(); }));
    ASSERT_TRUE(pid->ok()) << pid->error().ToString();
    const auto sequence = static_cast<std::int64_t>((*pid)->value());
    auto made = identity::SignToken(*book().TokenKeys(),
                                    {token.user, token.key_id, token.issued_ms, token.expires_ms, sequence});
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    token_ = *std::move(made);
  }
  [[nodiscard]] std::int64_t WallMs() { return cluster_.time().WallMillis(); }
  // "": every process accepts a login with the token, and keeps a connection that has it. Otherwise the first that does
  // not, and why.
  std::string Refusal() {
    const BookKeys own(book());
    std::map<std::string, const rights::TokenKeySource*> sources{{"master", &own}};
    for (sim::SimServer* server : cluster_.Alive())
      if (!server->fenced()) sources[server->name().ToString()] = &server->rights;
    for (const auto& [name, source] : sources) {
      const identity::TokenCheck check(*source, cluster_.time());
      const auto password = check.PasswordOf(token_.identifier);
      if (!password.ok()) return name + ": " + password.error().message();
      if (*password != token_.password) return name + ": another password";
      if (!check.Holds(*check.UserOf(token_.identifier))) return name + ": closes the connection";
    }
    return "";
  }
  // A standby becomes active; it has to know the token before it sends anything to the servers.
  void FailOver() {
    cluster_.KillMaster();
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
    EXPECT_EQ(Refusal(), "") << "of the new master";
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }

  char secret_ = 'a';
  identity::IssuedToken token_;
};

TEST_F(LongTokenTest, ATokenOutlivesThreeKeysAndFailoversAndEndsInTime) {
  cluster_.Boot(2);
  MakeKey();
  MakeToken();
  if (HasFatalFailure()) return;
  const std::int64_t expires = token_.expires_ms;
  EXPECT_EQ(Refusal(), "");
  for (const int day : {1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE(day);
    cluster_.time().Advance(Millis(kDayMs));
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_EQ(Refusal(), "");
    if (day % 2 == 0) MakeKey();
    FailOver();
    EXPECT_EQ(Refusal(), "");
    if (HasFailure()) return;
  }
  EXPECT_EQ(book().TokenKeys()->size(), 4U);
  EXPECT_NE(book().TokenKeys()->back().secret, book().TokenKeys()->front().secret);
  // A server that begins now has the keys from the answer to its first heartbeat.
  sim::SimServer& late = cluster_.AddServer("late");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  ASSERT_EQ(cluster_.Alive().size(), 3U);
  EXPECT_NE(Refusal().find("does not have the keys of tokens yet"), std::string::npos) << Refusal();
  late.LearnRights(*book().EncodedImage(master().epoch()));
  EXPECT_EQ(Refusal(), "");
  const std::int64_t skew = identity::kTokenClockSkew.count();
  cluster_.time().Advance(Millis(expires + skew - WallMs()));
  EXPECT_EQ(WallMs(), expires + skew);
  EXPECT_EQ(Refusal(), "");
  cluster_.time().Advance(Millis(1));
  EXPECT_NE(Refusal().find("has expired"), std::string::npos) << Refusal();
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_NE(Refusal().find("has expired"), std::string::npos) << Refusal();
}

}  // namespace
}  // namespace ratchet::master
