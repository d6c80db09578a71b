#include "master/requests/namespace_admin.h"

#include <utility>

#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/procedures/admin/namespace_procedures.h"
#include "master/procedures/core/master_env.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

void NamespaceAdmin::Create(const NamespaceDescriptor& descriptor, RequestContext context, Done done) {
  auto check = [this, name = descriptor.name]() -> Status {
    if (env_.namespaces.Exists(name)) return NamespaceExistsAlready(name);
    return Ok();
  };
  SubmitAsked(env_, CreateNamespace::Make(descriptor), std::move(context), std::move(check), std::move(done));
}

void NamespaceAdmin::Modify(const NamespaceDescriptor& descriptor, RequestContext context, Done done) {
  auto check = [this, name = descriptor.name]() -> Status {
    if (!env_.namespaces.Exists(name)) return NamespaceNotFound(name);
    return Ok();
  };
  SubmitAsked(env_, ModifyNamespace::Make(descriptor), std::move(context), std::move(check), std::move(done));
}

void NamespaceAdmin::Delete(const std::string& name, RequestContext context, Done done) {
  auto check = [this, name] { return CheckNamespaceChange(env_, NamespaceChange::kDelete, name); };
  SubmitAsked(env_, DeleteNamespace::Make(name), std::move(context), std::move(check), std::move(done));
}

}  // namespace ratchet::master
