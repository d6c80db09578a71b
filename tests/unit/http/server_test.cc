#include "common/http/http_server.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "tests/support/http_client.h"

namespace ratchet::http {
namespace {

constexpr Millis kPatience{60'000};

// A door that handlers wait at.
class Door {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mutex_);
    ++waiting_;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(mutex_);
  }
  void AwaitWaiting(int count) {
    MutexLock lock(mutex_);
    while (waiting_ < count) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ GUARDED_BY(mutex_) = false;
  int waiting_ GUARDED_BY(mutex_) = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpOptions options = {}) {
    server_ = std::make_unique<HttpServer>(std::move(options));
    server_->Handle("/", Lane::kFast, [](const HttpRequest&) { return HttpResponse::Text(200, "root"); });
    server_->Handle("/deep/", Lane::kFast,
                    [](const HttpRequest& request) { return HttpResponse::Text(200, "deep " + request.path); });
    server_->Handle("/throws", Lane::kFast, [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("no"); });
    server_->Handle("/slow", Lane::kSlow, [this](const HttpRequest&) {
      door_.Pass();
      return HttpResponse::Text(200, "slow");
    });
    server_->Handle("/big", Lane::kFast,
                    [](const HttpRequest&) { return HttpResponse::Of(200, "text/plain", std::string(8u << 20, 'x')); });
    server_->Handle("/stream", Lane::kFast, [this](const HttpRequest&) {
      HttpResponse response;
      response.type = "text/event-stream";
      response.stream = [this]() -> std::optional<std::string> { return "tick " + std::to_string(++ticks_) + "\n"; };
      return response;
    });
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.error().ToString();
  }
  void TearDown() override { door_.Open(); }

  std::string Get(const std::string& target) { return Fetch(server_->port(), target); }
  bool Eventually(const std::function<bool()>& holds) {
    const SystemClock clock;
    const TimePoint deadline = clock.Now() + kPatience;
    while (!holds()) {
      if (clock.Now() >= deadline) return false;
      IgnoreAnswer(Get("/"));  // a round trip instead of a pause
    }
    return true;
  }
  static void IgnoreAnswer(const std::string& /*text*/) {}

  Door door_;
  std::atomic<int> ticks_{0};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, PathsLeadToTheirHandlers) {
  Start();
  EXPECT_THAT(Get("/"), ::testing::EndsWith("root\n"));
  EXPECT_THAT(Get("/deep/er?x=1"), ::testing::EndsWith("deep /deep/er\n"));
  EXPECT_THAT(Get("/elsewhere"), ::testing::StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/throws"), ::testing::StartsWith("HTTP/1.1 500 "));
  const std::string page = Get("/");
  EXPECT_THAT(page, ::testing::HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';"));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("unsafe")));
}

// A page of another site whose name was made to point here is refused before a handler runs; addresses, names that the
// operator gave and scrapers without a Host field are served.
TEST_F(HttpServerTest, ForeignHostsAreRefused) {
  HttpOptions options;
  options.names = HostRule({"Master1.Example"});
  Start(options);
  const auto get = [this](const std::string& fields) {
    const HttpClient client(server_->port());
    client.Send("GET / HTTP/1.1\r\nConnection: close\r\n" + fields + "\r\n");
    return client.Receive();
  };
  const std::string refused = get("Host: evil.example:16010\r\n");
  EXPECT_THAT(refused, ::testing::StartsWith("HTTP/1.1 421 Misdirected Request\r\n"));
  EXPECT_THAT(refused, ::testing::HasSubstr("--info-names"));
  EXPECT_THAT(refused, ::testing::Not(::testing::HasSubstr("root")));
  EXPECT_THAT(get("Host: evil.example\r\nX-Forwarded-Host: localhost\r\n"), ::testing::StartsWith("HTTP/1.1 421 "));
  for (const std::string host : {"127.0.0.1:16010", "localhost", "master1.example.", "[::1]:16010"})
    EXPECT_THAT(get("Host: " + host + "\r\n"), ::testing::EndsWith("root\n")) << host;
  EXPECT_THAT(get(""), ::testing::EndsWith("root\n"));
}

TEST_F(HttpServerTest, ATakenPortIsNamed) {
  Start();
  HttpOptions same;
  same.port = server_->port();
  HttpServer second(same);
  const Status started = second.Start();
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message(), ::testing::HasSubstr("127.0.0.1:" + std::to_string(server_->port())));
}

TEST_F(HttpServerTest, ManyRequestsGoThroughOneConnection) {
  Start();
  const HttpClient client(server_->port());
  for (int i = 0; i < 100; ++i) {
    client.Send("GET / HTTP/1.1\r\n\r\n");
    std::string answer;
    while (!answer.ends_with("root\n")) {
      const std::string more = client.Receive(1);
      ASSERT_FALSE(more.empty());
      answer += more;
    }
  }
  EXPECT_EQ(server_->stats().requests, 100U);
}

// Handlers that wait for other processes fill their lane; handlers that answer from memory are not affected, and
// further requests are answered with "try again".
TEST_F(HttpServerTest, SlowHandlersKeepNeitherTheFastOnesNorTheRefusals) {
  HttpOptions options;
  options.workers.slow_threads = 1;
  options.workers.queue_length = 2;
  Start(options);
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(std::make_unique<HttpClient>(server_->port()));
    slow.back()->Send("GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n");
    if (i == 0) door_.AwaitWaiting(1);
  }
  ASSERT_TRUE(Eventually([this] { return Get("/slow?one=more").starts_with("HTTP/1.1 503 "); }));
  EXPECT_THAT(Get("/"), ::testing::EndsWith("root\n"));
  door_.Open();
  for (const auto& client : slow) EXPECT_THAT(client->Receive(), ::testing::EndsWith("slow\n"));
}

// A thousand clients that send nothing, or begin a request and do not end it.
TEST_F(HttpServerTest, ClientsThatDoNotFinishKeepNoOtherOut) {
  HttpOptions options;
  options.max_connections = 16;
  Start(options);
  std::vector<std::unique_ptr<HttpClient>> silent;
  for (int i = 0; i < 1000; ++i) {
    silent.push_back(std::make_unique<HttpClient>(server_->port()));
    if (i % 2 == 0) silent.back()->Send("GET / HT");
    if (i % 100 == 0) {
      EXPECT_THAT(Get("/"), ::testing::EndsWith("root\n")) << i;
    }
  }
  EXPECT_THAT(Get("/"), ::testing::EndsWith("root\n"));
  EXPECT_LE(server_->stats().connections_open, options.max_connections);
  EXPECT_GE(server_->stats().refused, 900U);
  EXPECT_TRUE(silent.front()->Closed());
}

TEST_F(HttpServerTest, ARequestThatNeverEndsIsGivenUpInTime) {
  HttpOptions options;
  options.limits.request = Millis{200};
  Start(options);
  const HttpClient client(server_->port());
  client.Send("GET / HTTP/1.1\r\nX: y");
  EXPECT_THAT(client.Receive(), ::testing::StartsWith("HTTP/1.1 408 "));
}

// Readers that request much and read nothing: their unsent answers are bounded, and others are served.
TEST_F(HttpServerTest, AnswersThatAreNotTakenAreBounded) {
  HttpOptions options;
  options.max_unsent_bytes = 24u << 20;
  Start(options);
  std::vector<std::unique_ptr<HttpClient>> lazy;
  for (int i = 0; i < 12; ++i) {
    lazy.push_back(std::make_unique<HttpClient>(server_->port()));
    lazy.back()->Send("GET /big HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(Eventually([this] { return server_->stats().refused >= 8; }));
  EXPECT_THAT(Get("/"), ::testing::EndsWith("root\n"));
  EXPECT_EQ(Get("/big").size() > (8u << 20), true) << "a reader that reads gets all of it";
}

TEST_F(HttpServerTest, FollowersGetWhatComesAndAreBounded) {
  HttpOptions options;
  options.max_streams = 2;
  options.stream_interval = Millis{20};
  Start(options);
  std::vector<std::unique_ptr<HttpClient>> followers;
  for (int i = 0; i < 2; ++i) {
    followers.push_back(std::make_unique<HttpClient>(server_->port()));
    followers.back()->Send("GET /stream HTTP/1.1\r\n\r\n");
    EXPECT_THAT(followers.back()->Receive(600), ::testing::HasSubstr("tick "));
  }
  EXPECT_THAT(Get("/stream"), ::testing::StartsWith("HTTP/1.1 503 "));
  followers.pop_back();
  EXPECT_TRUE(Eventually([this] { return server_->stats().streams_open == 1; }));
}

TEST_F(HttpServerTest, AskingForTheHeadOfAStreamFollowsNothing) {
  HttpOptions options;
  options.max_streams = 2;
  Start(options);
  const HttpClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    client.Send("HEAD /stream HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.Receive(1), ::testing::StartsWith("HTTP/1.1 200"));
  }
  const HttpClient follower(server_->port());
  follower.Send("GET /stream HTTP/1.1\r\n\r\n");
  EXPECT_THAT(follower.Receive(1), ::testing::StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(Eventually([this] { return server_->stats().streams_open == 1; }));
}

TEST_F(HttpServerTest, StopClosesWhatIsOpen) {
  Start();
  const HttpClient idle(server_->port());
  const HttpClient follower(server_->port());
  follower.Send("GET /stream HTTP/1.1\r\n\r\n");
  EXPECT_THAT(follower.Receive(1), ::testing::StartsWith("HTTP/1.1 200"));
  server_.reset();
  EXPECT_TRUE(idle.Closed());
  EXPECT_TRUE(follower.Closed());
}

}  // namespace
}  // namespace ratchet::http
