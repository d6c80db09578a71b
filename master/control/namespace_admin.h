// NamespaceAdmin: what administrators may ask for of namespaces, checked and turned into procedures. As TableAdmin.
#pragma once

#include <string>

#include "common/model/namespace_descriptor.h"
#include "master/control/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class NamespaceAdmin {
 public:
  using Done = PidDone;
  explicit NamespaceAdmin(MasterEnv& env) : env_(env) {}

  // NamespaceExistException.
  void Create(const NamespaceDescriptor& descriptor, RequestContext context, Done done);
  // The properties replace those that there are. NamespaceNotFoundException.
  void Modify(const NamespaceDescriptor& descriptor, RequestContext context, Done done);
  // NamespaceNotFoundException; ConstraintException while it has tables, and for `default` and `hbase`.
  void Delete(const std::string& name, RequestContext context, Done done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
