"""A URDF robot: every kind of joint that is read, tilted frames, limits and friction; and a branch beside it."""

LINK = """
  <link name="{name}"><inertial><origin xyz="0.1 0.02 -0.03" rpy="0.3 -0.4 0.5"/><mass value="{mass}"/>
    <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial>
    <visual><geometry><mesh filename="package://nowhere/{name}.stl"/></geometry></visual></link>"""
JOINT = """
  <joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{xyz}" rpy="{rpy}"/>{more}</joint>"""
MORE = """<axis xyz="0 1 0"/><limit lower="-1.5" upper="2.5" effort="40" velocity="3"/>
    <dynamics damping="0.7" friction="0.2"/>"""


def joint(name, type, parent, child, xyz, rpy="0 0 0", more=""):
    return JOINT.format(
        name=name, type=type, parent=parent, child=child, xyz=xyz, rpy=rpy, more=more
    )


BODY = (
    '<link name="base"/>'
    + LINK.format(name="shoulder", mass=2.5)
    + LINK.format(name="fore.arm", mass=1.5)
    + '<link name="slide"/><link name="flange"/>'
    + joint("j1", "revolute", "base", "shoulder", "0 0 0.3", "0.1 0.2 0.3", MORE)
    + joint(
        "j2",
        "continuous",
        "shoulder",
        "fore.arm",
        "0.4 0.1 0",
        "0 0 -0.7",
        '<limit effort="9" velocity="1"/>',
    )
    + joint(
        "j3",
        "prismatic",
        "fore.arm",
        "slide",
        "0 0 0.25",
        more='<axis xyz="0 0 1"/><limit upper="0.2"/>',
    )
    + joint("j4", "fixed", "slide", "flange", "0 0.05 0")
)
BRANCH = '<link name="camera"/>' + joint("j5", "fixed", "shoulder", "camera", "0 0 1")


def urdf_text(body):
    """A whole file."""
    return f'<?xml version="1.0"?><robot name="arm">{body}</robot>'
