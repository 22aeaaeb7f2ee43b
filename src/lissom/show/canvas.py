"""All of matplotlib that pictures are drawn with: an extra, so that a small installation computes without it."""

NEEDED = "pictures are drawn by matplotlib: pip install 'lissom[plot]'"

try:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis as Axis
    from matplotlib.axis import Tick as Tick
    from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvasAgg
    from matplotlib.collections import LineCollection as LineCollection
    from matplotlib.colors import to_rgb as to_rgb
    from matplotlib.figure import Figure as Figure
    from matplotlib.figure import SubFigure as SubFigure
    from matplotlib.gridspec import SubplotSpec as SubplotSpec
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.patheffects import withStroke as withStroke
    from matplotlib.text import Text as Text
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection as Poly3DCollection
    from mpl_toolkits.mplot3d.axes3d import Axes3D as Axes3D
except ModuleNotFoundError as failure:
    raise ModuleNotFoundError(NEEDED, name=failure.name) from None
