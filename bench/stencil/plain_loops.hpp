// What one would write without this project: loops with restrict, compiled with -O3 -march=native -ffast-math. Metal
// walls, no absorbing layer: less work than fdtd2d has.
#pragma once

namespace kumihimo::plain {

// A step of FDTD on rows of `row` floats.
void step(float* ez, float* hx, float* hy, long points, long row, float courant);

} // namespace kumihimo::plain
