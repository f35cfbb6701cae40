"""Reads the frames of `taut`, whole (.vtp) or in pieces (.pvtp), without any of its code.

A strict reader of VTK's XML format with appended raw data compressed by zlib, as VTK's file format
description has it: https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html. `merged`
puts the pieces of a frame together by their numbers of points and cells.
"""
import os
import struct
import xml.etree.ElementTree
import zlib

TYPES = {"Float32": "f", "Float64": "d", "Int32": "i", "Int64": "q", "UInt8": "B", "UInt64": "Q"}
SECTIONS = ("PointData", "CellData", "Points", "Verts", "Lines", "Polys")
MARKER = b'<AppendedData encoding="raw">\n   _'


class Wrong(Exception):
    """The file is not what the format says."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def values_at(data, offset):
    """The bytes of an array: header of UInt64 numbers, then blocks."""
    blocks, size, last = struct.unpack_from("<3Q", data, offset)
    lengths = struct.unpack_from(f"<{blocks}Q", data, offset + 24)
    at, found = offset + 24 + 8 * blocks, b""
    for i, length in enumerate(lengths):
        block = zlib.decompress(data[at:at + length])
        expect(len(block) == (last if i + 1 == blocks and last else size), "a block has another size")
        found += block
        at += length
    return found


def read(path):
    """A .vtp file: counts, field data, and arrays by section and name as (type, components, tuples)."""
    with open(path, "rb") as file:
        content = file.read()
    begin = content.index(MARKER)
    end = content.rindex(b"\n  </AppendedData>")
    data = content[begin + len(MARKER):end]
    root = xml.etree.ElementTree.fromstring(content[:begin] + b"</VTKFile>")
    expect(root.get("type") == "PolyData" and root.get("compressor") == "vtkZLibDataCompressor" and
           root.get("header_type") == "UInt64" and root.get("byte_order") == "LittleEndian", path)
    piece = root.find("PolyData/Piece")
    counts = {name: int(piece.get("NumberOf" + name)) for name in ("Points", "Verts", "Lines", "Polys")}
    field = {array.get("Name"): array.text.split() for array in root.find("PolyData/FieldData")}
    arrays, attributes = {}, {}
    expect([section.tag for section in piece] == list(SECTIONS), f"{path}: sections")
    for section in piece:
        attributes[section.tag] = section.attrib
        for array in section:
            width, kind = int(array.get("NumberOfComponents")), array.get("type")
            raw = values_at(data, int(array.get("offset")))
            flat = struct.unpack(f"<{len(raw) // struct.calcsize(TYPES[kind])}{TYPES[kind]}", raw)
            tuples = [flat[i:i + width] for i in range(0, len(flat), width)]
            arrays[section.tag, array.get("Name")] = (kind, width, tuples)
    cells = counts["Verts"] + counts["Lines"] + counts["Polys"]
    for (section, name), (_, _, tuples) in arrays.items():
        expected = {"PointData": counts["Points"], "Points": counts["Points"],
                    "CellData": cells}.get(section)
        expect(expected is None or len(tuples) == expected, f"{path}: {section} {name}")
    return {"counts": counts, "field": field, "arrays": arrays, "attributes": attributes}


def cells_of(frame):
    """The points of each cell: verts, lines, polys."""
    found = []
    for section in ("Verts", "Lines", "Polys"):
        points = [value for value, in frame["arrays"][section, "connectivity"][2]]
        ends = [value for value, in frame["arrays"][section, "offsets"][2]]
        expect(len(ends) == frame["counts"][section], section)
        expect((ends[-1] if ends else 0) == len(points), section)
        found += [tuple(points[a:b]) for a, b in zip([0] + ends, ends)]
    return found


def pieces_of(path):
    """The paths of the pieces of a .pvtp file, whose lists of arrays must be those of each."""
    root = xml.etree.ElementTree.parse(path).getroot()
    expect(root.get("type") == "PPolyData", path)
    listed = root.find("PPolyData")
    expect(listed.get("GhostLevel") == "0", path)
    names = [piece.get("Source") for piece in listed.findall("Piece")]
    declared = {}
    for section in ("PointData", "CellData", "Points"):
        declared[section] = [(array.get("type"), array.get("Name"), int(array.get("NumberOfComponents")))
                             for array in listed.find("P" + section)]
    paths = [os.path.join(os.path.dirname(path), name) for name in names]
    for one in paths:
        frame = read(one)
        for section, arrays in declared.items():
            own = [(kind, name, width) for (where, name), (kind, width, _) in frame["arrays"].items()
                   if where == section]
            expect(own == arrays, f"{one}: {section} has {own}, the list {arrays}")
            expect(frame["attributes"][section] == listed.find("P" + section).attrib, f"{one}: {section}")
    return paths


def merged(path):
    """The whole frame of a .pvtp file, with everything that a .vtp file of it has; points that several
    pieces have must be equal, and every cell must be in one piece."""
    frames = [read(one) for one in pieces_of(path)]
    whole = dict(zip(("Points", "Verts", "Lines", "Polys"), map(int, frames[0]["field"]["whole_counts"])))
    cell_count = whole["Verts"] + whole["Lines"] + whole["Polys"]
    result = {"counts": whole, "field": {}, "arrays": {}, "cells": [None] * cell_count}
    owners = [0] * whole["Points"]
    for frame in frames:
        field = {name: values for name, values in frame["field"].items() if name != "whole_counts"}
        expect(result["field"] in ({}, field), "pieces have other field data")
        expect(frame["field"]["whole_counts"] == frames[0]["field"]["whole_counts"], "whole_counts")
        result["field"] = field
        points = [number for number, in frame["arrays"]["PointData", "GlobalPointIds"][2]]
        cells = [number for number, in frame["arrays"]["CellData", "GlobalCellIds"][2]]
        for point, (ghost,) in zip(points, frame["arrays"]["PointData", "vtkGhostType"][2]):
            owners[point] += ghost == 0
        for (section, name), (kind, width, tuples) in frame["arrays"].items():
            if section not in ("PointData", "CellData", "Points") or name.startswith("Global") or \
                    name == "vtkGhostType":
                continue
            numbers = cells if section == "CellData" else points
            count = cell_count if section == "CellData" else whole["Points"]
            into = result["arrays"].setdefault((section, name), (kind, width, [None] * count))
            expect(into[:2] == (kind, width), f"{section} {name}: other types")
            for number, value in zip(numbers, tuples):
                expect(into[2][number] in (None, value), f"{section} {name} {number}: {value}, not "
                                                         f"{into[2][number]}")
                into[2][number] = value
        for number, cell in zip(cells, cells_of(frame)):
            expect(result["cells"][number] is None, f"cell {number} is in two pieces")
            result["cells"][number] = tuple(points[point] for point in cell)
    expect(owners == [1] * whole["Points"], "points with no owner, or with several")
    return result


def differences(whole_path, list_path):
    """What differs between a frame of one process and one of several ranks; None: nothing."""
    one, several = read(whole_path), merged(list_path)
    if one["counts"] != several["counts"] or one["field"] != several["field"]:
        return f"counts or field data: {several['counts']} {several['field']}"
    if cells_of(one) != several["cells"]:
        return "cells"
    for key, (kind, width, tuples) in one["arrays"].items():
        if key[0] not in ("PointData", "CellData", "Points"):
            continue
        found = several["arrays"].pop(key, None)
        if found is None or found[:2] != (kind, width):
            return f"{key}: {found and found[:2]}"
        # As bytes: equal numbers might differ in the sign of zero.
        flat = [[value for one_tuple in some for value in (one_tuple or (0,) * width)]
                for some in (tuples, found[2])]
        packed = [struct.pack(f"<{len(some)}{TYPES[kind]}", *some) for some in flat]
        if packed[0] != packed[1]:
            return f"{key}: values"
    return f"more arrays: {several['arrays'].keys()}" if several["arrays"] else None
