// Namespaces.
#include <fmt/format.h>

#include "common/client/namespaces.h"
#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

// Adds "KEY=VALUE" to the properties.
Status SetProperty(const std::string& text, NamespaceDescriptor& descriptor) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error(Code::kInvalidArgument, fmt::format("'{}': expected KEY=VALUE", text));
  descriptor.properties[text.substr(0, equals)] = text.substr(equals + 1);
  return Ok();
}

Field LimitField(const std::optional<std::uint64_t>& limit) {
  return limit ? Field(static_cast<std::int64_t>(*limit)) : Field();
}

}  // namespace

int CreateNamespace(Session& session, const std::string& name, const std::vector<std::string>& properties, bool wait) {
  NamespaceDescriptor descriptor{name, {}};
  for (const std::string& text : properties) {
    if (const Status set = SetProperty(text, descriptor); !set.ok()) return Report(session, set.error());
  }
  if (const Status checked = descriptor.Check(); !checked.ok()) return Report(session, checked.error());
  client::Admin admin(session.connection, session.timeout);
  return FinishAlone(session, admin, client::CreateNamespace(admin, descriptor), "created", "namespace " + name, wait);
}

int AlterNamespace(Session& session, const std::string& name, const std::vector<std::string>& set,
                   const std::vector<std::string>& unset, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  auto descriptor = client::DescribeNamespace(admin, name);
  if (!descriptor.ok()) return Report(session, descriptor.error());
  for (const std::string& text : set) {
    if (const Status done = SetProperty(text, *descriptor); !done.ok()) return Report(session, done.error());
  }
  for (const std::string& key : unset) {
    if (descriptor->properties.erase(key) == 0)
      return Report(session, Error(Code::kInvalidArgument, fmt::format("namespace {} has no property {}", name, key)));
  }
  if (const Status checked = descriptor->Check(); !checked.ok()) return Report(session, checked.error());
  return FinishAlone(session, admin, client::ModifyNamespace(admin, *descriptor), "altered", "namespace " + name, wait);
}

int DropNamespace(Session& session, const std::string& name, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  return FinishAlone(session, admin, client::DeleteNamespace(admin, name), "dropped", "namespace " + name, wait);
}

int DescribeNamespace(Session& session, const std::string& name) {
  client::Admin admin(session.connection, session.timeout);
  const auto descriptor = client::DescribeNamespace(admin, name);
  if (!descriptor.ok()) return Report(session, descriptor.error());
  hbase::pb::ListTableNamesByNamespaceRequest request;
  request.set_namespacename(name);
  const auto tables = admin.Call(methods::kListTableNamesByNamespace, request);
  if (!tables.ok()) return Report(session, tables.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& [key, value] : descriptor->properties) rows.push_back({key, value});
  session.printer.Document({{"namespace", name}, {"tables", static_cast<std::int64_t>(tables->tablename_size())}},
                           {{"properties", "properties", {"PROPERTY", "VALUE"}, std::move(rows)}});
  return kExitOk;
}

int ListNamespaces(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  const auto all = client::ListNamespaces(admin);
  if (!all.ok()) return Report(session, all.error());
  std::vector<std::vector<Field>> rows;
  for (const NamespaceDescriptor& each : *all)
    rows.push_back({each.name, LimitField(each.max_tables()), LimitField(each.max_regions())});
  session.printer.Table({"NAMESPACE", "MAX TABLES", "MAX REGIONS"}, rows);
  return kExitOk;
}

}  // namespace ratchet::cli
