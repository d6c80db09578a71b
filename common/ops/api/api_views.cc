#include "common/ops/api/api_views.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/base/mutex.h"
#include "common/ops/api/event_follower.h"
#include "common/ops/api/view_list.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/printer.h"

namespace ratchet::api {
namespace {

constexpr Millis kPatience{4'000};    // time limit of one view; a page asks again
constexpr Millis kAttempt{2'000};     // time limit of one call within a view
constexpr Millis kWithCached{1'500};  // time limit of one view if an earlier answer can be shown instead
constexpr const char* kUser = "page";
constexpr std::string_view kPrefix = "/api/v1/";

int StatusOf(int exit) {
  switch (exit) {
    case cli::kExitOk:
    case cli::kExitWaits: return 200;
    case cli::kExitUsage: return 400;
    case cli::kExitNotFound: return 404;
    case cli::kExitUnreachable: return 503;
    case cli::kExitTimeout: return 504;
    default: return 500;
  }
}

http::HttpResponse Refusal(int status, std::string_view word, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Add("error", word).Add("message", message).EndObject();
  return http::HttpResponse::Json(status, json.text() + "\n");
}

std::string MarksText(const ApiDeps& deps, const std::string& more) {
  JsonWriter json;
  json.BeginArray();
  for (const std::string& mark : deps.marks()) json.Text(mark);
  if (!more.empty()) json.Text(more);
  return json.EndArray().text();
}

// `more`: a mark that the process does not know itself; empty: none.
std::string MarksJson(const ApiDeps& deps, const std::string& more = {}) {
  if (!deps.marks || deps.role() == "standby") return "null";  // the answer of another process
  return MarksText(deps, more);
}

// The marks of a refusal include what a standby knows itself, because no other process has answered.
std::string MarksOfRefusal(const ApiDeps& deps) {
  if (!deps.marks) return "null";
  const std::string marks = MarksText(deps, {});
  return deps.role() == "standby" && marks == "[]" ? "null" : marks;
}

// The error as the command line prints it, together with the marks: they may be its cause.
std::string WithMarks(std::string refusal, const std::string& marks) {
  const auto end = refusal.find_last_of('}');
  if (end == std::string::npos || marks == "null") return refusal;
  return refusal.insert(end, ",\"marks\":" + marks);
}

std::string SettingsJson(const std::vector<SettingRow>& rows) {
  JsonWriter json;
  json.BeginArray();
  for (const SettingRow& row : rows) {
    json.BeginObject().Add("name", row.name).Add("value", row.value).Add("source", row.SourceText()).EndObject();
  }
  return json.EndArray().text();
}

std::string ViewsJson(bool with_regions) {
  JsonWriter json;
  json.BeginArray();
  for (const View& view : Views()) {
    if (view.of_regions && !with_regions) continue;
    json.BeginObject().Add("path", std::string(kPrefix) + std::string(view.name)).Add("parameters", view.parameters);
    json.Add("command", view.command).Add("what", view.what).EndObject();
  }
  return json.EndArray().text();
}

}  // namespace

// The object is made at the first request, because most processes never serve a view.
struct ApiViews::Connections {
  Result<client::Connection*> Get(std::unique_ptr<client::Connection>& connection,
                                  const client::ConnectionOptions& options) {
    MutexLock lock(mutex);
    if (closed) return Error(Code::kAborted, "this process is stopping");
    if (connection == nullptr) {
      RATCHET_ASSIGN(connection, client::Connection::Open(options));
    }
    return connection.get();
  }

  Mutex mutex;
  bool closed GUARDED_BY(mutex) = false;
  std::unique_ptr<client::Connection> to_self;
  std::unique_ptr<client::Connection> to_active;
};

ApiViews::ApiViews(ApiDeps deps) : deps_(std::move(deps)), connections_(std::make_unique<Connections>()) {}

ApiViews::~ApiViews() { Close(); }

void ApiViews::Close() {
  MutexLock lock(connections_->mutex);
  connections_->closed = true;
  for (client::Connection* connection : {connections_->to_self.get(), connections_->to_active.get()}) {
    if (connection != nullptr) connection->Close();
  }
}

Result<client::Connection*> ApiViews::ToSelf() {
  client::ConnectionOptions options;
  options.masters = {deps_.own_address()};
  options.user = kUser;
  options.operation_timeout = kPatience;
  options.rpc_timeout = kAttempt;
  return connections_->Get(connections_->to_self, options);
}

Result<client::Connection*> ApiViews::ToActive() {
  if (IsItsOwn()) return ToSelf();
  client::ConnectionOptions options;
  options.zookeeper = deps_.zookeeper;
  options.znode_parent = deps_.znode_parent;
  options.user = kUser;
  options.operation_timeout = kPatience;
  options.rpc_timeout = kAttempt;
  options.zookeeper_timeout = kAttempt;
  return connections_->Get(connections_->to_active, options);
}

http::HttpResponse ApiViews::Answer(const std::string& path, const http::HttpRequest& request) {
  const TimePoint began = deps_.clock.Now();
  const auto envelope = [&](std::string_view view, std::string_view command, const std::optional<ShownRows>& rows,
                            std::string_view data, const std::string& mark = {}) {
    const auto took = std::chrono::duration_cast<Millis>(deps_.clock.Now() - began);
    JsonWriter json;
    json.BeginObject().Add("view", view).Add("command", command).Add("answered_by", deps_.self());
    json.Add("role", deps_.role()).Add("at_ms", deps_.clock.WallMillis()).Add("took_ms", took.count());
    json.AddRaw("marks", MarksJson(deps_, mark));
    if (rows) json.Add("offset", rows->offset).Add("limit", rows->limit).Add("total", rows->total);
    json.AddRaw("data", data).EndObject();
    return http::HttpResponse::Json(200, json.text() + "\n");
  };
  if (path.empty()) return envelope("", "", {}, ViewsJson(deps_.regions));
  if (path == "settings")
    return envelope(path, "--print-config of this process", {},
                    SettingsJson(deps_.settings ? deps_.settings() : std::vector<SettingRow>()));
  if (path == "steps" && deps_.steps_json)
    return envelope(path, deps_.regions ? "ratchet-master --list-steps --json" : "", {}, deps_.steps_json());

  std::string part;
  const View* view = FindView(path, &part);
  if (view == nullptr || (view->of_regions && !deps_.regions))
    return Refusal(404, "NOT_FOUND", "there is no such view; /api/v1/ lists them");
  if (!view->of_active && deps_.own_address().empty()) return Refusal(404, "NOT_FOUND", "this process is not a master");
  cli::Printed printed;
  const auto offset = request.Number("offset", 0, 0, UINT32_MAX);
  const auto limit = request.Number("limit", kRowsByDefault, 1, kMostRows);
  if (!offset.ok()) return Refusal(400, "INVALID_ARGUMENT", offset.error().message());
  if (!limit.ok()) return Refusal(400, "INVALID_ARGUMENT", limit.error().message());
  printed.offset = *offset;
  printed.limit = *limit;
  auto connection = view->of_active ? ToActive() : ToSelf();
  if (!connection.ok()) {
    http::HttpResponse refusal = Refusal(503, "UNAVAILABLE", connection.error().message());
    refusal.body = std::make_shared<const std::string>(WithMarks(*refusal.body, MarksOfRefusal(deps_)));
    return refusal;
  }
  const std::string key = IsItsOwn() ? ResponseCache::KeyOf(request) : std::string();
  const auto cached = key.empty() ? nullptr : cached_.Get(key);
  cli::Session session{**connection, cli::Printer(printed), cached == nullptr ? kPatience : kWithCached};
  const Result<int> exit = view->run(session, request, part);
  if (!exit.ok()) return Refusal(400, "INVALID_ARGUMENT", exit.error().message());
  const int status = StatusOf(*exit);
  if ((status == 503 || status == 504) && cached != nullptr && IsItsOwn()) {
    const std::int64_t age = std::max<std::int64_t>(0, deps_.clock.WallMillis() - cached->at_ms);
    return envelope(view->name, view->command, cached->rows, cached->data,
                    fmt::format("this process cannot answer its own page now: this is its last answer, {} old",
                                cli::DurationText(age)));
  }
  if (status != 200) return http::HttpResponse::Json(status, WithMarks(printed.text, MarksOfRefusal(deps_)) + "\n");
  std::optional<ShownRows> rows;
  if (printed.total) rows = ShownRows{*offset, *limit, *printed.total};
  if (!key.empty()) cached_.Put(key, {rows, printed.text, deps_.clock.WallMillis()});
  return envelope(view->name, view->command, rows, printed.text);
}

bool ApiViews::IsItsOwn() const { return !deps_.own_address().empty() && deps_.role() != "standby"; }

http::HttpResponse ApiViews::Follow(const http::HttpRequest& request) {
  // The browser sends the number of the last event that it has seen.
  const auto last = request.fields.find("last-event-id");
  auto follower =
      std::make_shared<EventFollower>([this] { return ToActive(); }, last == request.fields.end() ? "" : last->second);
  http::HttpResponse response;
  response.type = "text/event-stream";
  response.stream = [follower] { return follower->More(); };
  return response;
}

void ApiViews::AddTo(page::InfoPage& page) {
  page.Handle(std::string(kPrefix), http::Lane::kSlow, [this](const http::HttpRequest& request) {
    return Answer(request.path.substr(kPrefix.size()), request);
  });
  page.Handle(std::string(kPrefix) + "settings", http::Lane::kFast,
              [this](const http::HttpRequest& request) { return Answer("settings", request); });
  page.Handle(std::string(kPrefix) + "events/stream", http::Lane::kFast,
              [this](const http::HttpRequest& request) { return Follow(request); });
}

}  // namespace ratchet::api
