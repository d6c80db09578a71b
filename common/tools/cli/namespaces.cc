// Verbs on namespaces.
#include <fmt/format.h>

#include "common/client/namespaces.h"
#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

Field LimitField(const std::optional<std::uint64_t>& limit) {
  return limit ? Field(static_cast<std::int64_t>(*limit)) : Field();
}

}  // namespace

Result<int> ListNamespaces(Session& session) {
  RATCHET_ASSIGN(const auto all, client::ListNamespaces(session.admin));
  std::vector<std::vector<Field>> rows;
  for (const NamespaceDescriptor& each : all)
    rows.push_back({each.name, LimitField(each.max_tables()), LimitField(each.max_regions())});
  session.printer.Table({"NAMESPACE", "MAX TABLES", "MAX REGIONS"}, rows);
  return kExitOk;
}

namespace {

constexpr const char* kProperty = "KEY=VALUE";

struct NamespaceFlags {
  std::string name;
  std::vector<std::string> properties;  // "KEY=VALUE"
  std::vector<std::string> unset;
  bool wait = true;
};

void AddNamespace(CLI::App& verb, NamespaceFlags& flags) {
  Need(verb, "namespace", flags.name, kind::kText, "Letters, digits and '_'");
}

Result<int> DescribeNamespace(Session& session, const NamespaceFlags& flags) {
  RATCHET_ASSIGN(const auto descriptor, client::DescribeNamespace(session.admin, flags.name));
  hbase::pb::ListTableNamesByNamespaceRequest request;
  request.set_namespacename(flags.name);
  RATCHET_ASSIGN(const auto tables, session.admin.Call(methods::kListTableNamesByNamespace, request));
  std::vector<std::vector<Field>> rows;
  for (const auto& [key, value] : descriptor.properties) rows.push_back({key, value});
  session.printer.Document({{"namespace", flags.name}, {"tables", static_cast<std::int64_t>(tables.tablename_size())}},
                           {{"properties", "properties", {"PROPERTY", "VALUE"}, std::move(rows)}});
  return kExitOk;
}

struct DescribeNamespaceFlags : NamespaceFlags {
  void Bind(CLI::App& verb) { AddNamespace(verb, *this); }
};

// Adds "KEY=VALUE" to the properties.
Status SetProperty(const std::string& text, NamespaceDescriptor& descriptor) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error(Code::kInvalidArgument, fmt::format("'{}': expected KEY=VALUE", text));
  descriptor.properties[text.substr(0, equals)] = text.substr(equals + 1);
  return Ok();
}

Result<int> CreateNamespace(Session& session, const NamespaceFlags& flags) {
  NamespaceDescriptor descriptor{flags.name, {}};
  for (const std::string& text : flags.properties) {
    RATCHET_TRY(SetProperty(text, descriptor));
  }
  RATCHET_TRY(descriptor.Check());
  return FinishAlone(session, client::CreateNamespace(session.admin, descriptor), "created", "namespace " + flags.name,
                     flags.wait);
}

struct CreateNamespaceFlags : NamespaceFlags {
  void Bind(CLI::App& verb) {
    AddNamespace(verb, *this);
    Take(verb, "property", properties, kProperty,
         "Properties; hbase.namespace.quota.maxtables and .maxregions are limits");
    AddNoWait(verb, wait);
  }
};

Result<int> AlterNamespace(Session& session, const NamespaceFlags& flags) {
  RATCHET_ASSIGN(auto descriptor, client::DescribeNamespace(session.admin, flags.name));
  for (const std::string& text : flags.properties) {
    RATCHET_TRY(SetProperty(text, descriptor));
  }
  for (const std::string& key : flags.unset) {
    if (descriptor.properties.erase(key) == 0)
      return Error(Code::kInvalidArgument, fmt::format("namespace {} has no property {}", flags.name, key));
  }
  RATCHET_TRY(descriptor.Check());
  return FinishAlone(session, client::ModifyNamespace(session.admin, descriptor), "altered", "namespace " + flags.name,
                     flags.wait);
}

struct AlterNamespaceFlags : NamespaceFlags {
  void Bind(CLI::App& verb) {
    AddNamespace(verb, *this);
    Take(verb, "--set", properties, kProperty, "Properties to set");
    Take(verb, "--unset", unset, kind::kText, "Properties to remove");
    AddNoWait(verb, wait);
  }
};

Result<int> DropNamespace(Session& session, const NamespaceFlags& flags) {
  return FinishAlone(session, client::DeleteNamespace(session.admin, flags.name), "dropped", "namespace " + flags.name,
                     flags.wait);
}

struct DropNamespaceFlags : NamespaceFlags {
  void Bind(CLI::App& verb) {
    AddNamespace(verb, *this);
    AddNoWait(verb, wait);
  }
};

}  // namespace

Verbs NamespaceVerbs() {
  return {
      Plain("namespaces", "List namespaces and their limits", {"namespaces"}, ListNamespaces),
      Verb<DescribeNamespaceFlags>("describe-namespace", "Show a namespace's properties", {"describe-namespace sales"},
                                   DescribeNamespace),
      Verb<CreateNamespaceFlags>("create-namespace", "Create a namespace, optionally with limits",
                                 {"create-namespace sales", "create-namespace sales hbase.namespace.quota.maxtables=10",
                                  "create-namespace sales hbase.namespace.quota.maxregions=500"},
                                 CreateNamespace),
      Verb<AlterNamespaceFlags>("alter-namespace", "Change a namespace's properties",
                                {"alter-namespace sales --set hbase.namespace.quota.maxregions=800",
                                 "alter-namespace sales --unset hbase.namespace.quota.maxtables"},
                                AlterNamespace),
      Verb<DropNamespaceFlags>("drop-namespace", "Delete a namespace that has no table", {"drop-namespace sales"},
                               DropNamespace)};
}

}  // namespace ratchet::cli
