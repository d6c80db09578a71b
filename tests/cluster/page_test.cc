// HTTP output of processes: metrics, JSON views, the files of the page.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "chaos/cluster/child_process.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(PageTest, MetricsOfAllProcessesFollowTheFormatAndTellWhatHappened) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  StartWriter("t");
  WaitForWrites(20);
  if (HasFatalFailure()) return;
  const std::string active = Active();
  const auto master = Scrape(active);
  EXPECT_EQ(master.Value("ratchet_master_role", {{"role", "active"}}), 1);
  EXPECT_EQ(master.Value("ratchet_servers", {{"phase", "ONLINE"}}), 2);
  EXPECT_EQ(master.Value("ratchet_meta_online"), 1);
  EXPECT_GE(master.Value("ratchet_regions", {{"state", "OPEN"}}), 5);
  EXPECT_EQ(master.Value("ratchet_regions_in_transition"), 0);
  EXPECT_EQ(master.Value("ratchet_procedures_finished_total", {{"type", "CreateTable"}, {"outcome", "success"}}), 1);
  EXPECT_EQ(master.Value("ratchet_procedure_duration_seconds_count", {{"type", "CreateTable"}}), 1);
  EXPECT_GE(master.Value("ratchet_store_sync_duration_seconds_count"), 1);
  EXPECT_EQ(master.Value("ratchet_zookeeper_connected"), 1);
  EXPECT_EQ(master.Value("ratchet_rights_refused_total"), 0);
  EXPECT_EQ(master.Value("ratchet_rights_would_refuse_total"), 0);
  EXPECT_GE(master.Value("ratchet_rpc_calls_total", {{"service", "MasterService"}, {"method", "CreateTable"}}), 1);
  EXPECT_EQ(Scrape(active == "master-1" ? "master-2" : "master-1").Value("ratchet_master_role", {{"role", "standby"}}),
            1);
  double mutations = 0;
  for (const char* server : {"rs-1", "rs-2"}) {
    const auto metrics = Scrape(server);
    mutations += metrics.Value("ratchet_mutations_total");
    EXPECT_EQ(metrics.Value("ratchet_server_registered"), 1);
    EXPECT_EQ(metrics.Value("ratchet_zookeeper_connected"), 1);
    EXPECT_GE(metrics.Value("ratchet_log_sync_duration_seconds_count"), 1);
    EXPECT_GE(metrics.Value("ratchet_memstore_limit_bytes"), 1);
    EXPECT_EQ(metrics.Value("ratchet_block_cache_limit_bytes"), 128 << 20);
    EXPECT_GE(metrics.Value("ratchet_block_cache_misses_total"), 0);
  }
  EXPECT_GE(mutations, 20);
}

TEST_F(PageTest, ARecoveryIsMeasuredByPhaseAndShownOnTheTimeline) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9("rs-2"));
  ASSERT_OK(ProcessCluster::WaitUntil("a measured recovery", kPatience, [&] {
    return Scrape("master-1").Value("ratchet_recovery_duration_seconds_count", {{"phase", "assign"}}) == 1;
  }));
  const auto timeline = View("master-1", "timeline");
  ASSERT_TRUE(timeline.HasMember("data"));
  std::set<std::string> steps;
  for (const auto& step : timeline["data"].GetArray()) steps.insert(step["step"].GetString());
  for (const char* step : {"START", "FENCE", "SEAL", "SPLIT_LOG", "ASSIGN_REGIONS"}) EXPECT_TRUE(steps.contains(step));
  ASSERT_OK(cluster().Start("rs-2"));
}

TEST_F(PageTest, ClientsLearnThePortsAndOffIsOff) {
  ClusterSpec spec;
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  const auto status = admin().ClusterStatus();
  ASSERT_OK(status);
  EXPECT_EQ(status->master_info_port(), PagePort("master-1"));
  const auto info = connection().pool().CallSync(methods::kGetServerInfo, {"127.0.0.1", cluster().Info("rs-1").port},
                                                 hbase::pb::GetServerInfoRequest());
  ASSERT_OK(info);
  EXPECT_EQ(info->message.server_info().webui_port(), PagePort("rs-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the reports to show the ports", kPatience, [&] {
    const auto servers = admin().Call(methods::kListServers, pb::ListServersRequest());
    if (!servers.ok()) return false;
    std::set<std::uint32_t> ports;
    for (const auto& server : servers->server()) ports.insert(server.info_port());
    return ports == std::set<std::uint32_t>{PagePort("rs-1"), PagePort("rs-2")};
  }));

  ASSERT_OK(cluster().Stop("master-1", kPatience));
  ASSERT_OK(cluster().Start("master-1", {}, {"--info-port", "-1"}));
  ASSERT_OK(cluster().WaitLog("master-1", "no page and no metrics by HTTP", kPatience));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto without = admin().ClusterStatus();
  ASSERT_OK(without);
  EXPECT_EQ(without->master_info_port(), -1);
}

TEST_F(PageTest, AProcessWhosePortIsTakenGoesOnWithoutAPage) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  const std::string taken = std::to_string(PagePort("master-1"));
  const auto name = cluster().AddServer({}, {"--info-port", taken});
  ASSERT_OK(name);
  const auto line = cluster().WaitLog(*name, "continues without its page", kPatience);
  ASSERT_OK(line);
  EXPECT_NE(line->find("127.0.0.1:" + taken), std::string::npos) << *line;
  EXPECT_NE(line->find("Address already in use"), std::string::npos) << *line;
  ASSERT_OK(cluster().WaitServing(kPatience));
}

TEST_F(PageTest, AStandbyShowsTheClusterAndItself) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  const std::string active = Active();
  const std::string standby = active == "master-1" ? "master-2" : "master-1";
  const auto shown = View(standby, "cluster");
  ASSERT_TRUE(shown.HasMember("data"));
  EXPECT_STREQ(shown["role"].GetString(), "standby");
  EXPECT_EQ(shown["data"]["live_servers"].Size(), 1U);
  EXPECT_STREQ(View(standby, "master")["data"]["role"].GetString(), "standby");
  EXPECT_EQ(Get(standby, "/").status, 200);
  // After a failover the standby's page continues as the active master's.
  ASSERT_OK(cluster().Kill9(active));
  ASSERT_OK(ProcessCluster::WaitUntil("the standby to be active", kPatience, [&] {
    const HttpAnswer answer = Get(standby, "/api/v1/cluster");
    return answer.status == 200 && answer.body.find("\"role\":\"active\"") != std::string::npos;
  }));
  ASSERT_OK(cluster().Start(active));
}

// While hbase:meta is offline and no server lives, the page answers from the master's memory.
TEST_F(PageTest, ADegradedClusterIsShown) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("rs-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the problem to be shown", kPatience, [&] {
    const auto shown = View("master-1", "cluster");
    return shown.HasMember("data") && shown["data"]["problems"].Size() > 0;
  }));
  for (const char* path :
       {"procedures", "locks", "servers", "regions", "why", "timeline", "store", "pauses", "types"}) {
    EXPECT_TRUE(View("master-1", path).HasMember("data")) << path;
  }
  ASSERT_OK(ProcessCluster::WaitUntil("hbase:meta to be away", kPatience,
                                      [&] { return Scrape("master-1").Value("ratchet_meta_online") == 0; }));
  // A starting master that makes no progress.
  ASSERT_OK(cluster().Restart("master-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the starting master to show itself", kPatience, [&] {
    const HttpAnswer answer = Get("master-1", "/api/v1/cluster");
    return answer.status == 200 && answer.body.find("\"role\":\"activating\"") != std::string::npos &&
           answer.body.find("the master is starting") != std::string::npos;
  }));
  EXPECT_EQ(Scrape("master-1").Value("ratchet_master_role", {{"role", "activating"}}), 1);
}

TEST_F(PageTest, WrongRequestsAreRefusedByNameAndNothingSecretIsShown) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  const auto refused = [&](const std::string& path, int status, const std::string& text) {
    const HttpAnswer answer = Get("master-1", "/api/v1/" + path);
    EXPECT_EQ(answer.status, status) << path << ": " << answer.body;
    EXPECT_NE(answer.body.find(text), std::string::npos) << path << ": " << answer.body;
  };
  refused("nosuch", 404, "no such view");
  refused("procedure/999999", 404, "999999");
  refused("procedure/x", 400, "must be an integer");
  refused("procedures?limit=0", 400, "limit");
  refused("procedures?offset=-1", 400, "offset");
  refused("table/nosuch", 404, "nosuch");
  refused("regions?table=nosuch", 404, "nosuch");

  const auto part = View("master-1", "regions?table=t&limit=2&offset=1");
  ASSERT_TRUE(part.HasMember("data"));
  EXPECT_EQ(part["total"].GetUint64(), 3U);
  EXPECT_EQ(part["data"].Size(), 2U);
  const auto rest = View("master-1", "regions?limit=2&offset=3");
  EXPECT_EQ(rest["total"].GetUint64(), 4U);
  EXPECT_EQ(rest["data"].Size(), 1U) << "hbase:meta and three of the table";

  const std::string key = ContentOf(cluster().root() / "cluster.key");
  ASSERT_GE(key.size(), 16U);
  for (const char* process : {"master-1", "rs-1"}) {
    for (const char* path : {"/api/v1/settings", "/api/v1/cluster", "/metrics", "/api/v1/", "/"}) {
      const HttpAnswer answer = Get(process, path);
      EXPECT_EQ(answer.status, 200) << path;
      EXPECT_EQ(answer.body.find(key.substr(0, 16)), std::string::npos) << process << path;
    }
  }
  EXPECT_NE(Get("master-1", "/api/v1/settings").body.find("\"name\":\"info-port\",\"value\":\"0\""), std::string::npos);
}

// Collects the fields of an answer, down to the first row of each list, such as "data[].pid".
void CollectFields(const rapidjson::Value& value, const std::string& path, std::set<std::string>& fields) {
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      const std::string name = path + "." + member.name.GetString();
      fields.insert(name);
      CollectFields(member.value, name, fields);
    }
  } else if (value.IsArray() && !value.Empty()) {
    CollectFields(value[0], path + "[]", fields);
  }
}

// For every example of docs/http-api.md, the path answers with the fields of the example. Lists that are empty on
// either side are not compared.
TEST_F(PageTest, TheExamplesOfTheDocumentationAreWhatIsAnswered) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  ASSERT_OK(ProcessCluster::WaitUntil("the server to log its page", kPatience, [&] {
    const auto servers = View("master-1", "servers");
    return servers.HasMember("data") && servers["data"][0]["page"].IsString();
  }));
  const std::string document = ContentOf("docs/http-api.md");
  static const std::regex example(R"(### `/api/v1/([^`]+)`\n\n```json\n([^`]+)```)");
  std::size_t examples = 0;
  for (std::sregex_iterator it(document.begin(), document.end(), example), end; it != end; ++it, ++examples) {
    SCOPED_TRACE((*it)[1].str());
    rapidjson::Document shown;
    shown.Parse((*it)[2].str().c_str());
    ASSERT_FALSE(shown.HasParseError());
    const auto answered = View("master-1", (*it)[1].str());
    std::set<std::string> expected;
    std::set<std::string> got;
    CollectFields(shown, "", expected);
    CollectFields(answered, "", got);
    const auto comparable = [](const std::set<std::string>& fields, const std::set<std::string>& others) {
      std::set<std::string> kept;
      for (const std::string& field : fields) {
        const auto list = field.find("[]");
        const auto next = list == std::string::npos ? others.end() : others.lower_bound(field.substr(0, list) + "[]");
        const bool missing = next == others.end() || !next->starts_with(field.substr(0, list) + "[]");
        if (list == std::string::npos || !missing) kept.insert(field);
      }
      return kept;
    };
    EXPECT_EQ(comparable(expected, got), comparable(got, expected));
  }
  EXPECT_GE(examples, 10U) << "run from the root of the project";
}

// Readers that never read, never end their request, or use another protocol, at a master and at a region server: their
// memory is bounded, and the cluster keeps working.
TEST_F(PageTest, SlowAndHostileReadersHoldNothingUp) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 100);
  StartWriter("t");
  if (HasFatalFailure()) return;
  const std::vector<std::string> requests = {
      "GET /api/v1/regions HTTP/1.1\r\n\r\n",
      "GET /api/v1/events/stream HTTP/1.1\r\n\r\n",
      "GET / HT",
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
      "GET /" + std::string(7'000, 'a') + " HTTP/1.1\r\nX: ",
      "GET /api/v1/history?newest=100000 HTTP/1.1\r\n\r\n",
  };
  constexpr double kMostAnswers = 64 << 20;  // HttpOptions::max_unsent_bytes
  constexpr double kSlack = 64 << 20;        // for the allocator and for other work of the process
  for (const std::string process : {"master-1", "rs-1"}) {
    const std::uint16_t port = PagePort(process);
    const double before = Scrape(process).Value("process_resident_memory_bytes");
    std::vector<std::unique_ptr<http::HttpClient>> readers;
    for (std::size_t i = 0; i < 600; ++i) {
      readers.push_back(std::make_unique<http::HttpClient>(port));
      readers.back()->Send(requests[i % requests.size()]);
    }
    metrics::ParsedMetrics parsed;
    ASSERT_OK(ProcessCluster::WaitUntil("a scrape among them", kPatience, [&] {
      const HttpAnswer answer = GetAt(port, "/metrics");
      if (answer.status == 200) parsed = metrics::ParseMetrics(answer.body);
      return answer.status == 200;
    }));
    EXPECT_LE(parsed.Value("ratchet_page_connections"), 256) << process;
    EXPECT_LE(parsed.Value("ratchet_page_followers"), 32) << process;
    EXPECT_LE(parsed.Value("process_resident_memory_bytes"), before + kMostAnswers + kSlack) << process;
    WaitForWrites(50);
    ASSERT_OK(admin().ClusterStatus());
    readers.clear();
    ASSERT_OK(ProcessCluster::WaitUntil("the followers to be gone", kPatience,
                                        [&] { return Scrape(process).Value("ratchet_page_followers") == 0; }));
    EXPECT_STREQ(View(process, "cluster")["view"].GetString(), "cluster");
  }
}

// 1,000 scrapes and followers at once: bounded, and the next reader is served.
TEST_F(PageTest, AThousandReadersAreBounded) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  const std::uint16_t port = PagePort("master-1");
  std::vector<std::unique_ptr<http::HttpClient>> readers;
  for (int i = 0; i < 1'000; ++i) {
    readers.push_back(std::make_unique<http::HttpClient>(port));
    readers.back()->Send(i % 2 == 0 ? "GET /metrics HTTP/1.1\r\n\r\n" : "GET /api/v1/events/stream HTTP/1.1\r\n\r\n");
  }
  metrics::ParsedMetrics parsed;
  ASSERT_OK(ProcessCluster::WaitUntil("a scrape among the thousand", kPatience, [&] {
    const HttpAnswer answer = GetAt(port, "/metrics");
    if (answer.status != 200) return false;
    parsed = metrics::ParseMetrics(answer.body);
    return true;
  }));
  EXPECT_LE(parsed.Value("ratchet_page_connections"), 256);
  EXPECT_LE(parsed.Value("ratchet_page_followers"), 32);
  EXPECT_GE(parsed.Value("ratchet_page_refused_total"), 500);
  ASSERT_OK(admin().ClusterStatus());  // clients of the master are not affected
}

}  // namespace
}  // namespace ratchet::chaos
