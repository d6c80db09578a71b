// A mini Ceph below a cluster of processes, each of which has a mount of its own (scripts/ceph).
//
// Everything is done by these scripts, which only ever touch what stands in the mini Ceph's own directory. Each call
// waits for its script.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Where the scripts are: RATCHET_CEPH_SCRIPTS, or scripts/ceph above the directory of the programs. kNotFound.
[[nodiscard]] Result<std::filesystem::path> FindCephScripts(const std::filesystem::path& bin);

class CephStorage {
 public:
  // `dir`: of the mini Ceph.
  CephStorage(std::filesystem::path scripts, std::filesystem::path dir);

  // kUnsupported: this machine has no Ceph or no FUSE, in the script's words.
  [[nodiscard]] Status Up() const;
  // With its mounts and all data.
  [[nodiscard]] Status Down() const;
  // A new mount for a process that is to be started: a master may still give up the client of the one before.
  [[nodiscard]] Status Mount(const std::string& name) const;
  // Makes the storage give up all clients of this name.
  [[nodiscard]] Status Evict(const std::string& name) const;
  // Drops every packet that the client of this name sends to the storage, and waits until one was dropped.
  [[nodiscard]] Status Cut(const std::string& name) const;
  [[nodiscard]] Status LetThrough(const std::string& name) const;
  // Whether this machine has what Cut needs.
  [[nodiscard]] static bool CanCut();
  // Starts a daemon of the mini Ceph again: "mdsa", "osd0", "mon" ...
  [[nodiscard]] Status StartDaemon(const std::string& name) const;
  // A daemon, or a process's client ("fuse-rs-1"); kNotFound: it does not run.
  [[nodiscard]] Result<ProcessId> Find(const std::string& name) const;
  // "mdsa" or "mdsb"; kUnavailable while none is active.
  [[nodiscard]] Result<std::string> ActiveMetadataServer() const;

  // The cluster's root, as the process of this name sees it. "observer" is mounted by Up, for tools.
  [[nodiscard]] std::filesystem::path RootOf(const std::string& name) const;
  // What a process of this role is started with.
  [[nodiscard]] std::vector<std::string> Flags(const std::string& name, Role role) const;

 private:
  [[nodiscard]] Status Run(const std::string& script, const std::vector<std::string>& arguments, Millis limit) const;

  const std::filesystem::path scripts_;
  const std::filesystem::path dir_;
};

}  // namespace ratchet::chaos
