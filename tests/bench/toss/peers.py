"""The cube's tosses in MuJoCo and in Drake, from their PyPI wheels."""
import numpy as np

RATE, EDGE, MASS, INERTIA, GRAVITY = 148.0, 0.1048, 0.37, 8.1e-4, 9.81


def start(toss, p):
    """Position and velocity at the start, in true lengths, as tests/bench/toss/toss.c makes them."""
    velocity = toss["velocity"] / p["length"]
    velocity[2] -= GRAVITY * p["lag"] / RATE
    return toss["position"][0] / p["length"], velocity


def errors(toss, p, positions, quats):
    """Mean position error over EDGE and mean rotation error [deg] of the samples after the start."""
    apart = np.linalg.norm(np.asarray(positions) * p["length"] - toss["position"][1:], axis=1)
    dots = np.abs(np.sum(np.asarray(quats) * toss["quat_wxyz"][1:], axis=1))
    return apart.mean() / EDGE, np.degrees(2 * np.arccos(np.minimum(dots, 1))).mean()


def corners(radius):
    """Centres of the balls at the corners, whose hull is the cube with round edges."""
    reach = EDGE / 2 - radius
    return [[reach if i & 1 << k else -reach for k in range(3)] for i in range(8)]


class Mujoco:
    """Eight balls on a plane, elliptic cones; solref as time constant and damping ratio."""
    ranges = {"friction": (0.15, 0.21), "rounding": (0.002, 0.008), "log_timeconst": (-2.75, -1.0),
              "dampratio": (0.1, 2.0), "log_impratio": (0.0, 2.0), "dmax": (0.8, 0.999)}

    def __init__(self):
        import mujoco
        self.engine = mujoco
        self.version = "MuJoCo " + mujoco.__version__

    def prepare(self, p):
        self.substeps = round(p["substeps"])  # ticks between two samples
        timeconst = max(10 ** p["log_timeconst"], 2.02 / RATE / self.substeps)
        contact = (f'friction="{p["friction"]} 0 0" condim="3" solimp="{0.9 * p["dmax"]} {p["dmax"]} '
                   f'0.001" solref="{timeconst} {p["dampratio"]}"')
        balls = "".join(f'<geom type="sphere" size="{p["rounding"]}" pos="{x} {y} {z}" {contact}/>'
                        for x, y, z in corners(p["rounding"]))
        self.model = self.engine.MjModel.from_xml_string(f"""<mujoco>
          <option timestep="{1 / RATE / self.substeps}" gravity="0 0 -{GRAVITY}" cone="elliptic"
                  impratio="{10 ** p["log_impratio"]}"/>
          <worldbody><geom type="plane" size="5 5 1" {contact}/>
          <body><freejoint/><inertial pos="0 0 0" mass="{MASS}"
                  diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
          {balls}</body></worldbody></mujoco>""")
        self.data = self.engine.MjData(self.model)

    def roll_out(self, toss, p):
        d = self.data
        self.engine.mj_resetData(self.model, d)
        d.qpos[:3], d.qvel[:3] = start(toss, p)
        d.qpos[3:], d.qvel[3:] = toss["quat_wxyz"][0], toss["turning_body"]
        positions, quats = [], []
        for _ in range(1, len(toss["position"])):
            self.engine.mj_step(self.model, d, self.substeps)
            positions.append(d.qpos[:3].copy())
            quats.append(d.qpos[3:].copy())
        return errors(toss, p, positions, quats)


class Drake:
    """Eight balls on a half-space, point contact, TAMSI: with the lagged approximation friction
    stops a stiff cube where it lands."""
    ranges = {"friction": (0.15, 0.21), "rounding": (0.002, 0.008), "log_stiffness": (3.5, 6.0),
              "log_dissipation": (-0.5, 1.5)}

    def __init__(self):
        from importlib.metadata import version
        import pydrake.all
        self.engine = pydrake.all
        self.version = "Drake " + version("drake")

    def prepare(self, p):
        e = self.engine
        builder = e.DiagramBuilder()
        plant, _ = e.AddMultibodyPlantSceneGraph(builder, time_step=1 / RATE / round(p["substeps"]))
        plant.set_discrete_contact_approximation(e.DiscreteContactApproximation.kTamsi)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
        inertia = e.SpatialInertia(MASS, np.zeros(3), e.UnitInertia(*[INERTIA / MASS] * 3))
        self.body = plant.AddRigidBody("cube", inertia)
        props = e.ProximityProperties()
        e.AddContactMaterial(10 ** p["log_dissipation"], 10 ** p["log_stiffness"],
                             e.CoulombFriction(p["friction"], p["friction"]), props)
        plant.RegisterCollisionGeometry(plant.world_body(), e.RigidTransform(), e.HalfSpace(),
                                        "ground", props)
        for i, at in enumerate(corners(p["rounding"])):
            plant.RegisterCollisionGeometry(self.body, e.RigidTransform(at),
                                            e.Sphere(p["rounding"]), f"corner{i}", props)
        plant.Finalize()
        self.plant, self.diagram = plant, builder.Build()
        self.simulator = e.Simulator(self.diagram)

    def roll_out(self, toss, p):
        e, context = self.engine, self.simulator.get_mutable_context()
        own = self.plant.GetMyMutableContextFromRoot(context)
        position, velocity = start(toss, p)
        quat = toss["quat_wxyz"][0]
        turn = e.RotationMatrix(e.Quaternion(quat / np.linalg.norm(quat)))
        context.SetTime(0)
        self.plant.SetFreeBodyPose(own, self.body, e.RigidTransform(turn, position))
        self.plant.SetFreeBodySpatialVelocity(
            own, self.body, e.SpatialVelocity(turn.multiply(toss["turning_body"]), velocity))
        self.simulator.Initialize()
        positions, quats = [], []
        for k in range(1, len(toss["position"])):
            self.simulator.AdvanceTo(k / RATE)
            q = self.plant.GetPositions(own)
            quats.append(q[:4] / np.linalg.norm(q[:4]))
            positions.append(q[4:].copy())
        return errors(toss, p, positions, quats)
