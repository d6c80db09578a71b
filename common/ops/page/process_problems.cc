#include "common/ops/page/process_problems.h"

#include <utility>

#include "common/audit/audit_log.h"
#include "common/identity/certificate_callers.h"
#include "common/identity/page_logins.h"
#include "common/io/root_access.h"
#include "common/tls/process_tls.h"

namespace ratchet::page {
namespace {

template <class Part>
void Add(std::vector<std::string>& problems, const Part& part) {
  if (part == nullptr) return;
  for (std::string& problem : part->Problems()) problems.push_back(std::move(problem));
}

}  // namespace

std::vector<std::string> ProcessProblems(const rpc::MemberIdentity& member, const rights::Users& users) {
  std::vector<std::string> problems = member.Problems();
  if (std::string problem = io::RootAccessProblem(); !problem.empty()) problems.push_back(std::move(problem));
  Add(problems, tls::ProcessTls::OfProcess());
  Add(problems, identity::CertificateCallers::OfProcess());
  Add(problems, identity::PageLogins::OfProcess());
  if (std::string problem = users.problem(); !problem.empty()) problems.push_back(std::move(problem));
  Add(problems, audit::AuditLog::OfProcess());
  return problems;
}

}  // namespace ratchet::page
