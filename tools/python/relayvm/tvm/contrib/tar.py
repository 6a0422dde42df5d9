"""tvm.contrib.tar: archives."""
import os
import tarfile

from . import utils


def tar(output, files):
    """Packs files, by their last names, into an archive."""
    files = [files] if isinstance(files, str) else files
    names = [os.path.basename(file) for file in files]
    if len(set(names)) < len(names):
        raise ValueError(f"tar: two of the files have one name: {', '.join(names)}")
    with tarfile.open(output, "w") as archive:
        for file, name in zip(files, names):
            archive.add(file, name)


tar.output_format = "tar"


def untar(tar_file, directory):
    """Unpacks an archive into a folder."""
    with tarfile.open(tar_file) as archive:
        archive.extractall(directory, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def normalize_file_list_by_unpacking_tars(temp, file_list):
    """Paths of files, where archives are in the list those of what is in them. temp: a `TempDirectory` that it is unpacked to."""
    found = []
    for i, path in enumerate(file_list):
        if not str(path).endswith(".tar"):
            found.append(path)
            continue
        folder = temp.relpath(f"tar{i}")
        os.makedirs(folder)
        untar(path, folder)
        found += [os.path.join(root, name) for root, _, names in os.walk(folder) for name in sorted(names)]
    return found


__all__ = ["normalize_file_list_by_unpacking_tars", "tar", "untar", "utils"]
