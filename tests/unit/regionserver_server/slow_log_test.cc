// The slow log, by itself and through the wire.
#include "regionserver/rpc/slow_log.h"

#include "common/rpc/methods/admin_service.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kJavaClasses = "org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos$";

class SlowLogTest : public testing::Test {
 protected:
  void Note(const std::string& row, bool slow, bool large, const std::string& user = "me",
            const std::string& region = "t,,1.x.") {
    pb::GetRequest request;
    request.mutable_region()->set_type(pb::RegionSpecifier::REGION_NAME);
    request.mutable_region()->set_value(region);
    request.mutable_get()->set_row(row);
    rpc::CallContext context;
    context.service = methods::kClientService;
    context.method = "Get";
    context.user = user;
    context.peer = "127.0.0.1:4711";
    log_.Note({context, request, Millis(1), Millis(20), 300, slow, large}, 1'000'000);
  }
  std::size_t Count(const std::function<void(pb::SlowLogResponseRequest&)>& change) {
    pb::SlowLogResponseRequest request;
    change(request);
    return static_cast<std::size_t>(log_.Read(request).slow_log_payloads_size());
  }

  SlowLog log_{3};
};

TEST_F(SlowLogTest, KeepsTheNewestAndTellsThemFirst) {
  for (const char* user : {"a", "b", "c", "d"}) Note("r", true, false, user);
  const pb::SlowLogResponses all = log_.Read({});
  ASSERT_EQ(all.slow_log_payloads_size(), 3);
  EXPECT_EQ(all.slow_log_payloads(0).user_name(), "d");
  EXPECT_EQ(all.slow_log_payloads(2).user_name(), "b");
  EXPECT_EQ(all.slow_log_payloads(0).start_time(), 999'980);
  EXPECT_EQ(all.slow_log_payloads(0).queue_time(), 1);
  EXPECT_EQ(all.slow_log_payloads(0).region_name(), "t,,1.x.");
  EXPECT_EQ(Count([](auto& request) { request.set_limit(2); }), 2U);
  log_.Clear();
  EXPECT_EQ(Count([](auto&) {}), 0U);
}

TEST_F(SlowLogTest, Filters) {
  Note("r", true, false, "a");
  Note("r", false, true, "b", "u,,1.x.");
  Note("r", true, true, "a", "u,,1.x.");
  EXPECT_EQ(Count([](auto& r) { r.set_log_type(pb::SlowLogResponseRequest::SLOW_LOG); }), 2U);
  EXPECT_EQ(Count([](auto& r) { r.set_log_type(pb::SlowLogResponseRequest::LARGE_LOG); }), 2U);
  EXPECT_EQ(Count([](auto& r) { r.set_user_name("a"); }), 2U);
  EXPECT_EQ(Count([](auto& r) { r.set_table_name("u"); }), 2U);
  EXPECT_EQ(Count([](auto& r) { r.set_region_name("t,,1.x."); }), 1U);
  EXPECT_EQ(Count([](auto& r) { r.set_client_address("127.0.0.1"); }), 3U);
  EXPECT_EQ(Count([](auto& r) { r.set_client_address("127.0.0.1:1"); }), 0U);
  const auto both = [](auto& r) {
    r.set_user_name("a");
    r.set_table_name("u");
  };
  EXPECT_EQ(Count(both), 3U) << "one is enough";
  EXPECT_EQ(Count([&](auto& r) {
              both(r);
              r.set_filter_by_operator(pb::SlowLogResponseRequest::AND);
            }),
            1U);
}

TEST_F(SlowLogTest, IsReadAndClearedThroughTheWire) {
  auto log = std::make_shared<SlowLog>(10);
  auto service = std::make_shared<rpc::Service>(methods::kAdminService);
  AddSlowLogMethods(*service, log);
  auto data = std::make_shared<rpc::Service>(methods::kClientService);
  data->On(methods::kGet, [](const rpc::CallContext&, const pb::GetRequest&, std::string_view,
                             const rpc::Responder<pb::GetResponse>& responder) { responder.Reply({}); });
  rpc::ServerOptions options;
  options.watch.slow = Millis(0);
  options.watch.told = [log](const rpc::FinishedCall& call) { log->Note(call, 5'000); };
  rpc::RpcServer server(options);
  server.Add(service);
  server.Add(data);
  ASSERT_TRUE(server.Start().ok());
  rpc::ChannelPool pool{rpc::ChannelPoolOptions{}};
  const auto call = [&](const auto& method, const auto& request) {
    return pool.CallSync(method, {"127.0.0.1", server.port()}, request);
  };
  pb::GetRequest get;
  get.mutable_region()->set_type(pb::RegionSpecifier::REGION_NAME);
  get.mutable_region()->set_value("t,,1.x.");
  get.mutable_get()->set_row("r");
  ASSERT_TRUE(call(methods::kGet, get).ok());

  pb::LogRequest request;
  request.set_log_class_name(std::string(kJavaClasses) + "SlowLogResponseRequest");
  request.set_log_message(pb::SlowLogResponseRequest().SerializeAsString());
  const auto entry = call(methods::kGetLogEntries, request);
  ASSERT_TRUE(entry.ok()) << entry.error().ToString();
  EXPECT_EQ(entry->message.log_class_name(), std::string(kJavaClasses) + "SlowLogResponses");
  pb::SlowLogResponses calls;
  ASSERT_TRUE(calls.ParseFromString(entry->message.log_message()));
  ASSERT_EQ(calls.slow_log_payloads_size(), 1) << "calls of other services are not kept";
  EXPECT_EQ(calls.slow_log_payloads(0).method_name(), "Get");
  EXPECT_EQ(call(methods::kGetSlowLogResponses, pb::SlowLogResponseRequest())->message.slow_log_payloads_size(), 1);
  EXPECT_EQ(call(methods::kGetLargeLogResponses, pb::SlowLogResponseRequest())->message.slow_log_payloads_size(), 0);
  EXPECT_TRUE(call(methods::kClearSlowLogsResponses, pb::ClearSlowLogResponseRequest())->message.is_cleaned());
  EXPECT_EQ(call(methods::kGetSlowLogResponses, pb::SlowLogResponseRequest())->message.slow_log_payloads_size(), 0);
  request.set_log_class_name("org.example.Other");
  EXPECT_FALSE(call(methods::kGetLogEntries, request).ok());
  pool.Stop();
  server.Stop();
}

}  // namespace
}  // namespace ratchet::regionserver
