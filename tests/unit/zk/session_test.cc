#include "common/zk/zk_session.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

using ZkSessionTest = ZkFixture;

TEST_F(ZkSessionTest, CreatesReadsListsAndDeletes) {
  const auto session = Connect();
  const std::string path = Paths().parent;
  ASSERT_TRUE(session->EnsurePath(path + "/a/b").ok());
  ASSERT_TRUE(session->EnsurePath(path + "/a/b").ok());
  const std::string bytes("\xff\0\1binary", 9);
  ASSERT_TRUE(session->Create(path + "/a/b/node", bytes, NodeKind::kEphemeral).ok());
  const auto node = session->Get(path + "/a/b/node");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->data, bytes);
  EXPECT_EQ(node->owner_session, session->session_id());
  EXPECT_EQ(session->Get(path + "/a/b")->owner_session, 0);
  EXPECT_EQ(*session->Children(path + "/a/b"), std::vector<std::string>{"node"});

  EXPECT_EQ(session->Create(path + "/a/b/node", "", NodeKind::kEphemeral).error().code(), Code::kAlreadyExists);
  EXPECT_EQ(session->Get(path + "/none").error().code(), Code::kNotFound);
  EXPECT_EQ(session->Delete(path + "/a").error().code(), Code::kFailedPrecondition);
  EXPECT_EQ(session->Delete(path + "/a/b/node", node->version + 1).error().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(session->Delete(path + "/a/b/node", node->version).ok());
  EXPECT_EQ(session->Delete(path + "/a/b/node").error().code(), Code::kNotFound);
}

// A node that was read before another one took its place has the same version as that one.
TEST_F(ZkSessionTest, ACountTellsANodeFromALaterOneOfItsPath) {
  const auto session = Connect();
  const std::string counter = Paths().parent + "/counter";
  const std::string node = Paths().parent + "/node";
  EXPECT_EQ(session->CreateAndCount(node, "1", NodeKind::kEphemeral, counter).error().code(), Code::kNotFound);
  ASSERT_TRUE(session->EnsurePath(counter).ok());
  ASSERT_TRUE(session->CreateAndCount(node, "1", NodeKind::kEphemeral, counter).ok());
  EXPECT_EQ(session->CreateAndCount(node, "2", NodeKind::kEphemeral, counter).error().code(), Code::kAlreadyExists);
  const auto counted = session->Get(counter);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->version, 1) << "the refused creation is not counted";
  const auto first = session->Get(node);
  ASSERT_TRUE(session->Delete(node).ok());
  ASSERT_TRUE(session->CreateAndCount(node, "2", NodeKind::kEphemeral, counter).ok());
  EXPECT_EQ(session->Get(node)->version, first->version);
  EXPECT_EQ(session->DeleteAtCount(node, first->version, counter, counted->version).error().code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(session->Get(node)->data, "2");
  EXPECT_EQ(session->Get(node)->owner_session, session->session_id());
  EXPECT_EQ(session->DeleteAtCount(node, first->version + 1, counter, counted->version + 1).error().code(),
            Code::kFailedPrecondition);
  EXPECT_TRUE(session->DeleteAtCount(node, first->version, counter, counted->version + 1).ok());
  EXPECT_EQ(session->DeleteAtCount(node, first->version, counter, counted->version + 1).error().code(),
            Code::kNotFound);
}

TEST_F(ZkSessionTest, WatchesFireOnceOnTheSessionsOwnThread) {
  const auto session = Connect();
  const auto other = Connect();
  const std::string path = Paths().parent;
  ASSERT_TRUE(other->EnsurePath(path).ok());
  Observed<int> created;
  Observed<int> listed;
  std::atomic<bool> could_call{false};
  EXPECT_EQ(
      session
          ->GetAndWatch(
              path + "/x",
              [&] {
                could_call =
                    session->Get(path + "/x").ok();  // a blocking call, which libzookeeper's own thread could not make
                created.Set(created.Get() + 1);
              })
          .error()
          .code(),
      Code::kNotFound);
  ASSERT_TRUE(session->ChildrenAndWatch(path, [&] { listed.Set(listed.Get() + 1); }).ok());
  ASSERT_TRUE(other->Create(path + "/x", "1", NodeKind::kPersistent).ok());
  ASSERT_TRUE(created.WaitFor(1));
  ASSERT_TRUE(listed.WaitFor(1));
  EXPECT_TRUE(could_call);
  ASSERT_TRUE(other->Delete(path + "/x").ok());
  ASSERT_TRUE(other->Create(path + "/x", "2", NodeKind::kPersistent).ok());
  Observed<bool> flushed;
  ASSERT_EQ(session->Get(path + "/x")->data, "2");  // later than any watch event of the same session
  session->Post([&] { flushed.Set(true); });
  ASSERT_TRUE(flushed.WaitFor(true));
  EXPECT_EQ(created.Get(), 1);
  EXPECT_EQ(listed.Get(), 1);
}

TEST_F(ZkSessionTest, ClosingEndsEphemeralNodesAtOnce) {
  auto session = Connect();
  const auto other = Connect();
  const std::string path = Paths().parent;
  ASSERT_TRUE(session->Create(path, "", NodeKind::kEphemeral).ok());
  Observed<bool> gone;
  ASSERT_TRUE(other->GetAndWatch(path, [&] { gone.Set(true); }).ok());
  session->Close();
  EXPECT_TRUE(gone.WaitFor(true));
  EXPECT_EQ(session->state(), SessionState::kClosed);
  EXPECT_EQ(session->Get(path).error().code(), Code::kAborted);
  session->Close();
}

TEST_F(ZkSessionTest, SurvivesARestartOfTheServerWithItsNodesAndWatches) {
  const auto session = Connect(Millis(10'000));
  const auto other = Connect(Millis(10'000));
  const std::string path = Paths().parent;
  ASSERT_TRUE(session->Create(path, "mine", NodeKind::kEphemeral).ok());
  Observed<SessionState> state;
  session->Subscribe([&](SessionState now) { state.Set(now); });
  Observed<bool> changed;
  ASSERT_TRUE(other->GetAndWatch(path, [&] { changed.Set(true); }).ok());
  const auto id = session->session_id();

  ASSERT_TRUE(Server().Kill9().ok());
  ASSERT_TRUE(state.WaitFor(SessionState::kConnecting));
  EXPECT_EQ(session->Get(path).error().code(), Code::kUnavailable);  // at once, not after a time-out
  ASSERT_TRUE(Server().Start(kPatience).ok());
  ASSERT_TRUE(state.WaitFor(SessionState::kConnected));
  EXPECT_EQ(session->session_id(), id);
  EXPECT_EQ(session->Get(path)->owner_session, id);
  ASSERT_TRUE(other->WaitConnected(kPatience).ok());
  EXPECT_FALSE(changed.Get());
  ASSERT_TRUE(session->Delete(path).ok());
  EXPECT_TRUE(changed.WaitFor(true));
}

TEST_F(ZkSessionTest, ExpiryIsFinal) {
  const auto session = Connect();
  Observed<SessionState> state;
  session->Subscribe([&](SessionState now) { state.Set(now); });
  Expire(*session);
  ASSERT_TRUE(state.WaitFor(SessionState::kExpired));
  EXPECT_EQ(session->state(), SessionState::kExpired);
  EXPECT_EQ(session->Get("/").error().code(), Code::kFenced);
  EXPECT_EQ(session->WaitConnected(Millis(0)).error().code(), Code::kFenced);
  // A new session works: the server is there, the old session does not come back.
  EXPECT_TRUE(Connect()->Children("/").ok());
  EXPECT_EQ(session->state(), SessionState::kExpired);
}

TEST_F(ZkSessionTest, AnUnreachableServerIsATimeoutNotAHang) {
  const auto port = chaos::PickFreePort();
  ASSERT_TRUE(port.ok());
  const auto session = ZkSession::Open({"127.0.0.1:" + std::to_string(*port), Millis(2000)});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->WaitConnected(Millis(100)).error().code(), Code::kTimeout);
  EXPECT_EQ((*session)->Get("/").error().code(), Code::kUnavailable);
}

TEST_F(ZkSessionTest, MalformedServersAreRefused) {
  const auto session = ZkSession::Open({"not a host list", Millis(2000)});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), Code::kInvalidArgument);
}

TEST_F(ZkSessionTest, UnknownNamesMayBecomeKnown) {
  const auto session = ZkSession::Open({"no-such-host.invalid:2181", Millis(2000)});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), Code::kUnavailable) << session.error().ToString();
  for (const char* servers : {"127.0.0.1", "127.0.0.1:port", "127.0.0.1:0", ":2181", "no-such-host.invalid:2181,"}) {
    const auto refused = ZkSession::Open({servers, Millis(2000)});
    ASSERT_FALSE(refused.ok()) << servers;
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument) << refused.error().ToString();
  }
}

TEST_F(ZkSessionTest, ClosesWhileOtherThreadsCall) {
  const auto session = Connect();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto children = session->Children("/");
        if (!children.ok() && children.error().code() == Code::kAborted) return;
      }
    });
  }
  session->Close();
  stop = true;
  for (auto& thread : threads) thread.join();
}

// The server logs a stack trace when its answer to the request to close finds the connection gone.
TEST_F(ZkSessionTest, ClosingLeavesNoStackTraceInTheServersLog) {
  const auto traces = [] {
    const std::string log = ServerLog();
    std::size_t found = 0;
    for (auto at = log.find("SocketException"); at != std::string::npos; at = log.find("SocketException", at + 1))
      ++found;
    return found;
  };
  const std::size_t before = traces();
  for (int i = 0; i < 30; ++i) Connect()->Close();
  EXPECT_EQ(traces(), before);
}

}  // namespace
}  // namespace ratchet::zk
