// The rights of users: the record, what every region server knows of it and when a change is answered, and what
// creation and deletion do with them.
#include "common/base/mutant.h"
#include "master/cluster/rights_book.h"
#include "master/requests/namespace_admin.h"
#include "master/requests/rights_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using rights::Action;
using rights::Actions;
using rights::RightsEntry;
using rights::Scope;

const TableName kTable("default", "t");

TEST(RightsKeyTest, AKeyNamesItsUserAndItsScope) {
  const std::vector<RightsKey> all = {
      {"alice", Scope::Global()},
      {"@ops", Scope::Namespace("ns")},
      {"b/o,b%", Scope::Table(TableName("ns", "t"))},
      {"zo\xc3\xab", Scope::Family(kTable, "f/,%")},
      {"a", Scope::Column(kTable, "f", std::string("\0,/\xff", 4))},
      {"a", Scope::Column(kTable, "f", "")},
  };
  for (const RightsKey& each : all) {
    const std::string key = RightsRecordKey(each.user, each.scope);
    const RightsKey read = ReadRightsKey(key);
    EXPECT_EQ(read.user, each.user) << key;
    EXPECT_EQ(read.scope, each.scope) << key;
  }
  EXPECT_EQ(RightsRecordKey("alice", Scope::Column(TableName("ns", "t"), "f", "q r")), "rights/ns:t/alice,f,q%20r");
  EXPECT_EQ(RightsRecordKey("@ops", Scope::Global()), "rights//@ops");
}

TEST(RightsKeyTest, AKeyThatCannotBeReadStandsForEverything) {
  for (const char* bad : {"rights/", "rights/t", "rights/t/a,f,q,r", "rights/t/a%2", "rights/@ns/a,f", "rights/t/a b"})
    EXPECT_EQ(ReadRightsKey(bad).scope, Scope::Global()) << bad;
}

class BookTest : public ::testing::Test {
 protected:
  void Put(const RightsEntry& entry) { book_.Show(RightsRecordKey(entry.user, entry.scope), RightsRecord(entry)); }
  rights::Actions Held(const std::string& user, const Scope& scope) {
    return book_.Image(Epoch(1))->Held({user, {}}, scope);
  }
  RightsBook book_;
};

TEST_F(BookTest, MirrorsTheRecords) {
  Put({"alice", Scope::Table(kTable), Action::kRead});
  EXPECT_EQ(Held("alice", Scope::Family(kTable, "f")), Actions(Action::kRead));
  const auto before = book_.Image(Epoch(1))->number();
  Put({"alice", Scope::Table(kTable), Action::kWrite});
  EXPECT_EQ(book_.Get("alice", Scope::Table(kTable)), Actions(Action::kWrite));
  EXPECT_GT(book_.Image(Epoch(1))->number(), before);
  EXPECT_GT(book_.Image(Epoch(2))->number(), book_.Image(Epoch(1))->number());
  book_.Show(RightsRecordKey("alice", Scope::Table(kTable)), std::nullopt);
  EXPECT_TRUE(Held("alice", Scope::Table(kTable)).empty());
  EXPECT_EQ(book_.size(), 0U);
}

TEST_F(BookTest, FindsWhatLiesInAScope) {
  Put({"a", Scope::Table(TableName("ns", "t")), Action::kRead});
  Put({"a", Scope::Family(TableName("ns", "t"), "f"), Action::kRead});
  Put({"a", Scope::Table(TableName("ns", "t2")), Action::kRead});
  Put({"a", Scope::Namespace("ns"), Action::kRead});
  Put({"a", Scope::Namespace("ns2"), Action::kRead});
  Put({"a", Scope::Global(), Action::kRead});
  EXPECT_EQ(book_.KeysWithin(Scope::Table(TableName("ns", "t"))).size(), 2U);
  EXPECT_EQ(book_.KeysWithin(Scope::Family(TableName("ns", "t"), "f")).size(), 1U);
  EXPECT_EQ(book_.KeysWithin(Scope::Namespace("ns")).size(), 4U);
  EXPECT_EQ(book_.KeysWithin(Scope::Global()).size(), 6U);
}

TEST_F(BookTest, ADamagedRecordDeniesItsScope) {
  Put({"alice", Scope::Namespace("default"), Actions::All()});
  book_.Show(RightsRecordKey("bob", Scope::Table(kTable)), "\xff");
  EXPECT_TRUE(Held("alice", Scope::Table(kTable)).empty());
  EXPECT_EQ(Held("alice", Scope::Table(TableName("default", "u"))), Actions::All());
  EXPECT_EQ(book_.DamagedKeys().size(), 1U);
  Put({"bob", Scope::Table(kTable), Action::kRead});
  EXPECT_EQ(Held("alice", Scope::Table(kTable)), Actions::All());
}

TEST_F(BookTest, ARecordOfAnotherKeyIsDamaged) {
  book_.Show(RightsRecordKey("bob", Scope::Table(kTable)), RightsRecord({"mallory", Scope::Global(), Actions::All()}));
  EXPECT_TRUE(Held("mallory", Scope::Global()).empty());
  EXPECT_EQ(book_.DamagedKeys().size(), 1U);
}

TEST_F(BookTest, IgnoringADamagedRecordIsNoticed) {
  const ScopedMutant mutant("master.ignore_damaged_rights");
  Put({"alice", Scope::Global(), Actions::All()});
  book_.Show(RightsRecordKey("bob", Scope::Table(kTable)), "\xff");
  EXPECT_FALSE(Held("alice", Scope::Table(kTable)).empty());
}

TEST_F(BookTest, IsBounded) {
  const RightsEntry more{"more", Scope::Global(), Action::kRead};
  const std::string column(4000, 'q');
  int made = 0;
  for (; book_.RoomFor(more, false).ok(); ++made)
    Put({std::to_string(made), Scope::Column(kTable, "f", column), Action::kRead});
  EXPECT_LT(made, 2000);
  EXPECT_TRUE(book_.RoomFor(more, true).ok());
  EXPECT_LT(book_.EncodedImage(Epoch(1))->size(), rights::kMostImageBytes);
}

TEST_F(BookTest, OneTableHasAShareOnly) {
  const std::string column(4000, 'q');
  const auto entry = [&](const TableName& table, int number) {
    return RightsEntry{std::to_string(number), Scope::Column(table, "f", column), Action::kRead};
  };
  int made = 0;
  for (; made < 2000 && book_.RoomFor(entry(kTable, made), false).ok(); ++made) Put(entry(kTable, made));
  EXPECT_GT(made, 50);
  EXPECT_LT(made, 200);
  EXPECT_TRUE(book_.RoomFor(entry(TableName("default", "other"), 0), false).ok());
  EXPECT_TRUE(book_.RoomFor(entry(kTable, made - 1), false).ok()) << "a change of what is there";
  EXPECT_TRUE(book_.RoomFor(entry(kTable, made), true).ok()) << "the owner of a new table";
  {
    const ScopedMutant mutant("master.no_shares_of_rights");
    EXPECT_TRUE(book_.RoomFor(entry(kTable, made), false).ok());
  }
  // Tables of one namespace share a half.
  for (int table = 0; table < 100; ++table) {
    for (int i = 0; i < 50; ++i) {
      const RightsEntry one = entry(TableName("default", "t" + std::to_string(table)), i);
      if (book_.RoomFor(one, false).ok()) Put(one);
    }
  }
  EXPECT_FALSE(book_.RoomFor(entry(TableName("default", "new"), 0), false).ok());
  EXPECT_TRUE(book_.RoomFor(entry(TableName("ns", "new"), 0), false).ok());
  for (const auto& right : book_.List()) {
    if (right.scope.table == kTable) book_.Show(RightsRecordKey(right.user, right.scope), std::nullopt);
  }
  EXPECT_TRUE(book_.RoomFor(entry(kTable, 0), false).ok());
}

class RightsTest : public MasterTest {
 protected:
  RightsAdmin& rights_admin() { return master().logic().rights_admin; }
  RightsBook& book() { return master().logic().rights; }
  // The answer of a change: nothing until it is done.
  struct Answer {
    std::optional<Status> status;
    [[nodiscard]] std::string text() const {
      if (!status) return "not answered";
      return status->ok() ? "success" : status->error().message();
    }
  };
  std::shared_ptr<Answer> Grant(const RightsEntry& entry, bool merge = true) {
    auto answer = std::make_shared<Answer>();
    rights_admin().Grant(entry, merge, {"me", {}}, [answer](const Status& done) { answer->status = done; });
    return answer;
  }
  std::shared_ptr<Answer> Revoke(const RightsEntry& entry) {
    auto answer = std::make_shared<Answer>();
    rights_admin().Revoke(entry, {"me", {}}, [answer](const Status& done) { answer->status = done; });
    return answer;
  }
  std::string Ended(const std::shared_ptr<Answer>& answer) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return answer->text();
  }
  void ExpectEverywhere(const std::string& user, const Scope& scope, Actions actions) {
    EXPECT_EQ(book().Image(master().epoch())->Held({user, {}}, scope), actions);
    for (const sim::SimServer* server : cluster_.Alive()) {
      ASSERT_NE(server->rights.image(), nullptr);
      EXPECT_EQ(server->rights.image()->Held({user, {}}, scope), actions) << server->name().ToString();
    }
  }
  std::string Ended(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
};

TEST_F(RightsTest, RightsAreGivenAndTaken) {
  cluster_.Boot(3);
  const Scope scope = Scope::Global();
  EXPECT_EQ(Ended(Grant({"alice", scope, Action::kRead})), "success");
  ExpectEverywhere("alice", scope, Action::kRead);
  EXPECT_EQ(Ended(Grant({"alice", scope, Action::kWrite | Action::kExec})), "success");
  ExpectEverywhere("alice", scope, Action::kRead | Action::kWrite | Action::kExec);
  EXPECT_EQ(Ended(Revoke({"alice", scope, Action::kWrite})), "success");
  ExpectEverywhere("alice", scope, Action::kRead | Action::kExec);
  EXPECT_EQ(Ended(Grant({"alice", scope, Action::kAdmin}, /*merge=*/false)), "success");
  ExpectEverywhere("alice", scope, Action::kAdmin);
  EXPECT_EQ(Ended(Revoke({"alice", scope, {}})), "success");
  EXPECT_EQ(book().size(), 0U);
  EXPECT_EQ(Ended(Revoke({"alice", scope, Action::kWrite})), "success");
  for (const char* bad : {"", "@", "a,b", "a\nb"})
    EXPECT_NE(Grant({bad, scope, Action::kRead})->text().find("name of the user"), std::string::npos) << bad;
  EXPECT_NE(Grant({"alice", scope, {}})->text().find("no action"), std::string::npos);
}

// S136 (a name made again has no old right): a right waits for no name to be made.
TEST_F(RightsTest, OnlyWhatExistsHasRights) {
  cluster_.Boot(2);
  EXPECT_EQ(Ended(Create("t", 1)), "success");
  EXPECT_EQ(Ended(Grant({"a", Scope::Family(kTable, "f"), Action::kRead})), "success");
  EXPECT_NE(Ended(Grant({"a", Scope::Family(kTable, "g"), Action::kRead})), "success");
  EXPECT_NE(Ended(Grant({"a", Scope::Table(TableName("default", "u")), Action::kRead})), "success");
  EXPECT_NE(Ended(Grant({"a", Scope::Namespace("nowhere"), Action::kRead})), "success");
  EXPECT_EQ(Ended(Grant({"a", Scope::Namespace("default"), Action::kRead})), "success");
  EXPECT_EQ(book().size(), 2U);
}

// S135 (a change is answered when every server has it).
TEST_F(RightsTest, AServerThatDoesNotAnswerIsWaitedForUntilItIsFenced) {
  cluster_.Boot(3);
  sim::SimServer& stopped = *cluster_.Alive().front();
  stopped.cut_off = true;
  const auto granted = Grant({"alice", Scope::Global(), Action::kRead});
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("RefreshRights").empty(); }));
  EXPECT_EQ(granted->text(), "not answered");
  ASSERT_TRUE(cluster_.RunUntil([&] { return granted->status.has_value(); }));
  EXPECT_EQ(granted->text(), "success");
  EXPECT_TRUE(stopped.fenced()) << "answered while it may serve by the old rights";
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(book().Get("alice", Scope::Global()), Actions(Action::kRead));
}

TEST_F(RightsTest, AnsweringBeforeTheServersIsNoticed) {
  const ScopedMutant mutant("master.answer_before_servers");
  cluster_.Boot(3);
  sim::SimServer& stopped = *cluster_.Alive().front();
  stopped.cut_off = true;
  const auto granted = Grant({"alice", Scope::Global(), Action::kRead});
  ASSERT_TRUE(cluster_.RunUntil([&] { return granted->status.has_value(); }));
  EXPECT_EQ(granted->text(), "success");
  EXPECT_FALSE(stopped.fenced());
}

class TokenKeysTest : public RightsTest {
 protected:
  std::shared_ptr<Answer> Replace(bool withdraw, std::int64_t unless_made_since = INT64_MAX) {
    const std::int64_t now = master().logic().env.clock.WallMillis();
    auto answer = std::make_shared<Answer>();
    rights_admin().ReplaceKey(
        {std::string(rights::kTokenKeyBytes, 'k'), withdraw, now, now + 1'000'000, unless_made_since}, {"me", {}},
        [answer](const Status& done) { answer->status = done; });
    return answer;
  }
  // The ids of the keys that the master and each server have that is not fenced; nullopt if they differ.
  std::optional<std::vector<std::uint32_t>> Everywhere() {
    const auto ids = [](const rights::TokenKeys& keys) {
      std::vector<std::uint32_t> all;
      for (const auto& key : keys) all.push_back(key.id);
      return all;
    };
    const auto own = ids(*book().TokenKeys());
    for (const sim::SimServer* server : cluster_.Alive()) {
      if (server->fenced()) continue;
      if (server->rights.token_keys() == nullptr || ids(*server->rights.token_keys()) != own) return std::nullopt;
    }
    return own;
  }
  using Ids = std::vector<std::uint32_t>;
};

// S152 (tokens are signed by known keys).
TEST_F(TokenKeysTest, AKeySignsWhenEveryServerHasIt) {
  cluster_.Boot(3);
  sim::SimServer& stopped = *cluster_.Alive().front();
  stopped.cut_off = true;
  const auto replaced = Replace(false);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("RefreshRights").empty(); }));
  ASSERT_EQ(book().TokenKeys()->size(), 1U);
  EXPECT_FALSE(book().TokenKeys()->front().told);
  ASSERT_TRUE(cluster_.RunUntil([&] { return replaced->status.has_value(); }));
  EXPECT_EQ(replaced->text(), "success");
  EXPECT_TRUE(stopped.fenced()) << "used while a server may not have it";
  EXPECT_TRUE(book().TokenKeys()->front().told);
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Everywhere(), Ids{1});
}

TEST_F(TokenKeysTest, AWithdrawalLeavesOneKey) {
  cluster_.Boot(2);
  EXPECT_EQ(Ended(Replace(false)), "success");
  EXPECT_EQ(Ended(Replace(false)), "success");
  EXPECT_EQ(Everywhere(), (Ids{1, 2}));
  EXPECT_EQ(Ended(Replace(false, /*unless_made_since=*/0)), "success");
  EXPECT_EQ(Everywhere(), (Ids{1, 2})) << "another request was faster";
  EXPECT_EQ(Ended(Replace(true, 0)), "success");
  EXPECT_EQ(Everywhere(), Ids{3});
  const auto old = cluster_.Alive().front()->rights.image()->number();
  EXPECT_EQ(book().Image(master().epoch())->ToProto().token_keys_size(), 0) << "lists of rights have no secrets";
  EXPECT_EQ(book().Image(master().epoch())->ToProtoForMembers().token_keys_size(), 1);
  EXPECT_GT(old.number, 0U);
}

class IssuedTokensTest : public TokenKeysTest {
 protected:
  // The number of the token, or the refusal.
  std::string Issue(const std::string& user, std::int64_t lives_ms = 1'000'000) {
    const std::int64_t now = master().logic().env.clock.WallMillis();
    IssuedToken token;
    token.user = user;
    token.key_id = 1;
    token.issued_ms = now;
    token.expires_ms = now + lives_ms;
    token.asked_by = "me";
    token.peer = "10.0.0.7:4011";
    std::string text = "not answered";
    rights_admin().IssueToken(token, {"me", {}}, [&text](const Result<ProcId>& pid, const std::string&) {
      text = pid.ok() ? std::to_string(pid->value()) : pid.error().ToString();
    });
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return text;
  }
  // The number of revoked tokens, or the refusal.
  std::string Revoke(const std::string& user, std::optional<std::int64_t> sequence = std::nullopt) {
    const auto text = std::make_shared<std::string>("not answered");
    rights_admin().RevokeTokens(user, sequence, {"me", {}},
                                [text](const Result<ProcId>& pid, const std::string& result) {
                                  *text = pid.ok() ? result : pid.error().ToString();
                                });
    EXPECT_TRUE(cluster_.RunUntil([&] { return *text != "not answered"; }));
    return *text;
  }
  void ExpectRevokedEverywhere(const rights::RevokedTokens& revoked) {
    EXPECT_EQ(*book().RevokedTokens(), revoked);
    EXPECT_EQ(book().RevokedTokens(), book().RevokedTokens()) << "copied for each login and each connection";
    for (const sim::SimServer* server : cluster_.Alive()) {
      if (server->fenced()) continue;
      EXPECT_EQ(*server->rights.revoked_tokens(), revoked);
    }
  }
};

TEST_F(IssuedTokensTest, ATokenIsRecordedBeforeItIsGiven) {
  cluster_.Boot(2);
  const std::string number = Issue("etl");
  const auto tokens = book().Tokens();
  ASSERT_EQ(tokens.size(), 1U) << number;
  EXPECT_EQ(std::to_string(tokens[0].sequence), number);
  EXPECT_EQ(tokens[0].user, "etl");
  EXPECT_EQ(tokens[0].asked_by, "me");
  EXPECT_EQ(tokens[0].peer, "10.0.0.7:4011");
  EXPECT_FALSE(tokens[0].revoked);
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(book().Tokens(), tokens);
}

TEST_F(IssuedTokensTest, ARevocationIsKnownEverywhereAndByTheNextMaster) {
  cluster_.Boot(3);
  const std::string first = Issue("etl");
  const std::string second = Issue("etl");
  const std::string other = Issue("bob");
  sim::SimServer& stopped = *cluster_.Alive().front();
  stopped.cut_off = true;
  EXPECT_EQ(Revoke("etl", std::stoll(first)), "1");
  EXPECT_TRUE(stopped.fenced()) << "answered while a server may still accept it";
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  ExpectRevokedEverywhere({{std::stoll(first), "etl"}});
  EXPECT_EQ(Revoke("etl"), "1") << "the other one of the user";
  EXPECT_EQ(Revoke("etl"), "0");
  EXPECT_NE(Revoke("etl", std::stoll(other)).find("has no token with the number"), std::string::npos);
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  ExpectRevokedEverywhere({{std::stoll(first), "etl"}, {std::stoll(second), "etl"}});
}

TEST_F(IssuedTokensTest, RevokingAtTheMasterOnlyIsNoticed) {
  const ScopedMutant mutant("master.revoke_at_the_master_only");
  cluster_.Boot(3);
  const std::string number = Issue("etl");
  sim::SimServer& stopped = *cluster_.Alive().front();
  stopped.cut_off = true;
  EXPECT_EQ(Revoke("etl", std::stoll(number)), "1");
  EXPECT_FALSE(stopped.fenced());
  const auto known = stopped.rights.revoked_tokens();
  EXPECT_TRUE(known == nullptr || known->empty());
}

TEST_F(IssuedTokensTest, ExpiredTokensAreForgottenWithLaterOnes) {
  cluster_.Boot(1);
  const std::string first = Issue("etl", /*lives_ms=*/1);
  EXPECT_EQ(Revoke("etl", std::stoll(first)), "1");
  cluster_.time().Advance(Millis{10});
  const std::string second = Issue("etl");
  ASSERT_EQ(book().Tokens().size(), 1U);
  EXPECT_EQ(std::to_string(book().Tokens()[0].sequence), second);
  EXPECT_TRUE(book().RevokedTokens()->empty());
}

TEST(TokenBookTest, ARecordThatCannotBeReadIsRevoked) {
  TokenBook book;
  EXPECT_TRUE(book.Show(TokenRecordKey(7), "nonsense"));
  EXPECT_FALSE(book.Show("tokens/x", "nonsense"));
  EXPECT_EQ(book.Revoked(), (rights::RevokedTokens{{7, ""}}));
  EXPECT_TRUE(book.List().empty());
  const IssuedToken token{8, "etl", 1, 100, 200, "me", "", false};
  EXPECT_TRUE(book.Show(TokenRecordKey(9), TokenRecord(token))) << "it belongs to another key";
  EXPECT_FALSE(book.Show(TokenRecordKey(8), TokenRecord(token)));
  EXPECT_EQ(book.List(), std::vector<IssuedToken>{token});
  EXPECT_EQ(book.Expired(200), std::vector<std::int64_t>());
  EXPECT_EQ(book.Expired(201), std::vector<std::int64_t>{8});
  EXPECT_TRUE(book.Show(TokenRecordKey(7), std::nullopt));
  EXPECT_EQ(book.Revoked(), (rights::RevokedTokens{{9, ""}}));
}

TEST(TokenBookTest, OneUserHasAShareOnly) {
  TokenBook book;
  const auto add = [&book](std::int64_t sequence, const std::string& user) {
    static_cast<void>(book.Show(TokenRecordKey(sequence), TokenRecord({sequence, user, 1, 0, 1, "", "", false})));
  };
  constexpr auto kShare = static_cast<std::int64_t>(TokenBook::kMost / TokenBook::kShareOfUser);
  for (std::int64_t i = 1; i <= kShare; ++i) add(i, "etl");
  EXPECT_FALSE(book.RoomFor("etl").ok());
  EXPECT_TRUE(book.RoomFor("bob").ok());
  static_cast<void>(book.Show(TokenRecordKey(1), std::nullopt));
  EXPECT_TRUE(book.RoomFor("etl").ok());
}

TEST_F(TokenKeysTest, ADamagedKeyIsNoKeyAndItsNumberIsNotUsedAgain) {
  RightsBook book;
  book.ShowTokenKey(TokenKeyRecordKey(7), "nonsense");
  book.ShowTokenKey("token-keys/x", "nonsense");
  EXPECT_TRUE(book.TokenKeys()->empty());
  EXPECT_EQ(book.LastTokenKeyId(), 7U);
}

class OwnerTest : public RightsTest {
 protected:
  OwnerTest() {
    cluster_.master_options.judges_users = [] { return true; };
  }
  NamespaceAdmin& namespaces() { return master().logic().namespace_admin; }
};

TEST_F(OwnerTest, TheMakerOfATableOwnsItAndADropTakesAllRights) {
  cluster_.Boot(3);
  EXPECT_EQ(Ended(Create("t", 2)), "success");
  ExpectEverywhere("me", Scope::Table(kTable), Actions::All());
  EXPECT_EQ(Ended(Grant({"bob", Scope::Family(kTable, "f"), Action::kRead})), "success");
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(Ended(master().Ask([&](Done done) {
              admin().TruncateTable(kTable, true, {"other", {}}, done);
            })),
            "success");
  ExpectEverywhere("me", Scope::Table(kTable), Actions::All());
  ExpectEverywhere("bob", Scope::Family(kTable, "f"), Action::kRead);
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(Ended(Delete("t")), "success");
  ExpectEverywhere("me", Scope::Table(kTable), {});
  ExpectEverywhere("bob", Scope::Family(kTable, "f"), {});
  EXPECT_EQ(book().size(), 0U);
}

TEST_F(OwnerTest, RightsThatStayAreNoticed) {
  const ScopedMutant mutant("master.rights_stay");
  cluster_.Boot(2);
  EXPECT_EQ(Ended(Create("t", 1)), "success");
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(Ended(Delete("t")), "success");
  EXPECT_EQ(book().size(), 1U);
}

TEST_F(OwnerTest, ADroppedFamilyHasNoRights) {
  cluster_.Boot(2);
  TableDescriptor two = Descriptor("t");
  two.families.push_back(DefaultFamily("g"));
  EXPECT_EQ(Ended(master().Ask([&](Done done) { admin().CreateTable(two, {}, {"me", {}}, done); })), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Family(kTable, "f"), Action::kRead})), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Column(kTable, "g", "q"), Action::kRead})), "success");
  SchemaChange change;
  change.kind = ChangeKind::kDeleteFamily;
  change.asked = Descriptor("t");
  change.asked.families.front().name = "g";
  EXPECT_EQ(Ended(master().Ask([&](Done done) { admin().ModifyTable(change, true, {"me", {}}, done); })), "success");
  ExpectEverywhere("bob", Scope::Family(kTable, "f"), Action::kRead);
  ExpectEverywhere("bob", Scope::Column(kTable, "g", "q"), {});
  ExpectEverywhere("me", Scope::Table(kTable), Actions::All());
}

TEST_F(OwnerTest, ADeletedNamespaceHasNoRights) {
  cluster_.Boot(2);
  NamespaceDescriptor descriptor;
  descriptor.name = "ns";
  EXPECT_EQ(Ended(master().Ask([&](Done done) { namespaces().Create(descriptor, {"me", {}}, done); })), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Namespace("ns"), Action::kCreate})), "success");
  EXPECT_EQ(Ended(master().Ask([&](Done done) { namespaces().Delete("ns", {"me", {}}, done); })), "success");
  ExpectEverywhere("bob", Scope::Namespace("ns"), {});
  EXPECT_EQ(book().size(), 0U);
}

// The new maker is another user, whose table has only the name of the old one.
TEST_F(OwnerTest, ATableMadeAgainBelongsToItsNewMakerOnly) {
  cluster_.Boot(3);
  const auto create_as = [this](const std::string& user) {
    return Ended(master().Ask([&](Done done) { admin().CreateTable(Descriptor("t"), {}, {user, {}}, done); }));
  };
  EXPECT_EQ(create_as("me"), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Table(kTable), Action::kRead})), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Column(kTable, "f", "q"), Action::kWrite})), "success");
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(Ended(Delete("t")), "success");
  EXPECT_EQ(create_as("other"), "success");
  ExpectEverywhere("other", Scope::Table(kTable), Actions::All());
  ExpectEverywhere("me", Scope::Table(kTable), {});
  ExpectEverywhere("bob", Scope::Column(kTable, "f", "q"), {});
  EXPECT_EQ(book().size(), 1U);
}

// A drop that was ended by force may have left rights.
TEST_F(OwnerTest, ATableMadeAgainLosesRightsThatWereLeft) {
  cluster_.Boot(2);
  EXPECT_EQ(Ended(Create("t", 1)), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Family(kTable, "f"), Action::kRead})), "success");
  EXPECT_EQ(Ended(Disable("t")), "success");
  {
    const ScopedMutant mutant("master.rights_stay");
    EXPECT_EQ(Ended(Delete("t")), "success");
  }
  EXPECT_EQ(book().size(), 2U);
  EXPECT_EQ(Ended(master().Ask([&](Done done) {
              admin().CreateTable(Descriptor("t"), {}, {"other", {}}, done);
            })),
            "success");
  ExpectEverywhere("other", Scope::Table(kTable), Actions::All());
  ExpectEverywhere("me", Scope::Table(kTable), {});
  ExpectEverywhere("bob", Scope::Family(kTable, "f"), {});
  EXPECT_EQ(book().size(), 1U);
}

TEST_F(OwnerTest, AFamilyMadeAgainHasNoOldRight) {
  cluster_.Boot(2);
  const auto alter = [this](ChangeKind kind) {
    SchemaChange change;
    change.kind = kind;
    change.asked = Descriptor("t");
    change.asked.families.front().name = "g";
    return Ended(master().Ask([&](Done done) { admin().ModifyTable(change, true, {"other", {}}, done); }));
  };
  EXPECT_EQ(Ended(Create("t", 1)), "success");
  EXPECT_EQ(alter(ChangeKind::kAddFamily), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Family(kTable, "g"), Action::kRead})), "success");
  EXPECT_EQ(alter(ChangeKind::kDeleteFamily), "success");
  EXPECT_EQ(alter(ChangeKind::kAddFamily), "success");
  ExpectEverywhere("bob", Scope::Family(kTable, "g"), {});
  ExpectEverywhere("other", Scope::Family(kTable, "g"), {});
}

TEST_F(OwnerTest, ANamespaceMadeAgainHasNoOldRight) {
  cluster_.Boot(2);
  NamespaceDescriptor descriptor;
  descriptor.name = "ns";
  const auto create_as = [&](const std::string& user) {
    return Ended(master().Ask([&](Done done) { namespaces().Create(descriptor, {user, {}}, done); }));
  };
  EXPECT_EQ(create_as("me"), "success");
  EXPECT_EQ(Ended(Grant({"bob", Scope::Namespace("ns"), Action::kCreate})), "success");
  EXPECT_EQ(Ended(master().Ask([&](Done done) { namespaces().Delete("ns", {"me", {}}, done); })), "success");
  EXPECT_EQ(create_as("other"), "success");
  ExpectEverywhere("bob", Scope::Namespace("ns"), {});
  EXPECT_EQ(book().size(), 0U);
}

// The records are the truth of the next master, and its images are newer than those of the last one.
TEST_F(OwnerTest, TheNextMasterKnowsTheRights) {
  cluster_.Boot(3);
  EXPECT_EQ(Ended(Create("t", 1)), "success");
  const auto before = cluster_.Alive().front()->rights.image()->number();
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_GT(book().Image(master().epoch())->number(), before);
  EXPECT_EQ(Ended(Grant({"bob", Scope::Global(), Action::kRead})), "success");
  ExpectEverywhere("me", Scope::Family(kTable, "f"), Actions::All());
  ExpectEverywhere("bob", Scope::Global(), Action::kRead);
}

}  // namespace
}  // namespace ratchet::master
