// NamespaceAdmin: checks the requests of administrators about namespaces and submits their procedures. Same conventions
// as TableAdmin.
#pragma once

#include <string>

#include "common/model/namespace_descriptor.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class NamespaceAdmin {
 public:
  using Done = PidDone;
  explicit NamespaceAdmin(MasterEnv& env) : env_(env) {}

  // Error: NamespaceExistException.
  void Create(const NamespaceDescriptor& descriptor, RequestContext context, Done done);
  // Replaces all properties. Error: NamespaceNotFoundException.
  void Modify(const NamespaceDescriptor& descriptor, RequestContext context, Done done);
  // Errors: NamespaceNotFoundException; ConstraintException while it has tables, and for `default` and `hbase`.
  void Delete(const std::string& name, RequestContext context, Done done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
