#!/usr/bin/env python3
"""The moving picture of the README: data and a free orbit of their model, each drawn as it goes, as an animated SVG.

    attractor simulate lorenz63 --steps 30000 --standardize --seed 1 --out l.csv
    attractor train l.csv --out run --preset robust
    attractor generate run --steps 3000 --data l.csv --out orbit.csv
    python3 tools/picture.py l.csv orbit.csv docs/pictures/lorenz63.svg
"""

import csv
import sys

FIRST, LAST, EVERY, SECONDS = 300, 2900, 2, 24
SIZE = 300
PANELS = [("data: Lorenz-63", "#3b6ea8"), ("model, running freely", "#b8562b")]


def read(path):
    """The columns x and z of a table, thinned."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))[FIRST:LAST:EVERY]
    names = {name.split(" ")[0]: name for name in rows[0]}
    return [(float(row[names["x"]]), float(row[names["z"]])) for row in rows]


def line(points, bounds):
    """Points as the `d` of a path, in tenths of a pixel."""
    (left, right), (low, high) = bounds
    place = lambda x, z: (20 + (SIZE - 40) * (x - left) / (right - left), 20 + (SIZE - 40) * (high - z) / (high - low))
    places = [tuple(round(10 * v) for v in place(*point)) for point in points]
    steps = [f"{b[0] - a[0]} {b[1] - a[1]}" for a, b in zip(places, places[1:])]
    return f"M{places[0][0]} {places[0][1]}l" + " ".join(steps)


def panel(i, points, bounds):
    """One attractor: the whole orbit faintly, and over it the stroke that is drawn."""
    title, colour = PANELS[i]
    d = line(points, bounds)
    draw = f'<animate attributeName="stroke-dashoffset" from="1000" to="0" dur="{SECONDS}s" repeatCount="indefinite"/>'
    mark = f'<animateMotion dur="{SECONDS}s" repeatCount="indefinite" calcMode="linear" path="{d}"/>'
    return f"""<g transform="translate({i * SIZE} 24)"><text x="{SIZE // 2}" y="0" text-anchor="middle">{title}</text>
<g transform="scale(.1)" fill="none" stroke="{colour}" stroke-linejoin="round">
<path d="{d}" stroke-width="5" opacity=".25"/>
<path d="{d}" stroke-width="9" pathLength="1000" stroke-dasharray="1000">{draw}</path>
<circle r="40" fill="{colour}" stroke="none">{mark}</circle></g></g>"""


def main():
    data, orbit = read(sys.argv[1]), read(sys.argv[2])
    both = data + orbit
    bounds = [(min(p[i] for p in both), max(p[i] for p in both)) for i in (0, 1)]
    panels = "\n".join(panel(i, points, bounds) for i, points in enumerate([data, orbit]))
    style = "text{font:15px sans-serif;fill:#555}@media(prefers-color-scheme:dark){text{fill:#bbb}}"
    with open(sys.argv[3], "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * SIZE} {SIZE + 30}" width="{2 * SIZE}">\n')
        file.write(f"<title>A chaotic system and its model</title><style>{style}</style>\n{panels}\n</svg>\n")


if __name__ == "__main__":
    main()
