#include "common/tools/cli/certificates.h"

#include <iostream>

#include "common/base/json_writer.h"
#include "common/tls/cluster_certificates.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {

CLI::App* AddCertificates(CLI::App& app, CertificateFlags& flags) {
  auto* verb =
      AddVerb(app, "certificates",
              "Make the certificates of a new cluster: an authority, one for each host, one for administrators",
              {"certificates init certs --hosts node1.example+10.0.0.1,node2.example+10.0.0.2",
               "certificates init certs --hosts localhost+127.0.0.1"});
  Need(*verb, "action", flags.action, "init", "init: make them in a new directory")->check(CLI::IsMember({"init"}));
  Need(*verb, "directory", flags.directory, kind::kFile, "Directory of the files, which have mode 0600");
  Need(*verb, "--hosts", flags.hosts, "HOST,HOST",
       "Hosts; names and addresses of one host are joined by '+'. Clients accept a server by these only")
      ->delimiter(',');
  return verb;
}

int RunCertificates(const CertificateFlags& flags, bool json) {
  const auto written = tls::WriteClusterCertificates(flags.directory, flags.hosts);
  if (!written.ok()) {
    std::cerr << "ratchet: " << written.error().message() << "\n";
    return written.error().code() == Code::kInvalidArgument ? kExitUsage : kExitFailed;
  }
  JsonWriter list;
  list.BeginObject().Key("files").BeginArray();
  for (const std::string& name : *written) {
    const std::string path = flags.directory + "/" + name;
    list.Text(path);
    if (!json) std::cout << path << "\n";
  }
  if (json) std::cout << list.EndArray().EndObject().text() << "\n";
  return kExitOk;
}

}  // namespace ratchet::cli
