"""Inertia of MuJoCo's bodies to rounding.

MuJoCo keeps a body's inertia as three moments and the attitude of their axes, and finds those for shapes and for
`fullinertia` by Jacobi rotations that end at an angle of about 1e-6 rad (mjuu_eig3, its sources): what was written
in the file, or follows from the triangles, is met to some 1e-8 only. Here it is computed again from MuJoCo's own
reading of the file, in extended precision, and set in its model, so that the dynamics can be compared to 1e-12.
"""
import os
import struct

import mujoco
import numpy

LONG = numpy.longdouble


def rotation(quat):
    matrix = numpy.zeros(9)
    mujoco.mju_quat2Mat(matrix, numpy.array(quat, dtype=float))
    return matrix.reshape(3, 3).astype(LONG)


def read_triangles(path):
    """Corners of an STL or OBJ file, in single precision as MuJoCo has them."""
    with open(path, "rb") as stream:
        data = stream.read()
    if path.lower().endswith(".obj"):
        points, corners = [], []
        for line in data.decode().splitlines():
            word = line.split()
            if word[:1] == ["v"]:
                points.append([float(x) for x in word[1:4]])
            elif word[:1] == ["f"]:
                face = [int(x.split("/")[0]) - 1 for x in word[1:]]
                corners += [[points[face[0]], points[face[k]], points[face[k + 1]]] for k in range(1, len(face) - 1)]
        return numpy.array(corners, dtype=numpy.float32).astype(LONG)
    count = struct.unpack("<I", data[80:84])[0]
    record = numpy.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    return numpy.frombuffer(data[84:], dtype=record, count=count)["v"].astype(LONG)


def parts_of(corners):
    """Area, unit normal and centre of triangles."""
    a, b, c = (corners[:, k] for k in range(3))
    cross = numpy.cross(b - a, c - a)
    twice = numpy.sqrt((cross * cross).sum(1))
    return twice / 2, cross / twice[:, None], (a + b + c) / 3


def mesh_mass(corners, legacy):
    """Volume, centre and inertia of unit density by MuJoCo's rules `legacy` or `exact`."""
    area, normal, middle = parts_of(corners)
    apex = (area[:, None] * middle).sum(0) / area.sum()

    def volumes(at):
        found = ((middle - at) * normal).sum(1) * area / 3
        return abs(found) if legacy else found
    part = volumes(apex)
    center = (part[:, None] * (middle * LONG(0.75) + apex * LONG(0.25))).sum(0) / part.sum()
    part = volumes(center)
    d = corners - center
    total = d.sum(1)
    products = sum(part[:, None, None] / 20 * x for x in
                   [total[:, :, None] * total[:, None, :], (d[:, :, :, None] * d[:, :, None, :]).sum(1)]).sum(0)
    return part.sum(), center, numpy.trace(products) * numpy.eye(3) - products


def primitive_mass(kind, size):
    pi, (r, h, _) = LONG(numpy.pi), size
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        volume, moments = 4 * pi / 3 * r**3, [0.4 * r * r] * 3
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        volume, moments = 2 * pi * r * r * h, [(3 * r * r + 4 * h * h) / 12] * 2 + [r * r / 2]
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        tube, caps = 2 * pi * r * r * h, 4 * pi / 3 * r**3
        across = tube * (r * r / 4 + h * h / 3) + caps * (LONG(2) / 5 * r * r + h * h + LONG(3) / 4 * r * h)
        volume = tube + caps
        moments = [across / volume] * 2 + [(tube * r * r / 2 + caps * LONG(2) / 5 * r * r) / volume]
    else:
        box = kind == mujoco.mjtGeom.mjGEOM_BOX
        squares, part = size**2, LONG(1) / (3 if box else 5)
        volume = (LONG(8) if box else 4 * pi / 3) * size.prod()
        moments = [part * (squares.sum() - s) for s in squares]
    return volume, numpy.zeros(3, LONG), numpy.diag(numpy.array(moments, LONG)) * volume


def geom_mass(model, spec_geom, number, folder, spec):
    """Mass, centre and inertia of a shape in its body's frame; None where it has no mass."""
    kind, mesh = model.geom_type[number], model.geom_dataid[number]
    turn, at = rotation(model.geom_quat[number]), model.geom_pos[number].astype(LONG)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        asset = spec.meshes[mesh]
        corners = read_triangles(os.path.join(folder, asset.file)) * numpy.array(asset.scale, dtype=LONG)
        legacy = asset.inertia == mujoco.mjtMeshInertia.mjMESH_INERTIA_LEGACY
        corners = corners[:, ::-1] if numpy.prod(asset.scale) < 0 else corners
        volume, center, inertia = mesh_mass(corners, legacy)
        turn = turn @ rotation(model.mesh_quat[mesh]).T
        at = at - turn @ model.mesh_pos[mesh].astype(LONG)
    else:
        volume, center, inertia = primitive_mass(kind, model.geom_size[number].astype(LONG))
    given = spec_geom.mass
    density = LONG(spec_geom.density) if numpy.isnan(given) else LONG(given) / volume
    if density == 0:
        return None
    return volume * density, at + turn @ center, turn @ inertia @ turn.T * density


def body_inertia(model, body, geoms, folder, spec):
    """Mass, centre and inertia about it of a body from its shapes."""
    parts = [geom_mass(model, geom, number, folder, spec) for number, geom in geoms
             if model.geom_bodyid[number] == body]
    parts = [part for part in parts if part]
    mass = sum(part[0] for part in parts)
    center = sum(part[0] * part[1] for part in parts) / mass
    inertia = sum(part[2] + part[0] * (numpy.dot(r, r) * numpy.eye(3) - numpy.outer(r, r))
                  for part in parts for r in [part[1] - center])
    return mass, center, inertia


def refine(spec, model, path, attitudes):
    """Sets the inertia of bodies that MuJoCo has to some 1e-8. attitudes: of the bodies' inertias as the file has
    them. Returns the largest relative change."""
    scaled = spec.compiler.settotalmass > 0
    folder = os.path.join(os.path.dirname(path), spec.compiler.meshdir if hasattr(spec.compiler, "meshdir") else spec.meshdir)
    geoms, worst = list(enumerate(spec.geoms)), 0.0
    for body in spec.bodies[1:]:
        full = numpy.array(body.fullinertia)
        i = body.id
        if body.explicitinertial and numpy.isnan(full[0]) or model.body_mass[i] == 0:
            continue
        if body.explicitinertial:
            inertia = numpy.array([[full[0], full[3], full[4]], [full[3], full[1], full[5]], [full[4], full[5], full[2]]])
            turn = rotation(attitudes[i])
            inertia = turn @ inertia.astype(LONG) @ turn.T
        else:
            mass, center, inertia = body_inertia(model, i, geoms, folder, spec)
            inertia = inertia * (LONG(model.body_mass[i]) / mass) if scaled else inertia
            model.body_ipos[i] = center
        turn = rotation(model.body_iquat[i])
        before = turn @ numpy.diag(model.body_inertia[i]).astype(LONG) @ turn.T
        worst = max(worst, float(abs(before - inertia).max() / abs(inertia).max()))
        moments, axes = numpy.linalg.eigh(inertia.astype(float))
        axes *= numpy.sign(numpy.linalg.det(axes))
        model.body_inertia[i] = moments
        quat = numpy.zeros(4)
        mujoco.mju_mat2Quat(quat, axes.flatten())
        model.body_iquat[i] = quat
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return worst
