"""A torus as a STEP file, made here: arcs x arcs rational biquadratic faces that share edges and vertices."""
import math

PRODUCT = """#{0}=APPLICATION_CONTEXT('mechanical design');
#{1}=APPLICATION_PROTOCOL_DEFINITION('international standard','automotive_design',2000,#{0});
#{2}=PRODUCT_CONTEXT('',#{0},'mechanical');
#{3}=PRODUCT('torus','torus','',(#{2}));
#{4}=PRODUCT_DEFINITION_FORMATION('','',#{3});
#{5}=PRODUCT_DEFINITION_CONTEXT('part definition',#{0},'design');
#{6}=PRODUCT_DEFINITION('design','',#{4},#{5});
#{7}=PRODUCT_DEFINITION_SHAPE('','',#{6});
#{8}=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));
#{9}=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#{10}=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#{11}=UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-07),#{8},'distance_accuracy_value','');
#{12}=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#{11}))
GLOBAL_UNIT_ASSIGNED_CONTEXT((#{8},#{9},#{10}))REPRESENTATION_CONTEXT('',''));
#{13}=ADVANCED_BREP_SHAPE_REPRESENTATION('',(#SOLID),#{12});
#{14}=SHAPE_DEFINITION_REPRESENTATION(#{7},#{13});
"""


def number(x):
    return "%.17E" % x


class Step:
    """The instances of a file, each once."""

    def __init__(self):
        self.lines, self.known = [], {}

    def add(self, text):
        if text not in self.known:
            self.known[text] = len(self.lines) + 1
            self.lines.append(text)
        return "#%d" % self.known[text]

    def point(self, x):
        return self.add("CARTESIAN_POINT('',(%s))" % ",".join(map(number, x)))

    def edge(self, points, weights):
        """An edge by a rational curve, from the vertex at its first point to that at its last."""
        curve = self.add("(BOUNDED_CURVE()B_SPLINE_CURVE(2,(%s),.UNSPECIFIED.,.F.,.F.)B_SPLINE_CURVE_WITH_KNOTS((3,3),"
                         "(0.,1.),.UNSPECIFIED.)CURVE()GEOMETRIC_REPRESENTATION_ITEM()RATIONAL_B_SPLINE_CURVE((%s))"
                         "REPRESENTATION_ITEM(''))" % (",".join(map(self.point, points)), ",".join(map(number, weights))))
        ends = [self.add("VERTEX_POINT('',%s)" % self.point(points[i])) for i in (0, -1)]
        return self.add("EDGE_CURVE('',%s,%s,%s,.T.)" % (ends[0], ends[1], curve))

    def face(self, points, weights, edges, same, hole=None):
        """A face of a surface whose points are listed for each place along u, with those along v; hole: its edges."""
        rows = ",".join("(%s)" % ",".join(map(self.point, row)) for row in points)
        shares = ",".join("(%s)" % ",".join(map(number, row)) for row in weights)
        knots = "(3,3)" if len(points) == 3 else "(3,2,3)"
        values = "(0.,1.)" if len(points) == 3 else "(0.,1.,2.)"
        surface = self.add("(BOUNDED_SURFACE()B_SPLINE_SURFACE(2,2,(%s),.UNSPECIFIED.,.F.,.F.,.F.)"
                           "B_SPLINE_SURFACE_WITH_KNOTS(%s,(3,3),%s,(0.,1.),.UNSPECIFIED.)"
                           "GEOMETRIC_REPRESENTATION_ITEM()RATIONAL_B_SPLINE_SURFACE((%s))REPRESENTATION_ITEM('')SURFACE())"
                           % (rows, knots, values, shares))
        bounds = [self.add("FACE%sBOUND('',%s,.T.)" % (kind, self.add("EDGE_LOOP('',(%s))" % ",".join(
            self.add("ORIENTED_EDGE('',*,*,%s,.%s.)" % (edge, "T" if ahead else "F")) for edge, ahead in loop))))
            for kind, loop in (("_OUTER_", edges), ("_", hole)) if loop]
        return self.add("ADVANCED_FACE('',(%s),%s,.%s.)" % (",".join(bounds), surface, "T" if same else "F"))


def circle(arcs):
    """Control points and weights of a unit circle."""
    half = math.pi / arcs
    out = []
    for i in range(2 * arcs + 1):
        far, k = (1.0 / math.cos(half) if i % 2 else 1.0), i % (2 * arcs)
        out.append((far * math.cos(half * k), far * math.sin(half * k), math.cos(half) if i % 2 else 1.0))
    return out


def dent(step, ring, tube, arcs):
    """A hole in the middle of the first face of a torus, a quarter of it, and the face of a dent that closes it: the edges
    of the hole, and that face."""
    middle = math.pi / arcs
    far = 1.0 / math.cos(0.5 * middle)
    turns = [(1.0, 0.5 * middle, 1.0), (far, middle, 1.0 / far), (1.0, 1.5 * middle, 1.0)]  # radius, angle, weight

    def at(i, j, tube=tube):
        (u_far, u, _), (v_far, v, _) = turns[i], turns[j]
        r = ring + tube * v_far * math.cos(v)
        return (u_far * r * math.cos(u), u_far * r * math.sin(u), tube * v_far * math.sin(v))

    def side(places):
        return step.edge([at(i, j) for i, j in places], [turns[i][2] * turns[j][2] for i, j in places])

    low, high = (side([(i, j) for i in range(3)]) for j in (0, 2))
    near, far = (side([(i, j) for j in range(3)]) for i in (0, 2))
    points = [[at(i, j, 0.5 * tube if i == j == 1 else tube) for j in range(3)] for i in range(3)]
    weights = [[turns[i][2] * turns[j][2] for j in range(3)] for i in range(3)]
    face = step.face(points, weights, [(low, True), (far, True), (high, False), (near, False)], True)
    return [(near, True), (high, True), (far, False), (low, False)], face


def torus(ring, tube, arcs=3, trimmed=False, holed=False):
    """The text of a torus about z, lengths in mm; every second face has its u the other way and its sense reversed.
    trimmed: the first face is half of its surface; holed: it has a hole, which a dent closes."""
    step, c, n = Step(), circle(arcs), 2 * arcs
    inner, face = dent(step, ring, tube, arcs) if holed else (None, None)
    faces = [face] if holed else []

    def at(i, j):
        i, j = i % n, j % n
        r = ring + tube * c[j][0]
        return (r * c[i][0], r * c[i][1], tube * c[j][1])

    def side(places):
        return step.edge([at(i, j) for i, j in places], [c[i % n][2] * c[j % n][2] for i, j in places])

    for a in range(0, n, 2):
        for b in range(0, n, 2):
            turned = (a + b) // 2 % 2
            wide = 4 if trimmed and a == b == 0 else 2
            along = [a + (wide - i if turned else i) for i in range(wide + 1)]
            points = [[at(i, b + j) for j in range(3)] for i in along]
            weights = [[c[i % n][2] * c[b + j][2] for j in range(3)] for i in along]
            low, high = (side([(a + i, j) for i in range(3)]) for j in (b, b + 2))
            near, far = (side([(i, b + j) for j in range(3)]) for i in (a, a + 2))
            faces.append(step.face(points, weights, [(low, True), (far, True), (high, False), (near, False)],
                                   not turned, inner if a == b == 0 else None))
    return text_of_solid(step, faces)


def text_of_solid(step, faces):
    shell = step.add("CLOSED_SHELL('',(%s))" % ",".join(faces))
    solid = step.add("MANIFOLD_SOLID_BREP('',%s)" % shell)
    first = len(step.lines) + 1
    text = PRODUCT.format(*range(first, first + 15)).replace("#SOLID", solid)
    body = "".join("#%d=%s;\n" % (i + 1, line) for i, line in enumerate(step.lines))
    return ("ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','',(''),(''),'','','');\n"
            "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));\nENDSEC;\nDATA;\n"
            + body + text + "ENDSEC;\nEND-ISO-10303-21;\n")


def toroidal_surface(ring, tube):
    """The text of the same torus as one face of a TOROIDAL_SURFACE, which is bounded by a seam along each circle."""
    step = Step()

    def frame(x, y, z, normal):
        axes = [step.add("DIRECTION('',(%s))" % ",".join(map(number, v))) for v in (normal, (1, 0, 0))]
        return step.add("AXIS2_PLACEMENT_3D('',%s,%s,%s)" % (step.point((x, y, z)), *axes))

    middle = frame(0, 0, 0, (0, 0, 1))
    surface = step.add("TOROIDAL_SURFACE('',%s,%s,%s)" % (middle, number(ring), number(tube)))
    vertex = step.add("VERTEX_POINT('',%s)" % step.point((ring + tube, 0, 0)))
    edges = [step.add("EDGE_CURVE('',%s,%s,%s,.T.)" % (vertex, vertex, step.add("CIRCLE('',%s,%s)" % (at, number(r)))))
             for at, r in ((middle, ring + tube), (frame(ring, 0, 0, (0, -1, 0)), tube))]
    loop = step.add("EDGE_LOOP('',(%s))" % ",".join(
        step.add("ORIENTED_EDGE('',*,*,%s,.%s.)" % (edge, way)) for way in "TF" for edge in edges))
    bound = step.add("FACE_OUTER_BOUND('',%s,.T.)" % loop)
    return text_of_solid(step, [step.add("ADVANCED_FACE('',(%s),%s,.T.)" % (bound, surface))])


def closed_torus(ring, tube, arcs=4):
    """The text of the same torus as one face of a B-spline that closes on itself in both directions, with a seam along each."""
    step, c, n = Step(), circle(arcs), 2 * arcs

    def at(i, j):
        r = ring + tube * c[j][0]
        return (r * c[i][0], r * c[i][1], tube * c[j][1])

    def grid(of):
        return ",".join("(%s)" % ",".join(of(i, j) for j in range(n + 1)) for i in range(n + 1))

    times = "(%s)" % ",".join(["3"] + ["2"] * (arcs - 1) + ["3"])
    knots = "(%s)" % ",".join("%d." % i for i in range(arcs + 1))
    surface = step.add("(BOUNDED_SURFACE()B_SPLINE_SURFACE(2,2,(%s),.UNSPECIFIED.,.T.,.T.,.F.)"
                       "B_SPLINE_SURFACE_WITH_KNOTS(%s,%s,%s,%s,.UNSPECIFIED.)GEOMETRIC_REPRESENTATION_ITEM()"
                       "RATIONAL_B_SPLINE_SURFACE((%s))REPRESENTATION_ITEM('')SURFACE())"
                       % (grid(lambda i, j: step.point(at(i, j))), times, times, knots, knots,
                          grid(lambda i, j: number(c[i][2] * c[j][2]))))
    vertex, edges = step.add("VERTEX_POINT('',%s)" % step.point(at(0, 0))), []
    for places in ([(i, 0) for i in range(n + 1)], [(0, j) for j in range(n + 1)]):
        curve = step.add("(BOUNDED_CURVE()B_SPLINE_CURVE(2,(%s),.UNSPECIFIED.,.T.,.F.)B_SPLINE_CURVE_WITH_KNOTS(%s,"
                         "%s,.UNSPECIFIED.)CURVE()GEOMETRIC_REPRESENTATION_ITEM()RATIONAL_B_SPLINE_CURVE((%s))"
                         "REPRESENTATION_ITEM(''))" % (",".join(step.point(at(*p)) for p in places), times, knots,
                                                       ",".join(number(c[max(p)][2]) for p in places)))
        edges.append(step.add("EDGE_CURVE('',%s,%s,%s,.T.)" % (vertex, vertex, curve)))
    loop = step.add("EDGE_LOOP('',(%s))" % ",".join(
        step.add("ORIENTED_EDGE('',*,*,%s,.%s.)" % (edge, way)) for way in "TF" for edge in edges))
    bound = step.add("FACE_OUTER_BOUND('',%s,.T.)" % loop)
    return text_of_solid(step, [step.add("ADVANCED_FACE('',(%s),%s,.T.)" % (bound, surface))])
