// Answers the JSON views by HTTP: finds the view, asks the right master, wraps what the command prints.
//
// Envelope: {"view", "command", "answered_by", "role", "at_ms", "took_ms", "marks", "offset", "limit", "total",
// "data"}. `answered_by` and `role` are of this process; what `data` shows is of the master that was asked. Of a table
// `offset`, `limit` and `total` tell which rows these are. A refusal has "error" and "message" instead of "data", and a
// status of its own. `marks` of both: what makes an answer of this very process less than the whole truth; null where
// another one's answer is shown.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/api/known_answers.h"
#include "common/base/clock.h"
#include "common/client/connection.h"
#include "common/http/http_request.h"
#include "common/http/http_response.h"
#include "common/page/info_page.h"

namespace ratchet::api {

// Of the process that serves the views; called on the page's threads.
struct ApiDeps {
  const Clock& clock;
  std::function<std::string()> self{};         // "host,port,startcode"
  std::function<std::string()> role{};         // "active", "standby", "activating", "stopping", "regionserver", "host"
  std::function<std::string()> own_address{};  // "host:port" of its own RPC server when it is a master; else empty
  std::string zookeeper{};                     // where the active master is looked up
  std::string znode_parent{};
  std::function<std::string()> settings{};            // Settings::Dump, of this process
  std::function<std::string()> steps_json{};          // the step tables of all types; empty: this process has none
  std::function<std::vector<std::string>()> marks{};  // empty: this process knows of none; waits for nothing
  bool regions = true;  // false: a host of procedures alone; views of servers, tables and regions are not offered
};

class ApiViews {
 public:
  explicit ApiViews(ApiDeps deps);
  ~ApiViews();

  // Adds /api/v1/ with all views, settings, steps, the list of views, and the stream of events. Before its Start; the
  // views outlive the page.
  void AddTo(page::InfoPage& page);
  // Calls under way fail, so that the page can stop.
  void Close();

  // `path`: behind "/api/v1/".
  [[nodiscard]] http::HttpResponse Answer(const std::string& path, const http::HttpRequest& request);

  // To itself, for views that tell of this very master; and to the active one, which may be itself.
  [[nodiscard]] Result<client::Connection*> ToSelf();
  [[nodiscard]] Result<client::Connection*> ToActive();

 private:
  [[nodiscard]] http::HttpResponse Follow(const http::HttpRequest& request);
  struct Connections;
  // What is asked for is this very process's to know.
  [[nodiscard]] bool IsItsOwn() const;
  const ApiDeps deps_;
  KnownAnswers known_;
  const std::unique_ptr<Connections> connections_;
};

}  // namespace ratchet::api
