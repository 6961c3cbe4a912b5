// Where a job gets its virtual torus on a machine of Tofu: a box of whole groups that has no other use.
#pragma once

#include "topology/virtual_torus.hpp"

namespace kumihimo {

// The physical machine. Where `relays` is set, the groups at z = 0 hold no node of a job: they pass messages on, as the
// I/O nodes of K do, and close the rings of jobs that have all of Z.
struct TofuMachine {
  Tofu network;
  bool relays = false;

  TofuPlace job_lengths() const; // the lengths that are left for jobs
  std::int64_t nodes() const;
};

// A box as it is asked for: lengths as 4x3x8x2x3x2, and where it begins if that is not left open: 4x3x8x2x3x2@0,0,1.
struct TofuRequest {
  TofuPlace lengths{};
  std::optional<TofuPlace> first;
  static Result<TofuRequest> parse(std::string_view text);
};

// The virtual torus of a job of one to three dimensions in the smallest box that holds it, at the first place without
// dead parts. If there is none: at the place with the fewest dead parts that do not disconnect the job. A shape's mesh
// axis is a part of a ring. Errors: no box gives the shape; dead parts disconnect the job at each place that was tried.
Result<VirtualTorus> lay_job(const TofuMachine& machine, const Shape& job);
// In this box: of the given shape, or else the 3D torus of all its nodes.
Result<VirtualTorus> lay_job(const TofuMachine& machine, const TofuRequest& box, const std::optional<Shape>& job);
// The virtual torus of whole_torus(), whose nodes may be cut off from each other: see VirtualTorus::connected. That
// harms none but jobs on all of it. Errors: no node is left.
Result<VirtualTorus> lay_whole(const TofuMachine& machine);
// The virtual 3D torus of all nodes, X' = (x, a), Y' = (y, b), Z' = (z, c), whatever is dead: 48x54x32 on K.
Shape whole_torus(const TofuMachine& machine);

} // namespace kumihimo
