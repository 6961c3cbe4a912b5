// Which part of each class of quartets an accelerator computes while the processors compute the rest, from the times of
// both so far.
#pragma once

#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

class Split {
 public:
  explicit Split(std::size_t classes) : processors_(classes), device_(classes) {}

  // The device's share of each class, 0 to 1, with which both take equally long: the classes in which the device gains
  // most go there first, the last one in part. That is the least time of two machines that share divisible work. A
  // class that one of them has not computed yet is halved.
  std::vector<double> shares() const;
  // A build took so long for `share` of each class on the device and the rest on the processors. Later times count
  // half, earlier ones the rest.
  void measured(std::span<const double> share, std::span<const double> processor_seconds,
                std::span<const double> device_seconds);
  // Of a build with these shares, by the times so far.
  double seconds(std::span<const double> shares) const;

 private:
  std::vector<double> processors_, device_; // seconds for the whole class; 0: unknown
};

} // namespace kumihimo::hartree_fock::two_electron
