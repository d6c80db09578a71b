#include "master/control/namespace_admin.h"

#include <utility>

#include "master/control/submit_asked.h"
#include "master/env/master_env.h"
#include "master/procedures/namespace_procedures.h"
#include "master/state/errors.h"
#include "master/state/namespace_directory.h"

namespace ratchet::master {

void NamespaceAdmin::Create(const NamespaceDescriptor& descriptor, RequestContext context, Done done) {
  auto check = [this, name = descriptor.name]() -> Status {
    if (NamespaceExists(env_, name)) return NamespaceExistsAlready(name);
    return Ok();
  };
  SubmitAsked(env_, CreateNamespace::Make(descriptor), std::move(context), std::move(check), std::move(done));
}

void NamespaceAdmin::Modify(const NamespaceDescriptor& descriptor, RequestContext context, Done done) {
  auto check = [this, name = descriptor.name]() -> Status {
    if (!NamespaceExists(env_, name)) return NamespaceNotFound(name);
    return Ok();
  };
  SubmitAsked(env_, ModifyNamespace::Make(descriptor), std::move(context), std::move(check), std::move(done));
}

void NamespaceAdmin::Delete(const std::string& name, RequestContext context, Done done) {
  SubmitAsked(
      env_, DeleteNamespace::Make(name), std::move(context),
      [this, name]() -> Status { return DeleteNamespace::Check(env_, name); }, std::move(done));
}

}  // namespace ratchet::master
