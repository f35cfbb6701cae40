"""Reads .vtp files, also in pieces (.pvtp), or the frames of a .pvd, with VTK's own reader and prints their contents.

Usage: read_vtp.py FILE.vtp | FILE.pvtp | FILE.pvd
Exit: 0 read, 1 not sound, 2 wrong usage, 77 no VTK for Python here.
"""

import os
import sys
import xml.etree.ElementTree

try:
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPPolyDataReader
except ImportError as error:
    print(f"no python3-vtk9: {error}")
    sys.exit(77)

complaints = []


def read(path):
    reader = vtkXMLPPolyDataReader() if path.endswith(".pvtp") else vtkXMLPolyDataReader()
    if not reader.CanReadFile(path):
        sys.exit(f"{path}: VTK does not take this for a .vtp file")
    reader.AddObserver("ErrorEvent", lambda *event: complaints.append(path))
    reader.AddObserver("WarningEvent", lambda *event: complaints.append(path))
    reader.SetFileName(path)
    reader.Update()
    if complaints:
        sys.exit(f"{path}: VTK complained while reading")
    return reader.GetOutput()


def number(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def print_array(label, array):
    count, width = array.GetNumberOfTuples(), array.GetNumberOfComponents()
    values = [number(array.GetComponent(i, c)) for i in range(count) for c in range(width)]
    print(f"{label} {array.GetDataTypeAsString()} {count}x{width}: {' '.join(values)}")


def print_cells(label, cells):
    offsets = cells.GetOffsetsArray()
    ends = [offsets.GetComponent(i, 0) for i in range(offsets.GetNumberOfTuples())]
    points = cells.GetConnectivityArray()
    corners = [int(points.GetComponent(i, 0)) for i in range(points.GetNumberOfTuples())]
    text = " ".join("-".join(map(str, corners[int(a):int(b)])) for a, b in zip(ends, ends[1:]))
    print(f"{label} {cells.GetNumberOfCells()}: {text}")


def print_frame(data):
    print_array("points", data.GetPoints().GetData())
    print_cells("verts", data.GetVerts())
    print_cells("lines", data.GetLines())
    print_cells("strips", data.GetStrips())
    print_cells("polys", data.GetPolys())
    for kind, arrays in (("point", data.GetPointData()), ("cell", data.GetCellData())):
        for i in range(arrays.GetNumberOfArrays()):
            if arrays.GetArrayName(i) == "TextureCoordinates":
                continue  # printed below, with the meaning that VTK gives them
            print_array(f"{kind} {arrays.GetArrayName(i)}", arrays.GetArray(i))
    texture = data.GetPointData().GetTCoords()
    if texture:
        print_array(f"texture {texture.GetName()}", texture)
    else:
        print("texture none")
    field = data.GetFieldData()
    print_array("time", field.GetAbstractArray("TimeValue"))
    names = field.GetAbstractArray("body_names")
    print("names", *[names.GetValue(i) for i in range(names.GetNumberOfValues())])
    springs = field.GetAbstractArray("body_springs")
    print("body_springs", *[springs.GetValue(i) for i in range(springs.GetNumberOfValues())])


def main(path):
    if not path.endswith(".pvd"):
        print_frame(read(path))
        return
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"{path}: {error}")
    if root.get("type") != "Collection":
        sys.exit(f"{path}: not a collection")
    for entry in root.iter("DataSet"):
        data = read(os.path.join(os.path.dirname(path), entry.get("file")))
        time = data.GetFieldData().GetAbstractArray("TimeValue").GetComponent(0, 0)
        print(f"{entry.get('timestep')} {entry.get('file')}: time {number(time)}, "
              f"{data.GetNumberOfPoints()} points, {data.GetNumberOfCells()} cells")


if len(sys.argv) != 2:
    print(__doc__.strip(), file=sys.stderr)
    sys.exit(2)
main(sys.argv[1])
