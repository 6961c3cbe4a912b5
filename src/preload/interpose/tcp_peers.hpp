// Peers over TCP that do not answer, as the kernel knows them: behind a cut link, or on a dead node. MPI libraries do
// not tell for whom their collectives wait.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kumihimo::interpose {

// The remote addresses in a table of /proc/net/tcp of those sockets, by inode, that have sent the same data, or asked
// for the same connection, again and again. On a congested network a peer answers now and then.
std::vector<std::string> silent_addresses(const std::string& table, const std::set<std::uint64_t>& sockets);

// The first name of an address in a text of /etc/hosts; else the address.
std::string host_name(const std::string& hosts, const std::string& address);

// Of this process, by name: "node1, node3"; empty if there are none, or if the system does not tell.
std::string silent_peers();

} // namespace kumihimo::interpose
