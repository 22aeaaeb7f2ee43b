"""From URDF to a flexible robot: read rigid links, then make one of them flexible.

    f = sqrt(3 E I / (L^3 (m + 33/140 m_beam))) / (2 pi)         4.84 Hz, Rayleigh's estimate

m is the mass at the end of the beam.
"""

import tempfile
from pathlib import Path

import numpy as np

import lissom as ls

URDF = """
<robot name="boom">
  <link name="ground"/>
  <link name="boom">
    <inertial><origin xyz="0.4 0 0"/><mass value="0.6"/><inertia ixx="1e-4" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="head">
    <inertial><mass value="2.0"/><inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="turn" type="revolute">
    <parent link="ground"/><child link="boom"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="40" velocity="3"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="boom"/><child link="head"/><origin xyz="0.8 0 0"/></joint>
</robot>
"""  # noqa: E501
file = Path(tempfile.mkdtemp()) / "boom.urdf"
file.write_text(URDF)
rigid = ls.Robot.load(file)

D = 0.020  # outer diameter [m]
d = 0.016  # inner diameter [m]
flexible = rigid.replace(
    {
        "links.boom.rigid": None,
        "links.boom.beam": {
            "section": {"shape": "tube", "outer": D, "inner": d},
            "material": "aluminium",
            "elements": 2,
        },
    }
)
model = ls.Model(flexible)
modes = ls.modes(model, model.at([0.3]), locked=True, count=1)
frequency = modes.frequency_hz[0]

L = 0.8
E = 7.0e10
rho = 2700.0
I = np.pi * (D**4 - d**4) / 64
beam_mass = rho * np.pi * (D**2 - d**2) / 4 * L
head_mass = 2.0
mass = head_mass + 33 / 140 * beam_mass
estimate = np.sqrt(3 * E * I / (L**3 * mass)) / (2 * np.pi)
print(f"first frequency {frequency:.3f} Hz, estimate {estimate:.3f} Hz")
assert abs(frequency / estimate - 1) < 0.01
