#include "common/client/table.h"

#include <gtest/gtest.h>

#include <thread>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/client/fake_cluster.h"

namespace ratchet::client {
namespace {

using rpc::IsClass;
namespace exception = rpc::exception;

class TableTest : public ::testing::Test {
 protected:
  TableTest() {
    cluster_.AddTable(name_, {"g", "n", "t"});
    ConnectionOptions options;
    options.masters = {cluster_.master()};
    options.operation_timeout = Millis(20'000);
    options.rpc_timeout = Millis(5'000);
    connection_ = Connection::Open(options).value();
  }
  Status Put(const std::string& row, const std::string& value) {
    RATCHET_TRY(table_().Mutate(Mutation::Put(row).Set("f", "q", value)));
    return Ok();
  }
  std::string Read(const std::string& row) {
    const auto found = table_().Get({row, {}, 1, {}});
    return found.ok() ? std::string(found->Value("f", "q").value_or("none")) : found.error().ToString();
  }
  ServerName LocationOf(const std::string& row) {
    RetryLoop loop = connection_->NewLoop();
    return connection_->locator().Locate(loop, name_, row).value().server;
  }
  Table table_() { return {*connection_, name_}; }
  // Fails the next `count` calls of a method.
  void FailNext(const std::string& wanted, int count, const Error& error) {
    auto left = std::make_shared<std::atomic<int>>(count);
    cluster_.SetFault([=](const std::string& method, int) -> std::optional<Error> {
      if (method != wanted || left->fetch_sub(1) <= 0) return std::nullopt;
      return error;
    });
  }

  // A deadline that passes within a test, and that leaves the last attempt enough time on a busy machine.
  static constexpr Millis kHurried{2'000};
  const TableName name_{"default", "t"};
  FakeCluster cluster_{3};
  std::unique_ptr<Connection> connection_;
};

TEST_F(TableTest, PutsAndGetsInEveryRegion) {
  for (const char* row : {"a", "g", "m", "n", "z", ""}) {
    ASSERT_TRUE(Put(row, std::string("value of ") + row).ok());
    EXPECT_EQ(Read(row), std::string("value of ") + row);
  }
  EXPECT_EQ(Read("nothing"), "none");
}

TEST_F(TableTest, LocationsAreCached) {
  ASSERT_TRUE(Put("a", "1").ok());
  const int lookups = cluster_.Calls("Scan");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Read("a" + std::to_string(i)), "none");
  EXPECT_EQ(cluster_.Calls("Scan"), lookups);
  EXPECT_EQ(cluster_.Calls("GetMetaRegionLocations"), 1);
}

TEST_F(TableTest, FollowsRegionsThatMove) {
  for (const bool announced : {false, true}) {
    cluster_.announce_moves = announced;
    for (std::size_t server = 0; server < 3; ++server) {
      cluster_.Move(name_, "a", server);
      const int lookups = cluster_.Calls("Scan");
      EXPECT_TRUE(Put("a", std::to_string(server)).ok());
      EXPECT_EQ(Read("a"), std::to_string(server));
      if (announced) {
        // The exception contains the new location; if the cached location comes from an exception itself, hbase:meta is
        // asked.
        EXPECT_EQ(cluster_.Calls("Scan"), lookups + (server == 1 ? 1 : 0)) << server;
      }
    }
  }
}

// Two servers have old hints that lead to each other, e.g. of a table that was dropped and made again under its name.
// hbase:meta, which names server 0, decides after the first of them.
TEST_F(TableTest, AHintOfAMoveIsFollowedOnce) {
  cluster_.announce_moves = true;
  cluster_.Move(name_, "a", 1);
  ASSERT_TRUE(Put("a", "1").ok());
  const ServerName first = LocationOf("a");
  cluster_.Move(name_, "a", 2);
  ASSERT_EQ(Read("a"), "1");
  const ServerName second = LocationOf("a");
  cluster_.Move(name_, "a", 0);
  std::atomic<int> asked{0};
  const FakeCluster::Fault old_hints = [&](const std::string& method, int server) -> std::optional<Error> {
    if (method != "Get" || server == 0) return std::nullopt;
    ++asked;
    return rpc::RegionMovedError(server == 1 ? second : first, 1);
  };
  cluster_.SetFault(old_hints);
  EXPECT_EQ(Read("a"), "1");
  EXPECT_LE(asked, 2);

  cluster_.SetFault({});
  cluster_.Move(name_, "a", 1);
  ASSERT_EQ(Read("a"), "1");
  cluster_.Move(name_, "a", 0);
  cluster_.SetFault(old_hints);
  const ScopedMutant mutant("client.follow_hints");
  asked = 0;
  Table table(*connection_, name_, kHurried);
  EXPECT_FALSE(table.Get({"a", {}, 1, {}}).ok());
  EXPECT_GT(asked, 2);
}

// Otherwise a client would call a dead server once for each of its regions.
TEST_F(TableTest, AServerThatIsGoneIsForgottenWithAllItsRegions) {
  const TableName wide("default", "wide");
  cluster_.AddTable(wide, {"b", "c", "d", "e", "f", "g", "h"});
  constexpr const char* kOnServer1[] = {"b", "e", "h"};
  Table table(*connection_, wide);
  for (const char* row : kOnServer1) ASSERT_TRUE(table.Mutate(Mutation::Put(row).Set("f", "q", "v")).ok());
  RetryLoop loop = connection_->NewLoop();
  const auto before = connection_->locator().Locate(loop, wide, "h");
  ASSERT_TRUE(before.ok());
  cluster_.Stop(1);
  for (const char* row : kOnServer1) cluster_.Move(wide, row, 2);
  // The first finds its connection cut, the second finds no listener; the third need not try.
  for (const char* row : {"b", "e"}) {
    const auto read = table.Get({row, {}, 1, {}});
    ASSERT_TRUE(read.ok()) << read.error().ToString();
  }
  const auto after = connection_->locator().Locate(loop, wide, "h");
  ASSERT_TRUE(after.ok());
  EXPECT_NE(after->server, before->server);
}

TEST_F(TableTest, FollowsSplitsPastTheParentsRow) {
  ASSERT_TRUE(Put("a", "1").ok());
  cluster_.Split(name_, "c", 1);
  EXPECT_EQ(Read("a"), "1");
  EXPECT_TRUE(Put("d", "2").ok());
  EXPECT_EQ(Read("d"), "2");
}

TEST_F(TableTest, RetriesWhatMayPass) {
  for (const std::string_view name :
       {exception::kNotServingRegion, exception::kRegionOpening, exception::kRegionTooBusy, exception::kCallQueueTooBig,
        exception::kRegionServerStopped, exception::kServerNotRunningYet}) {
    FailNext("Mutate", 2, rpc::RemoteError(name, "told to"));
    EXPECT_TRUE(Put("a", std::string(name)).ok()) << name;
    EXPECT_EQ(Read("a"), name);
  }
}

TEST_F(TableTest, ReturnsWhatWillNotPass) {
  const auto family = table_().Mutate(Mutation::Put("a").Set("nosuch", "q", "v"));
  ASSERT_FALSE(family.ok());
  EXPECT_TRUE(IsClass(family.error(), exception::kNoSuchColumnFamily));
  EXPECT_EQ(cluster_.Calls("Mutate"), 1);

  Table nowhere(*connection_, TableName("default", "nowhere"));
  EXPECT_TRUE(IsClass(nowhere.Get({"r", {}, 1, {}}).error(), exception::kTableNotFound));
}

TEST_F(TableTest, DisabledTableIsSaidSoon) {
  cluster_.SetState(name_, TableState::kDisabled);
  const TimePoint start = SystemClock().Now();
  const Status put = Put("a", "1");
  ASSERT_FALSE(put.ok());
  EXPECT_TRUE(IsClass(put.error(), exception::kTableNotEnabled)) << put.error().ToString();
  const auto many = table_().MutateMany({Mutation::Put("a").Set("f", "q", "1")});
  EXPECT_TRUE(IsClass(many[0].error(), exception::kTableNotEnabled)) << many[0].error().ToString();
  const auto row = table_().Scan({}).Next();
  ASSERT_FALSE(row.ok());
  EXPECT_TRUE(IsClass(row.error(), exception::kTableNotEnabled)) << row.error().ToString();
  EXPECT_LT(SystemClock().Now() - start, Millis(10'000));
}

TEST_F(TableTest, LostAnswerOfAnAppendIsNotAppliedTwice) {
  ASSERT_TRUE(table_().Mutate(Mutation::Append("a").Set("f", "q", "x")).ok());
  cluster_.LoseAnswers("Mutate", 2);
  const auto row = table_().Mutate(Mutation::Append("a").Set("f", "q", "y"));
  ASSERT_TRUE(row.ok()) << row.error().ToString();
  EXPECT_EQ(row->Value("f", "q"), "xy");
  EXPECT_EQ(cluster_.Value(name_, "a"), "xy");
  EXPECT_EQ(cluster_.Calls("Mutate"), 4);
}

TEST_F(TableTest, LostAnswerOfACheckAndMutateKeepsItsVerdict) {
  cluster_.LoseAnswers("Mutate", 1);
  const auto done = table_().CheckAndMutate({"f", "q", CompareOp::kEqual, ""}, Mutation::Put("a").Set("f", "q", "1"));
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(*done);
  const auto again = table_().CheckAndMutate({"f", "q", CompareOp::kEqual, ""}, Mutation::Put("a").Set("f", "q", "2"));
  EXPECT_FALSE(again.value());
  EXPECT_EQ(cluster_.Value(name_, "a"), "1");
}

TEST_F(TableTest, DeadlineSaysWhetherTheOutcomeIsKnown) {
  Table table(*connection_, name_, kHurried);
  ASSERT_TRUE(table_().Get({"a", {}, 1, {}}).ok());

  FailNext("Mutate", 1'000'000, rpc::RemoteError(exception::kRegionTooBusy, "busy"));
  const auto refused = table.Mutate(Mutation::Put("a").Set("f", "q", "1"));
  ASSERT_EQ(refused.error().code(), Code::kTimeout);
  EXPECT_EQ(refused.error().message().find("may or may not"), std::string::npos) << refused.error().message();
  EXPECT_NE(refused.error().message().find("busy"), std::string::npos);

  FailNext("Mutate", 1'000'000, rpc::RemoteError(rpc::kWriteInDoubt, "log is gone"));
  const auto fenced = table.Mutate(Mutation::Put("a").Set("f", "q", "1"));
  EXPECT_NE(fenced.error().message().find("may or may not"), std::string::npos) << fenced.error().message();

  cluster_.SetFault({});
  cluster_.LoseAnswers("Mutate", 1'000'000);
  const auto unknown = table.Mutate(Mutation::Put("a").Set("f", "q", "1"));
  ASSERT_EQ(unknown.error().code(), Code::kTimeout);
  EXPECT_NE(unknown.error().message().find("may or may not"), std::string::npos) << unknown.error().message();

  cluster_.LoseAnswers("Get", 1'000'000);
  const auto unread = table.Get({"a", {}, 1, {}});
  ASSERT_EQ(unread.error().code(), Code::kTimeout);
  EXPECT_EQ(unread.error().message().find("may or may not"), std::string::npos) << "a query has no outcome";
}

TEST_F(TableTest, ManyMutationsAcrossServersAndMoves) {
  std::vector<Mutation> mutations;
  for (int i = 0; i < 12'000; ++i) {
    const std::string row = fmt::format("{}{:05}", static_cast<char>('a' + i % 26), i);
    mutations.push_back(Mutation::Put(row).Set("f", "q", row));
  }
  mutations[7].cells[0].family = "nosuch";
  ASSERT_EQ(Read("a"), "none");  // fills the cache with a location that is soon wrong
  cluster_.Move(name_, "a", 2);
  const auto statuses = table_().MutateMany(mutations);
  ASSERT_EQ(statuses.size(), mutations.size());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i].ok(), i != 7) << i;
    if (i != 7) {
      ASSERT_EQ(cluster_.Value(name_, mutations[i].row), mutations[i].row);
    }
  }
  EXPECT_TRUE(IsClass(statuses[7].error(), exception::kNoSuchColumnFamily));
  EXPECT_LE(cluster_.Calls("Multi"), 15);  // grouped by server
}

TEST_F(TableTest, LostAnswerOfABatchIsNotAppliedTwice) {
  cluster_.LoseAnswers("Multi", 1);
  const auto statuses =
      table_().MutateMany({Mutation::Append("a").Set("f", "q", "x"), Mutation::Append("z").Set("f", "q", "y")});
  for (const Status& status : statuses) EXPECT_TRUE(status.ok());
  EXPECT_EQ(cluster_.Value(name_, "a"), "x");
  EXPECT_EQ(cluster_.Value(name_, "z"), "y");
}

TEST_F(TableTest, EachRowOfABatchLearnsItsOwnFate) {
  for (const char* row : {"a", "h", "o"}) ASSERT_TRUE(table_().Get({row, {}, 1, {}}).ok());
  cluster_.SetFault([](const std::string& method, int server) -> std::optional<Error> {
    if (method != "Multi") return std::nullopt;
    if (server == 0) return rpc::RemoteError(exception::kRegionTooBusy, "busy here");
    if (server == 1) {
      return rpc::RemoteError(rpc::kWriteInDoubt, "log is gone");
    }
    return std::nullopt;
  });
  Table hurried(*connection_, name_, kHurried);
  const auto statuses = hurried.MutateMany(
      {Mutation::Put("a").Set("f", "q", "server 0"), Mutation::Put("h").Set("f", "q", "server 1"),
       Mutation::Put("o").Set("f", "q", "server 2"), Mutation::Put("p").Set("nosuch", "q", "server 2")});
  ASSERT_EQ(statuses.size(), 4U);
  ASSERT_EQ(statuses[0].error().code(), Code::kTimeout);
  EXPECT_FALSE(IsClass(statuses[0].error(), rpc::kCallTimeout)) << "this row was certainly not written";
  EXPECT_NE(statuses[0].error().message().find("busy here"), std::string::npos) << statuses[0].error().message();
  ASSERT_EQ(statuses[1].error().code(), Code::kTimeout);
  EXPECT_TRUE(IsClass(statuses[1].error(), rpc::kCallTimeout)) << statuses[1].error().message();
  EXPECT_NE(statuses[1].error().message().find("log is gone"), std::string::npos) << statuses[1].error().message();
  EXPECT_TRUE(statuses[2].ok());
  EXPECT_TRUE(IsClass(statuses[3].error(), exception::kNoSuchColumnFamily));
}

TEST_F(TableTest, RefusalAfterALostAttemptDoesNotClaimThatNothingHappened) {
  for (const std::string method : {"Mutate", "Multi"}) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    cluster_.SetFault([=](const std::string& called, int) -> std::optional<Error> {
      if (called != method) return std::nullopt;
      if (calls->fetch_add(1) > 0) return rpc::RemoteError(exception::kNoSuchColumnFamily, "no family f");
      return rpc::RemoteError(rpc::kWriteInDoubt, "log is gone");
    });
    const auto put = Mutation::Put("a").Set("f", "q", "1");
    const Error error = method == "Mutate" ? table_().Mutate(put).error() : table_().MutateMany({put})[0].error();
    EXPECT_TRUE(IsClass(error, exception::kNoSuchColumnFamily)) << error.ToString();
    EXPECT_NE(error.message().find("may or may not"), std::string::npos) << error.message();
  }
}

TEST_F(TableTest, CloseEndsWaitingOperations) {
  FailNext("Get", 1'000'000, rpc::RemoteError(exception::kRegionTooBusy, "busy"));
  Error error(Code::kInternal, "none");
  std::thread reader([&] { error = table_().Get({"a", {}, 1, {}}).error(); });
  const TimePoint deadline = SystemClock().Now() + Millis(10'000);
  while (cluster_.Calls("Scan") == 0 && SystemClock().Now() < deadline) std::this_thread::yield();
  connection_->Close();
  reader.join();
  EXPECT_EQ(error.code(), Code::kAborted);
}

TEST_F(TableTest, ManyThreadsShareAConnection) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string row = fmt::format("{}-{}", static_cast<char>('a' + i % 26), t);
        if (!Put(row, row).ok() || Read(row) != row) ++failures;
        if (i % 20 == t) cluster_.Move(name_, row, static_cast<std::size_t>(i % 3));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace ratchet::client
