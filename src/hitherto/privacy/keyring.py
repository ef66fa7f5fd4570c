"""One key for each user, kept apart from the data: destroying it forgets the user, in every backup as well.

A user's key is 256 random bits, wrapped (AES-256-GCM, bound to the user's digest) by a master key that the operator keeps
elsewhere. The wrapped keys lie in a folder of their own, one small file each, which is not part of the data folder or of
its backups; whoever has only the data, or only the keys, or both without the master key, has nothing. Back the folder up
separately, and keep those backups no longer than a forgotten user may take to disappear.
"""

import os
import secrets
from base64 import b64decode
from binascii import Error as NotBase64
from itertools import islice
from pathlib import Path
from typing import Final

from hitherto.errors import InvalidInput, KeyDestroyed, MissingExtra, StoreCorrupt
from hitherto.ids import USER_KEY
from hitherto.store.catalog import KEY_BYTES

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as error:
    raise MissingExtra("encryption needs an extra: pip install 'hitherto[encryption]'") from error

_NONCE_BYTES: Final = 12
CHECKED: Final = 3
"""How many keys are tried before a new one is made: a single file may be damaged."""


def master_key(text: str) -> bytes:
    """Parses a master key: 64 hexadecimal digits, or base64 of 32 bytes."""
    text = text.strip()
    try:
        key = bytes.fromhex(text) if len(text) == KEY_BYTES * 2 else b64decode(text, validate=True)
    except (ValueError, NotBase64) as error:
        raise InvalidInput("the master key is neither 64 hexadecimal digits nor base64") from error
    if len(key) != KEY_BYTES:
        raise InvalidInput(f"the master key has {len(key)} bytes, not {KEY_BYTES}; make one with: openssl rand -hex 32")
    return key


class Keyring:
    """The wrapped keys in a folder. Calling it returns a user's key by digest, as the stores ask for it."""

    def __init__(self, folder: str | Path, *, master: bytes) -> None:
        if len(master) != KEY_BYTES:
            raise InvalidInput(f"the master key has {len(master)} bytes, not {KEY_BYTES}")
        self.folder = Path(folder)
        self._master = AESGCM(master)
        self._is_checked = False

    def __call__(self, digest: str, *, create: bool = False) -> bytes:
        """The user's key. A new one is durable before it is used; without `create`, a missing one is KeyDestroyed."""
        try:
            wrapped = self._path(digest).read_bytes()
        except FileNotFoundError:
            if create:
                return self._make(digest)
            raise KeyDestroyed from None
        try:
            return self._master.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], USER_KEY + digest.encode())
        except (InvalidTag, ValueError) as error:
            raise StoreCorrupt(
                f"the key {digest[:12]}… cannot be unwrapped: the master key is another one, or the file is damaged"
            ) from error

    def destroy(self, digest: str) -> bool:
        """Overwrites and removes a user's key, with whatever an interrupted change left of it; returns False if there is
        none."""
        found = [path for path in self.folder.glob(f"{digest}.*") if self._overwrite(path)]
        if found:
            self._sync()
        return bool(found)

    def _overwrite(self, path: Path) -> bool:
        try:
            descriptor = os.open(path, os.O_WRONLY)
        except FileNotFoundError:
            return False
        try:
            os.write(descriptor, secrets.token_bytes(os.fstat(descriptor).st_size))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        path.unlink(missing_ok=True)
        return True

    def rewrap(self, master: bytes) -> int:
        """Wraps every key with a new master key, which this keyring uses from then on; returns how many there are.

        Each key is wrapped by the old or the new one at any moment; after an interruption, calling this again finishes the
        job.
        """
        paths = sorted(path for path in self.folder.iterdir() if path.suffix == ".key") if self.folder.is_dir() else []
        renewed = Keyring(self.folder, master=master)
        keys = {path.stem: self._under_either(renewed, path.stem) for path in paths}
        self._master = renewed._master
        for digest, key in keys.items():
            if key is not None:
                self._write(self._path(digest).with_suffix(".new"), digest, key).replace(self._path(digest))
        if paths:
            self._sync()
        return len(keys)

    def _under_either(self, renewed: "Keyring", digest: str) -> bytes | None:
        """A user's key; None if it is wrapped by the new master key already."""
        try:
            return self(digest)
        except StoreCorrupt:
            renewed(digest)
            return None

    def _make(self, digest: str) -> bytes:
        """If several processes make the same key, one wins and all use it. A key wrapped by another master key than the
        rest of the folder would lock everybody else out, so that is checked first."""
        self._check()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._path(digest).with_suffix(f".{secrets.token_hex(4)}")
        self._write(fresh, digest, secrets.token_bytes(KEY_BYTES))
        try:
            os.link(fresh, self._path(digest))
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        self._sync()
        return self(digest)

    def _check(self) -> None:
        """Raises unless one of the first few keys can be unwrapped, or there are none."""
        if self._is_checked or not self.folder.is_dir():
            return
        failed: StoreCorrupt | None = None
        with os.scandir(self.folder) as found:
            for name in islice((entry.name for entry in found if entry.name.endswith(".key")), CHECKED):
                try:
                    self(name.removesuffix(".key"))
                except KeyDestroyed:
                    continue
                except StoreCorrupt as error:
                    failed = error
                else:
                    failed = None
                    break
        if failed is not None:
            raise failed
        self._is_checked = True

    def _write(self, path: Path, digest: str, key: bytes) -> Path:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        wrapped = nonce + self._master.encrypt(nonce, key, USER_KEY + digest.encode())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, wrapped)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return path

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.key"

    def _sync(self) -> None:
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
