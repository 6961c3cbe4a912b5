// Which part of each class of quartets an accelerator computes while the processors compute the rest, from the times of
// both so far.
#pragma once

#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

// What one machine did of a class in a build.
struct MachinePart {
  double seconds = 0;
  double quartets = 0, screened = 0; // computed; left out
};

class WorkSplit {
 public:
  explicit WorkSplit(std::size_t classes) : processors_(classes), device_(classes), computed_(classes, 1) {}

  // The device's share of each class, 0 to 1, with which both take equally long: the classes in which the device gains
  // most go there first, the last one in part. That is the least time of two machines that share divisible work. A
  // class that one of them has not computed yet is halved.
  std::vector<double> shares() const;
  // What both did in a build with this share of each class, by cost, on the device. Builds shrink as the SCF converges,
  // so a machine's time counts for the quartets that it computed: a time from an early build stays right for a machine
  // that has not computed the class since. Later times count half, earlier ones the rest.
  void measured(std::span<const double> share, std::span<const MachinePart> processors,
                std::span<const MachinePart> device);
  // Of a build like the last one with these shares, by the times so far.
  double seconds(std::span<const double> shares) const;

 private:
  std::vector<double> processors_, device_; // seconds for the whole class, if nothing were left out; 0: unknown
  std::vector<double> computed_;            // part of the quartets of the class that the last build computed
};

} // namespace kumihimo::hartree_fock::two_electron
