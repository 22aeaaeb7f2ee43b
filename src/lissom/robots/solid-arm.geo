// A robot link as it is machined: hub, tapered arm with a through pocket, ring at the tip. Metres; the joint axes are z.
SetFactory("OpenCASCADE");
length = 0.35;                                       // between the joint axes
Cylinder(1) = {0, 0, -0.025, 0, 0, 0.05, 0.045};     // hub: 90 mm across, 50 mm high
Cylinder(2) = {length, 0, -0.018, 0, 0, 0.036, 0.032};  // ring: 64 mm across, 36 mm high
Point(101) = {0, -0.034, -0.014}; Point(102) = {length, -0.022, -0.014};
Point(103) = {length, 0.022, -0.014}; Point(104) = {0, 0.034, -0.014};
Line(101) = {101, 102}; Line(102) = {102, 103}; Line(103) = {103, 104}; Line(104) = {104, 101};
Curve Loop(101) = {101, 102, 103, 104}; Plane Surface(101) = {101};
arm() = Extrude {0, 0, 0.028} { Surface{101}; };     // the arm: 28 mm high, tapered from 68 to 44 mm
BooleanUnion(10) = { Volume{1}; Delete; }{ Volume{2, arm[1]}; Delete; };
Cylinder(11) = {0, 0, -0.05, 0, 0, 0.1, 0.026};      // bores
Cylinder(12) = {length, 0, -0.05, 0, 0, 0.1, 0.017};
Cylinder(13) = {0.095, 0, -0.05, 0, 0, 0.1, 0.019};  // pocket: two holes and what lies between them
Cylinder(14) = {0.27, 0, -0.05, 0, 0, 0.1, 0.013};
Point(111) = {0.095, -0.019, -0.05}; Point(112) = {0.27, -0.013, -0.05};
Point(113) = {0.27, 0.013, -0.05}; Point(114) = {0.095, 0.019, -0.05};
Line(111) = {111, 112}; Line(112) = {112, 113}; Line(113) = {113, 114}; Line(114) = {114, 111};
Curve Loop(111) = {111, 112, 113, 114}; Plane Surface(111) = {111};
gap() = Extrude {0, 0, 0.1} { Surface{111}; };
BooleanDifference(20) = { Volume{10}; Delete; }{ Volume{11, 12, 13, 14, gap[1]}; Delete; };
inner() = Surface In BoundingBox {-0.027, -0.027, -0.026, 0.027, 0.027, 0.026};
tip() = Surface In BoundingBox {length - 0.018, -0.018, -0.019, length + 0.018, 0.018, 0.019};
Physical Surface("inner") = inner();
Physical Surface("tip") = tip();
Physical Volume("link") = Volume{:};
Mesh.MeshSizeMax = 0.009;
Mesh.MeshSizeFromCurvature = 14;
