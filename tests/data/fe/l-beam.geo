// Steel L-beam of [Vidoni2015], tests 1 and 2, as a solid: two rods 0.5 m long, 30 mm deep (z), 10 mm wide (in the plane
// of the L). Extruded layers keep the tetrahedra fine across the section, where the beam twists, and long along it.
DefineConstant[ along = {30, Name "Layers along each rod"}, wide = {2, Name "Across 10 mm"}, deep = {4, Name "Across 30 mm"} ];
Point(1) = {0, -0.005, -0.015}; Point(2) = {0, 0.005, -0.015}; Point(3) = {0, 0.005, 0.015}; Point(4) = {0, -0.005, 0.015};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Transfinite Curve {1, 3} = wide + 1; Transfinite Curve {2, 4} = deep + 1;
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Transfinite Surface {1};
rod1() = Extrude {0.495, 0, 0} { Surface{1}; Layers{along}; };
elbow() = Extrude {0.01, 0, 0} { Surface{rod1[0]}; Layers{wide}; };
rod2() = Extrude {0, 0.495, 0} { Surface{elbow[3]}; Layers{along}; };
Physical Surface("inner") = {1};
Physical Surface("tip") = {rod2[0]};
Physical Volume("beam") = {rod1[1], elbow[1], rod2[1]};
