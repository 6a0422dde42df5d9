"""The rows that a run of the benchmarks makes: a table as it goes, then JSON and a picture."""
import json
from xml.sax.saxutils import escape


class Report:
    def __init__(self):
        self.rows = []

    def section(self, title):
        print(f"\n{title}", flush=True)

    def row(self, section, what, value, bar="", **figures):
        """`figures`: numbers of the row for JSON; the one named ratio (a peer's time over ours) is drawn."""
        self.rows.append({"section": section, "name": what, "value": value, "bar": bar, **figures})
        print(f"{what:58s} {value:>44s}   {bar}", flush=True)

    def write_json(self, path):
        with open(path, "w") as f:
            json.dump(self.rows, f, indent=1)
            f.write("\n")

    def write_svg(self, path):
        """A bar for each row with a ratio, on a scale where 1 is as fast as the peer."""
        rows = [r for r in self.rows if r.get("ratio")]
        scale, left, step = 150, 430, 18
        widest = max([min(r["ratio"], 4) for r in rows] + [1])
        width, height = left + scale * widest + 80, step * (len(rows) + 2)
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-family="sans-serif" font-size="11">',
               f'<text x="{left}" y="12">the peer\'s time over ours: right of the line we are faster</text>']
        for i, r in enumerate(rows):
            y, length = step * (i + 1), scale * min(r["ratio"], 4)
            colour = "#3a7" if r["ratio"] >= 1 else "#c63"
            out.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{escape(r["name"])}</text>'
                       f'<rect x="{left}" y="{y + 2}" width="{length:.1f}" height="{step - 5}" fill="{colour}"/>'
                       f'<text x="{left + length + 4:.1f}" y="{y + 12}">{r["ratio"]:.2f}</text>')
        out.append(f'<line x1="{left + scale}" y1="{step}" x2="{left + scale}" y2="{height - step}" stroke="#000"/></svg>')
        with open(path, "w") as f:
            f.write("\n".join(out) + "\n")
