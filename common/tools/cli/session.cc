#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "common/client/namespaces.h"
#include "common/rpc/exceptions.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/progress_reporter.h"
#include "common/tools/cli/session.h"
#include "common/tools/cli/suggest.h"

namespace ratchet::cli {
namespace {

constexpr Millis kAsideTimeout{2000};  // time limit of a request that only makes a message better

// Returns the user's next action after an error, by its class: " (see: ratchet list)". Empty if the message names one.
std::string NextAction(const Error& error) {
  static const std::map<std::string_view, std::string_view> actions = {
      {rpc::exception::kTableNotFound, "see: ratchet list"},
      {rpc::exception::kTableExists, "see: ratchet list"},
      {rpc::exception::kTableNotEnabled, "ratchet enable TABLE enables it"},
      {rpc::exception::kTableNotDisabled, "ratchet disable TABLE disables it"},
      {rpc::exception::kNoSuchColumnFamily, "see: ratchet describe TABLE"},
      {rpc::exception::kUnknownRegion, "see: ratchet regions"},
      {rpc::exception::kNamespaceExist, "see: ratchet namespaces"},
      {rpc::exception::kPeerNotFound, "see: ratchet peers"},
      {rpc::exception::kSnapshotExists, "see: ratchet snapshots"},
      {rpc::exception::kSnapshotDoesNotExist, "see: ratchet snapshots"},
      {rpc::exception::kUnknownService, "not served at this address; give the address of a master"},
  };
  static const std::map<std::string_view, std::string_view> own = {
      {"procedure ", "see: ratchet procedures --all, ratchet history"},
      {"there is no snapshot ", "see: ratchet snapshots"},
      {"there is no region ", "see: ratchet regions"},
  };
  if (ExitCodeOf(error) == kExitUnreachable) return " (see: ratchet why)";
  if (error.message().find("ratchet ") != std::string::npos) return {};
  for (const auto& [beginning, action] : own) {  // errors of this program have no class
    if (error.code() == Code::kNotFound && error.remote_class().empty() && error.message().starts_with(beginning))
      return fmt::format(" ({})", action);
  }
  const auto found = actions.find(error.remote_class());
  return found == actions.end() ? std::string() : fmt::format(" ({})", found->second);
}

}  // namespace

int Report(const Session& session, const Error& error) {
  std::string message = error.message();
  if (const auto stack = message.find("\n\tat "); stack != std::string::npos) message.resize(stack);
  const std::string word(EndingOf(error).word);
  const bool to_user = session.printer.into() == nullptr;
  if (!to_user) session.printer.into()->text.clear();
  const std::string next = NextAction(error);
  if (to_user)
    std::fprintf(stderr, "ratchet: %s: %s%s\n", word.c_str(), TerminalText(message, true).c_str(), next.c_str());
  if (to_user && ExitCodeOf(error) == kExitTimeout) {
    if (const std::string text = ContinueText(session.connection.activity().Look()); !text.empty()) {
      std::fprintf(stderr, "ratchet: %s\n", text.c_str());
    }
  }
  if (session.printer.json()) {
    session.printer.Object({{"error", word}, {"message", message}, {"exception", error.remote_class()}});
  }
  return ExitCodeOf(error);
}

int Finish(const Session& session, const Result<int>& ended) {
  return ended.ok() ? *ended : Report(session, ended.error());
}

int ReportOnTable(Session& session, const Error& error, const TableName& table) {
  if (!rpc::IsClass(error, rpc::exception::kTableNotFound)) return Report(session, error);
  client::Admin admin(session.connection, std::min(session.timeout, kAsideTimeout));
  const auto tables = admin.ListTables();
  std::vector<std::string> names;
  if (tables.ok()) {
    for (const TableName& other : *tables) names.push_back(other.ToString());
  }
  const std::string hint = DidYouMean(table.ToString(), names);
  return Report(session, Error(error.code(), error.message() + hint, error.remote_class()));
}

Status RequireTable(Session& session, const TableName& table) {
  client::Admin admin(session.connection, std::min(session.timeout, kAsideTimeout));
  const auto state = admin.State(table);
  if (!state.ok() && rpc::IsClass(state.error(), rpc::exception::kTableNotFound)) return state.error();
  return Ok();
}

Status RequireNamespace(Session& session, const std::string& name) {
  client::Admin admin(session.connection, std::min(session.timeout, kAsideTimeout));
  const auto found = client::DescribeNamespace(admin, name);
  if (!found.ok() && rpc::IsClass(found.error(), rpc::exception::kNamespaceNotFound)) return found.error();
  return Ok();
}

int FinishOnTable(Session& session, Result<std::uint64_t> pid, bool wait, const TableName& table,
                  const std::string& done) {
  if (!pid.ok()) return ReportOnTable(session, pid.error(), table);
  if (!wait) {
    session.printer.Object({{"pid", static_cast<std::int64_t>(*pid)}});
    return kExitOk;
  }
  const Status status = session.admin.WaitOk(pid);
  if (!status.ok()) return Report(session, status.error());
  session.printer.Object({{"done", done}, {"pid", static_cast<std::int64_t>(*pid)}});
  return kExitOk;
}

int FinishAlone(Session& session, const Result<std::uint64_t>& pid, const char* done, const std::string& what,
                bool wait) {
  if (!pid.ok()) return Report(session, pid.error());
  const auto number = static_cast<std::int64_t>(*pid);
  if (!wait) {
    session.printer.Object({{"submitted", what}, {"pid", number}});
    return kExitOk;
  }
  const auto ended = session.admin.Wait(*pid);
  if (!ended.ok()) return Report(session, ended.error());
  if (ended->error.has_value()) return Report(session, *ended->error);
  if (ended->result.empty()) {
    session.printer.Object({{done, what}, {"pid", number}});
  } else {
    session.printer.Object({{done, what}, {"pid", number}, {"remark", ended->result}});
  }
  return kExitOk;
}

}  // namespace ratchet::cli
