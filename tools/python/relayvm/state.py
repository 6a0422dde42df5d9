"""Files of what a model keeps between calls, which vmrun --state reads and writes too."""
import os
import zipfile


def save(path, arrays):
    """An .npz of these arrays, by name. The file that was there stays until the new one is whole."""
    import numpy as np

    path = os.fspath(path)
    begun = f"{path}.{os.getpid()}.tmp"
    try:
        with zipfile.ZipFile(begun, "w") as file:
            for name, array in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
        os.replace(begun, path)
    finally:
        if os.path.exists(begun):
            os.remove(begun)


def load(path):
    """The arrays of an .npz, by name."""
    import numpy as np

    with np.load(os.fspath(path), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
