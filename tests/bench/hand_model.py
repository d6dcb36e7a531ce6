"""A hand of 24 hinges over a bumpy ball, as a scene of tact and as a model of MuJoCo.

The joints are laid out as in the Shadow hand: two of the wrist, four a finger, a fifth of the little finger
within the palm, and five of the thumb, which here stands opposite to the fingers. Every link is one capsule or
box. The palm faces down, the ball is under it. A pose has each phalanx tangent to a sphere about the ball's
middle: the joints start so with a gap to the ball, and are driven to where they would touch, and further.
Both writers put out the same numbers. SI units, z up; a link's x runs along it, a hinge about y bends it.
"""
import math
import os
from dataclasses import dataclass

BALL = {"mass": 0.1, "radius": 0.04, "bump": 0.0015, "squares": 41}  # 12 x 41^2 = 20172 triangles
FRICTION = {"object": 0.8, "self": 0.4}  # skin on the ball, skin on skin
COMPLIANCE = 1e-4  # [m/N] of skin, along a contact's normal; along its surface 1.3 times that. MuJoCo has its own
GAP = 5e-4  # [m], of phalanges at the start, to the highest bump
PRESS = 0.1  # [rad], how far targets go beyond where phalanges touch
CONVERGE = 0.2  # [rad] how far the outer fingers are driven inward
RADIUS = 0.007  # [m], of phalanges
DENSITY = 1100.0  # [kg/m^3], of all links
PITCH = 0.016  # [m], between fingers
PALM = 0.056  # [m], height of the palm's middle over the ball's
PERIOD, CLOSING, DURATION = 0.001, 0.4, 1.0  # [s]; the ball's weight is carried while the hand closes


@dataclass
class Link:
    """A link and its hinge; where it is in its parent, shape and drive."""

    name: str
    parent: str
    axis: str
    position: tuple
    shape: tuple  # ("capsule", radius, from, to) or ("box", middle, edges)
    drive: tuple  # stiffness [N m/rad], damping [N m s/rad], limit [N m]
    start: float = 0.0  # [rad]
    closed: float = 0.0
    back: bool = False  # turned by half a turn about z


def _capsule_mass(radius, length):
    """Mass, moments of inertia along and across."""
    cylinder = math.pi * radius**2 * length * DENSITY
    ball = 4 / 3 * math.pi * radius**3 * DENSITY
    along = cylinder * radius**2 / 2 + ball * 2 / 5 * radius**2
    across = cylinder * (radius**2 / 4 + length**2 / 12) + ball * (
        2 / 5 * radius**2 + length**2 / 4 + 3 / 8 * radius * length)
    return cylinder + ball, along, across


def _mass(shape):
    """Mass, centre of mass, and moments of inertia about the link's axes."""
    if shape[0] == "box":
        _, middle, (a, b, c) = shape
        mass = a * b * c * DENSITY
        return mass, middle, [mass / 12 * s for s in (b * b + c * c, a * a + c * c, a * a + b * b)]
    _, radius, begin, end = shape
    mass, along, across = _capsule_mass(radius, math.dist(begin, end))
    inertia = [along if abs(e - b) > 0 else across for b, e in zip(begin, end)]
    return mass, [(b + e) / 2 for b, e in zip(begin, end)], inertia


def _tangents(x, z, radius, axes, lengths):
    """Angles of a chain of hinges about y (z: stays straight) from (x, z), over a circle about (0, 0)."""
    angles, pitch = [], 0.0
    for axis, length in zip(axes, lengths):
        wanted = pitch
        if axis == "y":
            wanted = math.atan2(z, -x) % (2 * math.pi) - math.asin(min(1.0, radius / math.hypot(x, z)))
        angles.append(wanted - pitch)
        pitch = wanted
        x, z = x + length * math.cos(pitch), z - length * math.sin(pitch)
    return angles


def _phalanx(kind, length):
    """The shape between two hinges: a capsule, or a box as wide."""
    if kind == "box":
        return "box", (length / 2, 0, 0), (length - RADIUS / 2, 2 * RADIUS, 2 * RADIUS)
    return "capsule", RADIUS, (RADIUS, 0, 0), (length - RADIUS, 0, 0)


def _chain(names, parent, base, axes, lengths, side, aim, kind):
    """Links of a finger from `base` in `parent`, `side` of the ball's middle."""
    def pose(gap):
        reach = BALL["radius"] + BALL["bump"] + gap
        over = math.sqrt((reach + RADIUS)**2 - side**2)
        if kind == "box":  # its inner edge
            over = RADIUS + math.sqrt(reach**2 - max(0.0, abs(side) - RADIUS)**2)
        return _tangents(0.02, PALM, over, axes, lengths)
    links = []
    for k, (name, axis, length) in enumerate(zip(names, axes, lengths)):
        bends = axis == "y"
        links.append(Link(name, parent, axis, base if k == 0 else (lengths[k - 1], 0, 0),
                          _phalanx(kind, length), (1.0, 0.01, 0.5),
                          pose(GAP)[k], pose(0)[k] + (PRESS if bends else aim if k == 0 else 0.0)))
        parent = name
    return links


def hand(kind):
    """The 24 links, parents first; phalanges are of the kind "capsule" or "box"."""
    stiff, down = (30.0, 0.5, 0.0), -0.03
    links = [Link("forearm", "", "x", (0, 0, PALM + 0.08), ("capsule", 0.012, (0, 0, -0.012), (0, 0, -0.03)), stiff),
             Link("palm", "forearm", "y", (0, 0, -0.05),
                  ("box", (0, -PITCH / 2, down), (0.04, 3 * PITCH - 2e-3, 0.016)), stiff),
             Link("little_palm", "palm", "x", (0, PITCH, down),
                  ("box", (0, PITCH / 2, 0), (0.04, PITCH - 2e-3, 0.016)), (5.0, 0.05, 1.0))]
    for k, name in enumerate(("index", "middle", "ring", "little")):
        side = (k - 1.5) * PITCH
        inside = name == "little"
        base = (0.02, PITCH / 2, 0) if inside else (0.02, side, down)
        links += _chain([f"{name}_{part}" for part in ("knuckle", "proximal", "middle", "distal")],
                        "little_palm" if inside else "palm", base, "zyyy", (0.018, 0.058, 0.03, 0.028), side,
                        -CONVERGE * side / (1.5 * PITCH), kind)
    thumb = _chain([f"thumb_{part}" for part in ("swivel", "base", "abduction", "proximal", "distal")], "palm",
                   (-0.02, 0, down), "zyzyy", (0.018, 0.034, 0.024, 0.03, 0.028), 0.0, 0.0, kind)
    thumb[0].back = True
    return links + thumb


def _surface(p):
    """The direction p, moved to the ball's surface: bumps of some 2 cm."""
    length = math.sqrt(sum(c * c for c in p))
    x, y, z = (c / length for c in p)
    rise = (3 + math.sin(9 * x + 1) + math.sin(8 * y + 2) + math.sin(10 * z + 3)) / 6
    size = BALL["radius"] + BALL["bump"] * rise
    return size * x, size * y, size * z


def _write_ball(path):
    """Six faces of squares, the vertices of their edges shared."""
    n, index, vertices, faces = BALL["squares"], {}, [], []

    def vertex(key):
        if key not in index:
            index[key] = len(vertices) + 1
            vertices.append(_surface([math.tan(math.pi / 4 * (2 * c - n) / n) for c in key]))
        return index[key]

    for face in range(6):
        axis, high = face % 3, face < 3
        for i in range(n):
            for j in range(n):
                corners = []
                for u, v in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    key = [0, 0, 0]
                    key[axis], key[(axis + 1) % 3], key[(axis + 2) % 3] = n if high else 0, u, v
                    corners.append(vertex(tuple(key)))
                a, b, c, d = corners if high else corners[::-1]
                faces += [(a, b, c), (a, c, d)]
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"v {x:.12g} {y:.12g} {z:.12g}\n" for x, y, z in vertices)
        out.writelines(f"f {a} {b} {c}\n" for a, b, c in faces)


def _row(numbers, separator=" "):
    return separator.join(f"{number:.9g}" for number in numbers)


def _list(numbers):
    return f"[{_row(numbers, ', ')}]"


AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
BALL_INERTIA = [0.4 * BALL["mass"] * BALL["radius"]**2] * 3


def _scene_link(link):
    mass, middle, inertia = _mass(link.shape)
    stiffness, damping, limit = link.drive
    if link.shape[0] == "box":
        shape = f"type: box, size: {_list(link.shape[2])}"
    else:
        _, radius, begin, end = link.shape
        turn = "" if begin[2] != end[2] else ", quat_wxyz: [1, 0, 1, 0]"
        shape = f"type: capsule, radius: {radius:g}, length: {math.dist(begin, end):.9g}{turn}"
    parent = f"\n        parent: {link.parent}" if link.parent else ""
    return f"""      - name: {link.name}{parent}
        joint: {{type: hinge, axis: {_list(AXES[link.axis])}, position: {_list(link.position)},
                quat_wxyz: {[0, 0, 0, 1] if link.back else [1, 0, 0, 0]}, stiffness: {stiffness:g},
                damping: {damping:g}, limit: {limit:g}, start: {link.start:.9g}}}
        mass: {mass:.9g}
        center_of_mass: {_list(middle)}
        inertia: {_list([*inertia, 0, 0, 0])}
        shapes:
          - {{{shape}, position: {_list(middle)}, material: skin}}
"""


def _scene(links, compliance):
    inputs = "".join(f"  - {{from: operator.grip, to: hand.{k.name}, offset: {k.start:.9g}, "
                     f"scale: {k.closed - k.start:.9g}}}\n" for k in links)
    soft = f"compliance: {compliance:g}, tangential_compliance: {1.3 * compliance:g}"
    return f"""# Written by tests/bench/hand.
name: hand
duration: {DURATION:g}
period: {PERIOD:g}
moments: {{source: host}}
materials:
  - {{name: skin}}
  - {{name: wood}}
pairs:
  - {{materials: [skin, wood], friction: {FRICTION["object"]:g}, {soft}}}
  - {{materials: [skin, skin], friction: {FRICTION["self"]:g}, {soft}}}
bodies:
  - name: ball
    mass: {BALL["mass"]:g}
    center_of_mass: [0, 0, 0]
    inertia: {_list([*BALL_INERTIA, 0, 0, 0])}
    support_until: {CLOSING:g}
    shapes:
      - {{type: mesh, file: ball.obj, material: wood}}
hands:
  - name: hand
    links:
{"".join(_scene_link(link) for link in links)}
devices:
  - name: operator
    type: operator
    settings: {{script: [[0, 0, 0, 0], [{CLOSING:g}, 1, 0, 0]]}}
inputs:
{inputs}"""


def _model_link(links, link):
    mass, middle, inertia = _mass(link.shape)
    if link.shape[0] == "box":
        geom = f"type='box' pos='{_row(middle)}' size='{_row(edge / 2 for edge in link.shape[2])}'"
    else:
        geom = f"type='capsule' size='{link.shape[1]:g}' fromto='{_row([*link.shape[2], *link.shape[3]])}'"
    inside = "".join(_model_link(links, child) for child in links if child.parent == link.name)
    return (f"<body name='{link.name}' pos='{_row(link.position)}'{' quat=' + repr('0 0 0 1') if link.back else ''}>"
            f"<joint name='{link.name}' type='hinge' axis='{_row(AXES[link.axis])}'/>"
            f"<inertial pos='{_row(middle)}' mass='{mass:.9g}' diaginertia='{_row(inertia)}'/>"
            f"<geom {geom} friction='{FRICTION['self']:g}'/>\n{inside}</body>\n")


def _model_drive(link):
    stiffness, damping, limit = link.drive
    force = f" forcerange='{-limit:g} {limit:g}'" if limit > 0 else ""
    return f"<position joint='{link.name}' kp='{stiffness:g}' kv='{damping:g}'{force}/>\n"


def _model(links):
    order = []  # depth first, as MuJoCo numbers joints

    def visit(parent):
        for link in (k for k in links if k.parent == parent):
            order.append(link)
            visit(link.name)
    visit("")
    ball, rest = BALL, "0 0 0 1 0 0 0"
    keys = "".join(f"<key name='{name}' qpos='{_row(k.start for k in order)} {rest}' "
                   f"ctrl='{_row(values)}'/>\n" for name, values in
                   (("open", [k.start for k in order]), ("closed", [k.closed for k in order])))
    # Of two geoms MuJoCo takes the larger friction.
    return f"""<mujoco><compiler angle='radian'/>
<option timestep='{PERIOD:g}' gravity='0 0 -9.81' solver='Newton' tolerance='1e-8' cone='elliptic'
 integrator='implicitfast'/>
<size memory='64M'/>
<asset><mesh name='ball' file='ball.obj'/></asset>
<worldbody>
{"".join(_model_link(links, link) for link in order if not link.parent)}
<body name='ball'><freejoint/>
<inertial pos='0 0 0' mass='{ball["mass"]:g}' diaginertia='{_row(BALL_INERTIA)}'/>
<geom type='mesh' mesh='ball' friction='{FRICTION["object"]:g}'/></body></worldbody>
<actuator>
{"".join(_model_drive(link) for link in order)}</actuator>
<keyframe>{keys}</keyframe></mujoco>
"""


def write(folder, kind="capsule", compliance=COMPLIANCE):
    """Writes ball.obj, hand.yaml and hand.xml; gives the paths of the scene and of the model."""
    os.makedirs(folder, exist_ok=True)
    links = hand(kind)
    assert len(links) == 24
    _write_ball(os.path.join(folder, "ball.obj"))
    texts = {"hand.yaml": _scene(links, compliance), "hand.xml": _model(links)}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as out:
            out.write(text)
    return [os.path.join(folder, name) for name in texts]
