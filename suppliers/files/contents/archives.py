"""Checks of a workbook, which is an archive: what it holds is unpacked within bounds, and looked at by name.

What an archive says about its sizes is not believed; it is counted. Source: ECMA-376 part 2 (OPC).
"""

import zipfile
import zlib
from typing import IO, Final

from suppliers.files.refusals import UnsupportedType

MOST_MEMBERS: Final = 2_000
MOST_UNPACKED: Final = 100 * 1_048_576

_PIECE = 65_536
_CONTENT_TYPES = "[Content_Types].xml"
_REQUIRED: Final = frozenset({_CONTENT_TYPES, "xl/workbook.xml"})
_NEVER: Final = (".zip", ".bin", ".exe", ".dll", ".js", ".vbs", ".html", ".svg")
_PRINTER_SETTINGS = "xl/printerSettings/"
_FAULTS = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, ValueError, OSError)


def check_workbook(file: IO[bytes]) -> None:
    """Refuse an archive that is no workbook, holds programs or archives, or grows beyond all measure.

    :raises UnsupportedType: as said.
    """
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            _check_names(archive)
            _check_growth(archive)
    except UnsupportedType:
        raise
    except _FAULTS as error:
        raise UnsupportedType(f"The archive cannot be read: {type(error).__name__}.") from None


def _check_names(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        raise UnsupportedType("The archive holds too many members, or one twice.")
    if not set(names) >= _REQUIRED:
        raise UnsupportedType("The archive is no workbook.")
    if any(member.flag_bits & 0x1 for member in members):
        raise UnsupportedType("The archive is encrypted, so nobody can look into it.")
    for name in names:
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
            raise UnsupportedType("The archive names a place outside itself.")
        if name.lower().endswith(_NEVER) and not name.startswith(_PRINTER_SETTINGS):
            raise UnsupportedType("The workbook holds a macro, a program or another archive.")


def _check_growth(archive: zipfile.ZipFile) -> None:
    unpacked = 0
    for member in archive.infolist():
        with archive.open(member) as source:
            while piece := source.read(_PIECE):
                unpacked += len(piece)
                if unpacked > MOST_UNPACKED:
                    raise UnsupportedType("The archive grows beyond all measure when it is unpacked.")
