"""Where tests find mallab: in the build, or where other users cannot read that in a copy."""
import atexit
import os
import pathlib
import shutil
import stat
import tempfile


def installed(built, source):
    """The build where every user can read it: itself, or of root's below a directory that lets nobody pass (a clone in a home of mode
    0700) a copy of its programs, since tests run programs as other users, and mallab tells root that those cannot read its library."""
    if os.geteuid() != 0 or all(parent.stat().st_mode & stat.S_IXOTH for parent in (built / "mallab").resolve().parents):
        return built
    place = pathlib.Path(tempfile.mkdtemp(prefix="mallab-build-", dir="/tmp"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    place.chmod(0o755)
    for folder in (".", "tests/e2e", "tests/shim"):
        (place / folder).mkdir(parents=True, exist_ok=True)
        for part in (built / folder).iterdir():
            if part.is_file() and (part.name.startswith(("mallab", "libmallab")) or folder != "."):
                shutil.copy(part, place / folder)
    shutil.copytree(source / "allocators", place / "mallab-source" / "allocators")
    return place
