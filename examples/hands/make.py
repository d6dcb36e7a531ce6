#!/usr/bin/env python3
"""make.py: writes the meshes in assets/, shadow_like.xml and shadow_tendons.xml, hands with the elements of the Shadow
hand, inspire_like.xml and inspire_like.urdf, one with those of Inspire's, and allegro_whole.xml, one with those of the
Allegro hand.

They are of our own making. The first: a forearm and a wrist of two joints, four fingers (the little one with a joint in
the palm) and a thumb of five joints, 24 joints in all, each with an actuator. In shadow_tendons.xml, as in the Shadow
hand, one actuator acts on a tendon of the last two joints of each finger: 20 actuators. The third: four fingers of two
joints and a thumb of four, of which six joints follow others. The last: three fingers and a thumb of four joints each.
Some meshes are in millimetres, as many that are downloaded. Coordinates are exact in single precision.
"""
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def write_obj(name, points, faces):
    with open(os.path.join(HERE, "assets", name), "w", encoding="utf-8") as stream:
        stream.writelines(f"v {x:.10g} {y:.10g} {z:.10g}\n" for x, y, z in points)
        stream.writelines("f " + " ".join(str(i + 1) for i in face) + "\n" for face in faces)


def prism(outline, low, high):
    """A prism over a counter-clockwise outline in x, y."""
    n = len(outline)
    points = [(x, y, z) for z in (low, high) for x, y in outline]
    sides = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return points, sides


def write_meshes():
    # an L, whose caps are two quads each: not convex, and not star-shaped from the middle of its surface
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    points, sides = prism([(x / 128, y / 128) for x, y in outline], -1 / 128, 1 / 128)
    top = [(0, 1, 2, 3), (0, 3, 4, 5)]
    caps = [tuple(6 + i for i in face) for face in top] + [tuple(reversed(face)) for face in top]
    write_obj("bracket.obj", points, sides + caps)
    octagon = [(round(8 * math.cos(k * math.pi / 4) * 4) / 4, round(8 * math.sin(k * math.pi / 4) * 4) / 4)
               for k in range(8)]
    points, sides = prism(octagon, 0, 24)
    write_obj("tip_mm.obj", points, sides + [tuple(range(15, 7, -1))[::-1], tuple(range(7, -1, -1))])
    points, sides = prism([(x / 1024, y / 1024) for x, y in octagon], 0, 24 / 1024)
    write_obj("tip.obj", points, sides + [tuple(range(8, 16)), tuple(range(7, -1, -1))])
    write_obj("open.obj", points, sides + [tuple(range(8, 16))])


HEAD = """<mujoco model="shadow_like">
  <compiler angle="radian" meshdir="assets" autolimits="true"/>
  <option impratio="10"/>
  <default>
    <default class="right_hand">
      <mesh scale="0.001 0.001 0.001"/>
      <joint axis="1 0 0" damping="0.05" armature="0.0002" frictionloss="0.01"/>
      <position forcerange="-1 1"/>
      <default class="wrist">
        <joint damping="0.5"/>
        <default class="wrist_y">
          <joint axis="0 1 0" range="-0.523599 0.174533"/>
          <position kp="10" ctrlrange="-0.523599 0.174533" forcerange="-10 10"/>
        </default>
        <default class="wrist_x">
          <joint range="-0.698132 0.488692"/>
          <position kp="8" ctrlrange="-0.698132 0.488692" forcerange="-5 5"/>
        </default>
      </default>
      <default class="knuckle">
        <joint axis="0 -1 0" range="-0.349066 0.349066"/>
        <position kp="1" ctrlrange="-0.349066 0.349066"/>
      </default>
      <default class="bend">
        <joint range="-0.261799 1.5708"/>
        <position kp="1" kv="0.002" ctrlrange="-0.261799 1.5708"/>
        <default class="bend_coupled">
          <joint range="0 1.5708"/>
          <position ctrlrange="0 3.1415"/>
        </default>
      </default>
      <default class="thumb">
        <joint range="-0.698132 0.698132"/>
        <general gaintype="fixed" biastype="affine" gainprm="0.4" biasprm="0 -0.4 -0.001" gear="2"
                 ctrlrange="-1.396264 1.396264" forcerange="-0.5 0.5"/>
      </default>
      <default class="visual">
        <geom type="mesh" material="black" contype="0" conaffinity="0" group="2"/>
      </default>
      <default class="collision">
        <geom type="capsule" group="3" friction="0.8 0.01 0.001"/>
        <default class="tip">
          <geom type="mesh" mesh="tip_mm" priority="1"/>
        </default>
      </default>
    </default>
  </default>
  <asset>
    <material name="black" rgba="0.1 0.1 0.1 1"/>
    <mesh class="right_hand" file="tip_mm.obj"/>
  </asset>
"""

INERTIA = 'mass="{m}" pos="0 0 {z}" quat="{q}" diaginertia="{a} {b} {c}"'


def inertial(mass, half, quat="1 0 0 0"):
    a = mass * half * half / 3 + mass * 3e-5
    return f'<inertial {INERTIA.format(m=mass, z=half, q=quat, a=f"{a:.6e}", b=f"{0.995 * a:.6e}", c=f"{3.1e-5 * mass:.6e}")}/>'


def finger(name, x, extra, actuators, tendons, excludes, pulled):
    """Knuckle, proximal, middle and distal links of one finger."""
    lines = []
    if extra:
        lines += [f'<body name="{name}_metacarpal" pos="{x} 0 0.02" euler="0 0.05 0">', inertial(0.03, 0.02),
                  f'<joint name="{name}J5" axis="0.573576 0 0.819152" range="0 0.785398"/>',
                  '<geom class="collision" type="box" size="0.008 0.009 0.02" pos="0 0 0.02"/>']
        actuators.append(f'<position name="A_{name}J5" joint="{name}J5" class="knuckle" ctrlrange="0 0.785398"/>')
        x, z = 0.0, 0.066
    else:
        z = 0.09
    lines += [
        f'<body name="{name}_knuckle" pos="{x} 0 {z}">', inertial(0.008, 0.003, "0.9 0.1 0 0.2"),
        f'<joint name="{name}J4" class="knuckle"/>',
        '<geom class="collision" type="cylinder" size="0.007 0.006" quat="1 0 1 0"/>',
        f'<body name="{name}_proximal">', inertial(0.03, 0.0225),
        f'<joint name="{name}J3" class="bend"/>',
        '<geom class="visual" mesh="tip_mm"/>',
        '<geom class="collision" size="0.009" fromto="0 0 0 0 0 0.036"/>',
        f'<body name="{name}_middle" pos="0 0 0.045" quat="2 0 0 0.02">', inertial(0.017, 0.0125),
        f'<joint name="{name}J2" class="bend_coupled"/>',
        '<geom class="collision" size="0.008 0.0125" pos="0 0 0.0125"/>',
        f'<body name="{name}_distal" pos="0 0 0.025">',
        '<inertial mass="0.012" pos="0 0 0.012" fullinertia="2.1e-6 2e-6 0.9e-6 1e-8 -2e-8 3e-8"/>',
        f'<joint name="{name}J1" class="bend_coupled"/>',
        '<geom class="tip"/>',
        f'<site name="{name}_tip" pos="0 0 0.026"/>',
        "</body>", "</body>", "</body>", "</body>"]
    if extra:
        lines.append("</body>")
    actuators += [f'<position name="A_{name}J4" joint="{name}J4" class="knuckle"/>',
                  f'<position name="A_{name}J3" joint="{name}J3" class="bend"/>']
    if pulled:
        actuators.append(f'<position name="A_{name}J0" tendon="{name}J0" class="bend_coupled"/>')
    else:
        actuators += [f'<position name="A_{name}J2" joint="{name}J2" class="bend_coupled"/>',
                      f'<position name="A_{name}J1" joint="{name}J1" class="bend_coupled"/>']
    tendons.append(f'<fixed name="{name}J0"><joint joint="{name}J2" coef="1"/><joint joint="{name}J1" coef="1"/></fixed>')
    excludes.append(f'<exclude body1="palm" body2="{name}_proximal"/>')
    return lines


def thumb(actuators):
    names = ("base", "proximal", "hub", "middle", "distal")
    axes = ("0 0 -1", "1 0 0", "1 0 0", "0 1 0", "0 1 0")
    lengths = (0.0, 0.038, 0.0, 0.032, 0.02)
    lines, at = [], "0.034 -0.0085 0.029"
    for i, (name, axis, length) in enumerate(zip(names, axes, lengths)):
        turn = 'axisangle="0 1 0 0.785398"' if i == 0 else ""
        lines += [f'<body name="th_{name}" pos="{at}" {turn}>', inertial(0.02 - 0.002 * i, 0.004 + 0.4 * length),
                  f'<joint name="THJ{5 - i}" class="thumb" axis="{axis}"/>']
        if length:
            lines.append(f'<geom class="collision" size="0.009 {length / 2 - 0.004:g}" pos="0 0 {length / 2:g}"/>')
        actuators.append(f'<general name="A_THJ{5 - i}" joint="THJ{5 - i}" class="thumb"/>')
        at = f"0 0 {length}"
    return lines + ["</body>"] * 5


def write_shadow(file, pulled):
    actuators = ['<position name="A_WRJ2" joint="WRJ2" class="wrist_y"/>', '<position name="A_WRJ1" joint="WRJ1" class="wrist_x"/>']
    tendons, excludes, fingers = [], ['<exclude body1="wrist" body2="forearm"/>'], []
    for name, x, extra in (("FF", 0.033, False), ("MF", 0.011, False), ("RF", -0.011, False), ("LF", -0.033, True)):
        fingers += finger(name, x, extra, actuators, tendons, excludes, pulled)
    fingers += thumb(actuators)
    lines = [
        '<worldbody>',
        '<light pos="0 0 1"/>',
        '<body name="forearm" childclass="right_hand" quat="0 1 0 1">', inertial(3, 0.09, "0 0.982 0.0161 -0.188"),
        '<geom class="visual" mesh="tip_mm"/>',
        '<geom class="collision" type="cylinder" size="0.05 0.09" pos="0 0 0.08"/>',
        '<body name="wrist" pos="0.01 0 0.21301" quat="1 0 0 1">', inertial(0.1, 0.0145),
        '<joint class="wrist_y" name="WRJ2"/>',
        '<geom class="collision" size="0.0135 0.015" quat="0.499998 0.5 0.5 -0.500002"/>',
        '<body name="palm" pos="0 0 0.034">', inertial(0.3, 0.035),
        '<joint class="wrist_x" name="WRJ1"/>',
        '<frame pos="0 0 0.04" xyaxes="1 0 0 0 1 0">',
        '<geom class="collision" type="box" size="0.04 0.0111 0.0465" pos="0.005 0 0.002"/>',
        '<geom class="collision" type="ellipsoid" size="0.02 0.012 0.03" pos="-0.02 0 0.01" zaxis="0 0.1 1"/>',
        '</frame>',
        '<camera name="eye" pos="0 -0.2 0.1"/>',
        *fingers, '</body>', '</body>', '</body>', '</worldbody>',
        '<contact>', *excludes, '</contact>',
        '<tendon>', *tendons, '</tendon>',
        '<sensor><jointpos joint="WRJ1"/></sensor>',
        '<actuator>', *actuators, '</actuator>',
        '<keyframe><key name="open" time="0"/></keyframe>']
    with open(os.path.join(HERE, file), "w", encoding="utf-8") as stream:
        stream.write(HEAD.replace("shadow_like", file.removesuffix(".xml")))
        write_tree(stream, lines)
        stream.write("</mujoco>\n")


def write_tree(stream, lines, depth=1):
    """Lines indented by their depth."""
    for line in lines:
        depth -= line.startswith("</")
        stream.write("  " * depth + line + "\n")
        tag = line[1:].replace(">", " ").split()[0]
        depth += not line.startswith("</") and not line.endswith("/>") and f"</{tag}>" not in line




# Links of the hand like Inspire's: name, parent, place [m], axis, range [rad], length [m], and the joint that it follows
# with multiplier and offset.
INSPIRE = [
    *(link for i, name in enumerate(("index", "middle", "ring", "pinky")) for link in (
        (f"{name}_proximal", "base", (0.03 - 0.02 * i, 0, 0.09), (1, 0, 0), (0, 1.4381), 0.032, None),
        (f"{name}_intermediate", f"{name}_proximal", (0, 0, 0.032), (1, 0, 0), (-0.04545, 1.56), 0.02,
         (f"{name}_proximal", 1.06399, -0.04545)))),
    ("thumb_yaw", "base", (0.03, 0.01, 0.03), (0, 0, 1), (0, 1.246), 0.01, None),
    ("thumb_pitch", "thumb_yaw", (0.01, 0, 0.008), (0, 1, 0), (0, 0.5), 0.02, None),
    ("thumb_intermediate", "thumb_pitch", (0, 0, 0.02), (0, 1, 0), (0, 0.8024), 0.015, ("thumb_pitch", 1.334, 0.0)),
    ("thumb_distal", "thumb_intermediate", (0, 0, 0.015), (0, 1, 0), (0, 0.9487), 0.012, ("thumb_intermediate", 0.667, 0.0)),
]


def inspire_inertia(length):
    """Mass, centre, inertia of a link."""
    mass = 0.5 * length
    return mass, length / 2, mass * length * length / 12 + 4e-7, 3e-7


def inspire_mjcf_link(link):
    name, _, at, axis, limits, length, _ = link
    mass, z, across, along = inspire_inertia(length)
    lines = [f'<body name="{name}" pos="{at[0]:g} {at[1]:g} {at[2]:g}">',
             f'<inertial mass="{mass:g}" pos="0 0 {z:g}" diaginertia="{across:.6e} {across:.6e} {along:.6e}"/>',
             f'<joint name="{name}_joint" axis="{axis[0]} {axis[1]} {axis[2]}" range="{limits[0]} {limits[1]}"/>',
             f'<geom type="capsule" size="0.006 {length / 2 - 0.003:g}" pos="0 0 {length / 2:g}"/>']
    for child in INSPIRE:
        lines += inspire_mjcf_link(child) if child[1] == name else []
    return [*lines, "</body>"]


def write_inspire_mjcf():
    led = [link for link in INSPIRE if link[6]]
    lines = ['<worldbody>', '<body name="base">',
             '<inertial mass="0.3" pos="0 0 0.05" diaginertia="3e-4 3e-4 1e-4"/>',
             '<geom type="box" size="0.04 0.012 0.035" pos="0 0 0.045"/>']
    for link in INSPIRE:
        lines += inspire_mjcf_link(link) if link[1] == "base" else []
    lines += ['</body>', '</worldbody>', '<equality>']
    lines += [f'<joint joint1="{link[0]}_joint" joint2="{link[6][0]}_joint" polycoef="{link[6][2]} {link[6][1]} 0 0 0"/>'
              for link in led]
    lines += ['</equality>', '<actuator>']
    lines += [f'<position joint="{link[0]}_joint" ctrlrange="{link[4][0]} {link[4][1]}"/>' for link in INSPIRE if not link[6]]
    lines += ['</actuator>']
    with open(os.path.join(HERE, "inspire_like.xml"), "w", encoding="utf-8") as stream:
        stream.write('<mujoco model="inspire_like">\n  <compiler angle="radian" autolimits="true"/>\n  <default>\n'
                     '    <joint damping="0.02" armature="1e-5" frictionloss="0.002"/>\n'
                     '    <position kp="2" kv="0.02" forcerange="-1 1"/>\n'
                     '    <equality solref="0.005 1" solimp="0.99 0.999 0.001"/>\n  </default>\n')
        write_tree(stream, lines)
        stream.write("</mujoco>\n")


def write_inspire_urdf():
    lines = ['<link name="base">', '<inertial>', '<origin xyz="0 0 0.05"/>', '<mass value="0.3"/>',
             '<inertia ixx="3e-4" iyy="3e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/>', '</inertial>', '<collision>',
             '<origin xyz="0 0 0.045"/>', '<geometry><box size="0.08 0.024 0.07"/></geometry>', '</collision>', '</link>']
    for name, parent, at, axis, limits, length, law in INSPIRE:
        mass, z, across, along = inspire_inertia(length)
        lines += [f'<link name="{name}">', '<inertial>', f'<origin xyz="0 0 {z:g}"/>', f'<mass value="{mass:g}"/>',
                  f'<inertia ixx="{across:.6e}" iyy="{across:.6e}" izz="{along:.6e}" ixy="0" ixz="0" iyz="0"/>',
                  '</inertial>', '<collision>', f'<origin xyz="0 0 {length / 2:g}"/>',
                  f'<geometry><cylinder radius="0.006" length="{length:g}"/></geometry>', '</collision>', '</link>',
                  f'<joint name="{name}_joint" type="revolute">', f'<origin xyz="{at[0]:g} {at[1]:g} {at[2]:g}" rpy="0 0 0"/>',
                  f'<parent link="{parent}"/>', f'<child link="{name}"/>', f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>',
                  f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="1" velocity="0.5"/>',
                  '<dynamics damping="0.02" friction="0.002"/>']
        lines += [f'<mimic joint="{law[0]}_joint" multiplier="{law[1]}" offset="{law[2]}"/>'] if law else []
        lines += ['</joint>']
    with open(os.path.join(HERE, "inspire_like.urdf"), "w", encoding="utf-8") as stream:
        stream.write('<robot name="inspire_like">\n')
        write_tree(stream, lines)
        stream.write("</robot>\n")


ALLEGRO_HEAD = """<mujoco model="allegro_whole">
  <!-- All 16 joints of a hand like Allegro's, of our own making: no <inertial>, masses of visual meshes by their density,
       collision geoms without mass, meshes named by their files, attitudes not normalised, tips without joint. -->
  <compiler angle="radian" meshdir="assets" autolimits="true"/>
  <option cone="elliptic" impratio="10"/>
  <default>
    <default class="whole_hand">
      <joint axis="0 1 0" damping=".1"/>
      <position kp="1"/>
      <geom density="800"/>
      <default class="visual">
        <geom type="mesh" contype="0" conaffinity="0" group="2" material="black"/>
        <default class="base_visual">
          <geom mesh="tip"/>
        </default>
        <default class="proximal_visual">
          <geom mesh="long" pos="-0.01 -0.01 0.027"/>
        </default>
        <default class="medial_visual">
          <geom mesh="middle" pos="-0.01 -0.01 0.019"/>
        </default>
        <default class="distal_visual">
          <geom mesh="bracket" pos="-0.01 -0.01 0.008"/>
        </default>
        <default class="tip_visual">
          <geom mesh="tip" material="white" pos="0 0 0.008"/>
        </default>
        <default class="thumb_tip_visual">
          <geom mesh="tip" material="white" pos="0 0 0.025"/>
        </default>
      </default>
      <default class="collision">
        <geom group="3" type="box" mass="0"/>
        <default class="palm_collision">
          <geom size="0.02 0.054 0.046" pos="-0.009 0 -0.046"/>
        </default>
        <default class="base_collision">
          <geom size="0.0095 0.0135 0.008" pos="0 0 0.008"/>
          <default class="thumb_base_collision">
            <geom size="0.018 0.017 0.023" pos="-0.018 0.009 0.0145"/>
          </default>
        </default>
        <default class="proximal_collision">
          <geom size="0.0095 0.0135 0.0265" pos="0 0 0.0265"/>
          <default class="thumb_proximal_collision">
            <geom size="0.0095 0.0135 0.009" pos="0 0 0.009"/>
          </default>
        </default>
        <default class="medial_collision">
          <geom size="0.0095 0.0135 0.019" pos="0 0 0.019"/>
          <default class="thumb_medial_collision">
            <geom size="0.0095 0.0135 0.0255" pos="0 0 0.0255"/>
          </default>
        </default>
        <default class="distal_collision">
          <geom size="0.0095 0.0135 0.008" pos="0 0 0.008"/>
          <default class="thumb_distal_collision">
            <geom size="0.0095 0.0135 0.0155" pos="0 0 0.0155"/>
          </default>
        </default>
        <default class="tip_collision">
          <geom type="capsule" size="0.012 0.01" pos="0 0 0.019"/>
          <default class="thumb_tip_collision">
            <geom size="0.012 0.008" pos="0 0 0.035"/>
          </default>
        </default>
      </default>
"""

# Classes of joints and their actuators: axis where it is not that of the hand, and range [rad].
ALLEGRO_JOINTS = {
    "base": ("0 0 1", -0.47, 0.47), "proximal": ("", -0.196, 1.61), "medial": ("", -0.174, 1.709),
    "distal": ("", -0.227, 1.618), "thumb_base": ("-1 0 0", 0.263, 1.396), "thumb_proximal": ("0 0 1", -0.105, 1.163),
    "thumb_medial": ("", -0.189, 1.644), "thumb_distal": ("", -0.162, 1.719)}
ALLEGRO_LINKS = ("base", "proximal", "medial", "distal")


def allegro_finger(name, places, thumb):
    """Four links of a finger and its tip, each at its place in the one before, and the actuators of its joints."""
    lines, actuators, prefix = [], [], "thumb_" if thumb else ""
    for k, (link, place) in enumerate(zip(ALLEGRO_LINKS, places)):
        lines += [f'<body name="{name}_{link}" {place}>', f'<joint name="{name}j{k}" class="{prefix}{link}"/>',
                  '<geom class="visual" mesh="bracket"/>' if thumb else f'<geom class="{link}_visual"/>',
                  f'<geom class="{prefix}{link}_collision"/>']
        actuators.append(f'<position name="{name}a{k}" joint="{name}j{k}" class="{prefix}{link}"/>')
    lines += [f'<body name="{name}_tip">', f'<geom class="{prefix}tip_visual"/>', f'<geom class="{prefix}tip_collision"/>',
              *["</body>"] * 5]
    return lines, actuators


def write_allegro():
    joints = []
    for name, (axis, lower, upper) in ALLEGRO_JOINTS.items():
        joints += [f'<default class="{name}">', f'<joint {f"""axis="{axis}" """ if axis else ""}range="{lower} {upper}"/>',
                   f'<position ctrlrange="{lower} {upper}"/>', '</default>']
    along = ('pos="0 0 0.0165"', 'pos="0 0 0.053"', 'pos="0 0 0.038"')
    fingers = [("ff", ('pos="0 0.044 -0.0015" quat="0.999 -0.0437 0 0"', *along), False), ("mf", ('pos="0 0 0.0007"', *along), False),
               ("rf", ('pos="0 -0.044 -0.0015" quat="0.999 0.0437 0 0"', *along), False),
               ("th", ('pos="-0.018 0.019 -0.046" quat="0.48 -0.52 -0.52 -0.48"', 'pos="-0.027 0.005 0.04"', 'pos="0 0 0.018"',
                       'pos="0 0 0.051"'), True)]
    lines, actuators = ['<body name="palm" quat="0 1 0 1" childclass="whole_hand">', '<geom class="visual" mesh="hollow" pos="-0.009 0 -0.094"/>',
                        '<geom class="palm_collision"/>'], []
    for finger in fingers:
        links, drives = allegro_finger(*finger)
        lines += links
        actuators += drives
    excludes = [f'<exclude body1="palm" body2="{name}"/>' for name in ("ff_base", "mf_base", "rf_base", "th_base", "th_proximal")]
    with open(os.path.join(HERE, "allegro_whole.xml"), "w", encoding="utf-8") as stream:
        stream.write(ALLEGRO_HEAD)
        write_tree(stream, joints, 3)
        write_tree(stream, ['</default>', '</default>'], 3)
        write_tree(stream, [
            '<asset>', '<material name="black" rgba="0.2 0.2 0.2 1"/>', '<material name="white" rgba="0.9 0.9 0.9 1"/>',
            '<mesh file="bracket.obj"/>', '<mesh file="tip.obj"/>', '<mesh name="long" file="bracket.obj" scale="1 1 3"/>',
            '<mesh name="middle" file="bracket.obj" scale="1 1 2"/>', '<mesh name="hollow" file="open.obj" scale="4 6 4"/>', '</asset>',
            '<worldbody>', *lines, '</body>', '</worldbody>', '<contact>', *excludes, '</contact>', '<actuator>', *actuators,
            '</actuator>'])
        stream.write("</mujoco>\n")


if __name__ == "__main__":
    write_meshes()
    write_shadow("shadow_like.xml", False)
    write_shadow("shadow_tendons.xml", True)
    write_inspire_mjcf()
    write_inspire_urdf()
    write_allegro()
