// tact as a peer of the program that compares distances of convex polyhedra (tests/bench/ccd).
extern "C" void *ccd_tact_core(const double *vertices, size_t count, const unsigned *triangles, size_t triangle_count);
extern "C" double ccd_tact_query(const void *a, const void *b, const double *pose, double *state);
#define HAS_WARM 1

struct Peer {
  void *a, *b;
  bool keeps = false;
  double state[16] = {0}, pose[7];

  static void *core(const Poly &p) {
    std::vector<unsigned> corners;
    for (auto &t : p.tri) for (int k : t) corners.push_back(unsigned(k));
    return ccd_tact_core(p.v[0].data(), p.v.size(), corners.data(), p.tri.size());
  }
  Peer(const Poly &A, const Poly &B) : a(core(A)), b(core(B)) {}
  void warm(bool on) { keeps = on; memset(state, 0, sizeof state); }

  void place(const Pose &X) { // the quaternion of a rotation, by its largest component
    const double *r = X.R, trace = r[0] + r[4] + r[8];
    double *q = pose + 3, most = trace, sum = 0;
    int at = -1;
    for (int k = 0; k < 3; k++) if (r[4 * k] > most) most = r[4 * k], at = k;
    if (at < 0) {
      q[0] = 1 + trace, q[1] = r[7] - r[5], q[2] = r[2] - r[6], q[3] = r[3] - r[1];
    } else {
      int y = (at + 1) % 3, z = (at + 2) % 3;
      q[1 + at] = 1 + r[4 * at] - r[4 * y] - r[4 * z];
      q[1 + y] = r[3 * at + y] + r[3 * y + at];
      q[1 + z] = r[3 * at + z] + r[3 * z + at];
      q[0] = r[3 * z + y] - r[3 * y + z];
    }
    for (int k = 0; k < 4; k++) sum += q[k] * q[k];
    for (int k = 0; k < 4; k++) q[k] /= std::sqrt(sum);
    memcpy(pose, X.t.data(), 3 * sizeof(double));
  }
  double query() {
    if (!keeps) memset(state, 0, sizeof state);
    return ccd_tact_query(a, b, pose, state);
  }
};
