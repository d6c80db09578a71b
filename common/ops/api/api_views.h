// Answers the JSON views by HTTP: finds the view, asks the right master, wraps the output of the command.
//
// Envelope: {"view", "command", "answered_by", "role", "at_ms", "took_ms", "marks", "offset", "limit", "total",
// "data"}. `answered_by` and `role` describe this process; `data` comes from the master that was asked. For a table,
// `offset`, `limit` and `total` show which rows the answer has. A refusal has "error" and "message" instead of "data",
// and its own HTTP status. Both have `marks`: the reasons why an answer of this process may be incomplete; null when
// the answer comes from another process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/client/connection.h"
#include "common/http/http_request.h"
#include "common/http/http_response.h"
#include "common/ops/api/response_cache.h"
#include "common/ops/page/info_page.h"

namespace ratchet::api {

// Describes the process that serves the views; called on the page's threads.
struct ApiDeps {
  const Clock& clock;
  std::function<std::string()> self{};         // "host,port,startcode"
  std::function<std::string()> role{};         // "active", "standby", "activating", "stopping", "regionserver", "host"
  std::function<std::string()> own_address{};  // "host:port" of this process's RPC server if it is a master; else empty
  std::string zookeeper{};                     // where the active master is looked up
  std::string znode_parent{};
  std::function<std::vector<SettingRow>()> settings{};  // of this process
  std::function<std::string()> steps_json{};            // the step tables of all types; empty: this process has none
  std::function<std::vector<std::string>()> marks{};    // empty: this process has no marks; must not wait
  bool regions = true;  // false: a host with procedures only; views of servers, tables and regions are not offered
};

class ApiViews {
 public:
  explicit ApiViews(ApiDeps deps);
  ~ApiViews();

  // Adds /api/v1/ with all views, settings, steps, the list of views, and the stream of events. Before its Start; the
  // views outlive the page.
  void AddTo(page::InfoPage& page);
  // Running calls fail, so that the page can stop.
  void Close();

  // `path`: the part after "/api/v1/".
  [[nodiscard]] http::HttpResponse Answer(const std::string& path, const http::HttpRequest& request);

  // Connections to this process, for views of its own state, and to the active master, which may be this process.
  [[nodiscard]] Result<client::Connection*> ToSelf();
  [[nodiscard]] Result<client::Connection*> ToActive();

 private:
  [[nodiscard]] http::HttpResponse Follow(const http::HttpRequest& request);
  struct Connections;
  // True if only this process knows the answer.
  [[nodiscard]] bool IsItsOwn() const;
  const ApiDeps deps_;
  ResponseCache cached_;
  const std::unique_ptr<Connections> connections_;
};

}  // namespace ratchet::api
