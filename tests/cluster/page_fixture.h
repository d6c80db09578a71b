// A cluster whose processes are queried by HTTP.
#pragma once

#include <charconv>
#include <map>
#include <string>

#include <rapidjson/document.h>

#include "common/model/proto/ratchet.pb.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/support/http_client.h"
#include "tests/support/metrics_parser.h"

namespace ratchet::chaos {

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
};

class PageTest : public ClusterTest {
 protected:
  // Returns the port from the process's log; 0 if the log does not have it in time.
  std::uint16_t PagePort(const std::string& process) {
    const std::string mark = "Start: page at http://127.0.0.1:";
    const auto line = cluster().WaitLog(process, mark, kPatience);
    EXPECT_TRUE(line.ok()) << line.error().ToString();
    if (!line.ok()) return 0;
    const std::string text = line->substr(line->find(mark) + mark.size());
    std::uint16_t port = 0;
    std::from_chars(text.data(), text.data() + text.size(), port);
    return port;
  }
  HttpAnswer Get(const std::string& process, const std::string& target) { return GetAt(PagePort(process), target); }
  static HttpAnswer GetAt(std::uint16_t port, const std::string& target) {
    const std::string text = http::Fetch(port, target);
    HttpAnswer answer;
    const auto end = text.find("\r\n\r\n");
    answer.head = text.substr(0, end);
    if (end != std::string::npos) answer.body = text.substr(end + 4);
    if (answer.head.size() > 12) answer.status = std::atoi(answer.head.c_str() + 9);
    return answer;
  }
  // Returns the envelope of a view; an empty object if it is refused.
  rapidjson::Document View(const std::string& process, const std::string& path) {
    const HttpAnswer answer = Get(process, "/api/v1/" + path);
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    rapidjson::Document document;
    document.Parse(answer.body.c_str());
    EXPECT_FALSE(document.HasParseError()) << path << ": " << answer.body;
    if (!document.IsObject()) document.SetObject();
    return document;
  }
  // Scrapes the metrics and checks their format and conventions.
  metrics::ParsedMetrics Scrape(const std::string& process) {
    const HttpAnswer answer = Get(process, "/metrics");
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(answer.head.find("text/plain; version=0.0.4"), std::string::npos) << answer.head;
    metrics::ParsedMetrics parsed = metrics::ParseMetrics(answer.body);
    for (const std::string& fault : parsed.faults) ADD_FAILURE() << process << ": " << fault;
    return parsed;
  }
  std::string Active() {
    const auto active = cluster().WaitActiveMaster(kPatience);
    EXPECT_TRUE(active.ok());
    return active.ok() ? *active : std::string();
  }
};

}  // namespace ratchet::chaos
